"""Models of local folders, with adapters on them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.errors import OtherBaseError, UnusableModelError
from training.model.sequences import Model, TokenizerLike
from training.recipes import LoraRecipe

OLD = "old"
"""The adapter that the policy is compared with, frozen."""
_BASE_FILE = "base.json"


def device() -> torch.device:
    """An NVIDIA GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def number_type() -> torch.dtype:
    """bfloat16 only where the device computes in it."""
    has_bfloat16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    return torch.bfloat16 if has_bfloat16 else torch.float32


def load_tokenizer(folder: Path) -> TokenizerLike:
    """The tokenizer in a base model's folder.

    Raises:
        UnusableModelError: There is none.
    """
    _is_local(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    return tokenizer


def load_base(folder: Path) -> Model:
    """The model of a folder.

    Raises:
        UnusableModelError: There is none.
    """
    _is_local(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(
        folder, local_files_only=True, dtype=number_type()
    )
    return model.to(device())


def load_for_training(
    base: Path, lora: LoraRecipe, adapter: Path | None, *, seed: int, old: bool = False
) -> Model:
    """The base with a new adapter, or with a copy of `adapter` to go on from.

    With `old` a frozen copy of what it goes on from is there under the name `OLD`; with a new
    adapter the old model is the base with its adapter off.

    Raises:
        OtherBaseError: `adapter` was trained on another base.
        UnusableModelError: There is no model.
    """
    model = load_base(base)
    if adapter is None:
        torch.manual_seed(seed)
        return get_peft_model(
            model,
            LoraConfig(
                r=lora.rank,
                lora_alpha=lora.alpha,
                lora_dropout=lora.dropout,
                target_modules="all-linear",
                task_type="CAUSAL_LM",
                base_model_name_or_path=str(base),
            ),
        )
    refuse_other_base(adapter, base)
    trained = PeftModel.from_pretrained(model, adapter, is_trainable=True)
    if old:
        trained.load_adapter(adapter, OLD, is_trainable=False)
        trained.set_adapter("default")
    return trained


def load_with_adapter(base: Path, adapter: Path | None) -> Model:
    """For answering, not for training.

    Raises:
        OtherBaseError: The adapter was trained on another base.
        UnusableModelError: There is no model.
    """
    model = load_base(base)
    if adapter is not None:
        refuse_other_base(adapter, base)
        model = PeftModel.from_pretrained(model, adapter)
    return model.eval()


def save_adapter(model: Model, folder: Path, base: Path) -> None:
    """Write the trained adapter and what it was trained on into an existing folder."""
    model.save_pretrained(folder, selected_adapters=["default"])
    origin = {"base": str(base), "hash": base_hash(base)}
    folder.joinpath(_BASE_FILE).write_text(json.dumps(origin, indent=1), encoding="utf-8")


def base_hash(folder: Path) -> str:
    """SHA-256 of a model's files, by which an adapter knows the base it fits.

    Raises:
        UnusableModelError: There is no model.
    """
    _is_local(folder)
    digest = hashlib.sha256()
    for path in sorted([folder / "config.json", *folder.glob("*.safetensors")]):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()


def refuse_other_base(adapter: Path, base: Path) -> None:
    """Raise where an adapter is none of ours or does not fit.

    Raises:
        OtherBaseError: It was trained on another base.
        UnusableModelError: There is no adapter, or it does not say what it was trained on.
    """
    path = adapter / _BASE_FILE
    if not path.is_file():
        raise UnusableModelError(f"{adapter} holds no adapter that says on what it was trained")
    origin = json.loads(path.read_text(encoding="utf-8"))
    if origin["hash"] != base_hash(base):
        raise OtherBaseError(
            f"the adapter in {adapter} was trained on {origin['base']} and does not fit {base}:"
            " name that model, or train a new adapter"
        )


def _is_local(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise UnusableModelError(
            f"expected the folder of a model with its config.json at {folder}; nothing is fetched"
        )
