"""What TRL trains: silent, local, resumable in mid-epoch."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl import DPOConfig, DPOTrainer, RLOOConfig, RLOOTrainer, SFTConfig, SFTTrainer

from training.errors import disk_watched, memory_watched
from training.model.loading import device, number_type
from training.model.sequences import Model, TokenizerLike
from training.preferences import Pair
from training.recipes import DpoRecipe, RlooRecipe
from training.world import Scorer, World

_WHOLE = "whole"
"""In a checkpoint whose writing came to its end; the trainer writes file after file."""
_PREFIX = "checkpoint-"

OnTrlStep = Callable[[int, int], None]
"""Steps done and steps in all."""


class _Keeping(TrainerCallback):
    """Marks what was written whole, and tells of each step."""

    def __init__(self, on_step: OnTrlStep | None) -> None:
        self._on_step = on_step

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Once the trainer has written all files."""
        written = Path(args.output_dir) / f"{_PREFIX}{state.global_step}"
        written.joinpath(_WHOLE).touch()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """After each step of the optimiser."""
        if self._on_step:
            self._on_step(state.global_step, state.max_steps)


def train_dpo(
    model: Model,
    tokenizer: TokenizerLike,
    pairs: Sequence[Pair],
    recipe: DpoRecipe,
    *,
    seed: int,
    folder: Path,
    on_step: OnTrlStep | None = None,
) -> None:
    """One epoch over pairs, from the last whole checkpoint in `folder`; the model is left trained.

    It is compared with itself as it is at the start.

    Raises:
        DiskFullError: A checkpoint does not fit.
        OutOfMemoryError: A step does not fit.
    """
    weights = {"sigmoid": 1.0} | ({"sft": recipe.sft_weight} if recipe.sft_weight else {})
    config = DPOConfig(
        **_shared(folder, recipe.batch, recipe.learning_rate, seed, recipe.save_every),
        beta=recipe.beta,
        loss_type=list(weights),
        loss_weights=list(weights.values()),
        max_length=recipe.most_tokens,
        disable_dropout=False,
    )
    rows = [
        {"prompt": prompt, "chosen": f" {chosen}", "rejected": f" {rejected}"}
        for prompt, chosen, rejected in pairs
    ]
    _run(
        lambda: DPOTrainer(
            model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
        ),
        folder,
        recipe.batch,
        on_step,
    )


def train_sft(
    model: Model,
    tokenizer: TokenizerLike,
    examples: Sequence[dict[str, Any]],
    *,
    batch: int,
    learning_rate: float,
    epochs: int,
    most_tokens: int,
    save_every: int,
    seed: int,
    folder: Path,
) -> None:
    """Learn completions of prompts, from the last whole checkpoint in `folder`.

    Raises:
        DiskFullError: A checkpoint does not fit.
        OutOfMemoryError: A step does not fit.
    """
    shared = _shared(folder, batch, learning_rate, seed, save_every) | {"num_train_epochs": epochs}
    config = SFTConfig(**shared, max_length=most_tokens, completion_only_loss=True)
    _run(
        lambda: SFTTrainer(
            model,
            args=config,
            train_dataset=Dataset.from_list(list(examples)),
            processing_class=tokenizer,
        ),
        folder,
        batch,
    )


def train_rloo(
    model: Model,
    tokenizer: TokenizerLike,
    world: World,
    scorer: Scorer,
    recipe: RlooRecipe,
    *,
    seed: int,
    folder: Path,
) -> None:
    """One epoch over a world's queries with the other answers as the baseline.

    Raises:
        OutOfMemoryError: A step does not fit.
    """
    by_prompt = {world.prompt(query): query for query in world.train}

    def rewards(prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:  # noqa: ANN401
        return scorer.scores([by_prompt[p] for p in prompts], [c.strip() for c in completions])

    config = RLOOConfig(
        **_shared(folder, recipe.batch * recipe.answers, recipe.learning_rate, seed, 1_000_000),
        num_generations=recipe.answers,
        beta=recipe.kl,
        max_completion_length=recipe.most_tokens,
        normalize_advantages=True,
    )
    _run(
        lambda: RLOOTrainer(
            model,
            reward_funcs=[rewards],
            args=config,
            train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in by_prompt]),
            processing_class=tokenizer,
        ),
        folder,
        recipe.batch * recipe.answers,
    )


def _shared(
    folder: Path, batch: int, learning_rate: float, seed: int, save_every: int
) -> dict[str, Any]:
    is_gpu = device().type == "cuda"
    return {
        "output_dir": str(folder),
        "per_device_train_batch_size": batch,
        "learning_rate": learning_rate,
        "lr_scheduler_type": "constant",
        "num_train_epochs": 1,
        "seed": seed,
        "data_seed": seed,
        "bf16": number_type() is torch.bfloat16,
        "use_cpu": not is_gpu,
        "gradient_checkpointing": is_gpu,
        "report_to": [],
        "push_to_hub": False,
        "disable_tqdm": True,
        "logging_strategy": "no",
        "save_strategy": "steps",
        "save_steps": save_every,
        "save_total_limit": 2,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": is_gpu,
    }


def _run(
    make: Callable[[], Any], folder: Path, batch: int, on_step: OnTrlStep | None = None
) -> None:
    last = _last_whole(folder)
    with disk_watched(folder), memory_watched(batch):
        trainer = make()
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(_Keeping(on_step))
        trainer.train(resume_from_checkpoint=str(last) if last else None)


def _last_whole(folder: Path) -> Path | None:
    """The last checkpoint; those that were not written to their end are removed."""
    checkpoints = sorted(
        folder.glob(f"{_PREFIX}*"), key=lambda at: int(at.name.removeprefix(_PREFIX))
    )
    for each in checkpoints:
        if not each.joinpath(_WHOLE).exists():
            shutil.rmtree(each)
    return next((each for each in reversed(checkpoints) if each.exists()), None)
