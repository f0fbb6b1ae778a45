"""Adapter of `Embedder` on onnxruntime: the vectors of sentence-transformers without torch."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.kit.errors import FlowXpertError
from services.knowledge.embedding.word_pieces import WINDOW, WordPieces
from services.knowledge.ports import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_PROBE = "interface down"
_PROBE_STARTS = (0.017434, -0.002035, 0.051168, 0.040438)
"""First numbers of the probe's vector, as computed by sentence-transformers."""
_EXACT = 1e-4
_ROUNDED = 0.05
"""Tolerance for the probe with int8 weights: three times the observed deviation."""


class UnusableModelError(FlowXpertError):
    """The file is no ONNX model, or not the one whose vectors are stored."""


class OnnxEmbedder:
    """all-MiniLM-L6-v2 from an ONNX file; `onnx_model.ensure_model_file` makes one.

    With the weights as they are, vectors equal those of `SentenceTransformerEmbedder` to 1e-5, and
    so the two share their name. With int8 weights they are only near, and have a name of their own.
    The file is read by the first call of `embed`. Threads may share an embedder.
    """

    dimensions = 384
    max_tokens = WINDOW - 2

    def __init__(self, path: Path, *, is_int8: bool = False, threads: int = 0) -> None:
        """Set up the embedder; for `threads` see `limit_threads`."""
        self.model_name = "all-MiniLM-L6-v2" + ("-int8.2" if is_int8 else "")
        self._path = path
        self._tolerance = _ROUNDED if is_int8 else _EXACT
        self._threads = threads
        self._word_pieces = WordPieces()

    def limit_threads(self, threads: int) -> None:
        """Set the number of texts that a call embeds in parallel; 0 takes one per core."""
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`.

        One text at a time on each thread: nothing is padded, all stays in the processor's cache,
        and no thread waits for another at every layer. int8 activations are rounded by the range
        of a whole batch, whereas a text's vector must not depend on what is beside it.

        Raises:
            UnusableModelError: The file is not this model.
        """
        session = self._session
        threads = min(self._threads or os.cpu_count() or 1, len(texts))
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if threads <= 1:
            for row, text in enumerate(texts):
                vectors[row] = self._vector(session, text)
            return vectors
        with ThreadPoolExecutor(threads, thread_name_prefix="embedder") as pool:
            for row, vector in enumerate(pool.map(lambda text: self._vector(session, text), texts)):
                vectors[row] = vector
        return vectors

    def count_tokens(self, text: str) -> int:
        """See `Embedder.count_tokens`."""
        return self._word_pieces.count(text)

    def _vector(self, session: "InferenceSession", text: str) -> Vectors:
        ids = self._word_pieces.ids(text)[np.newaxis]
        (states,) = session.run(["last_hidden_state"], {"input_ids": ids})
        # The mean over all word pieces, as the model's sentence-transformers configuration says.
        mean: Vectors = states[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    @cached_property
    def _session(self) -> "InferenceSession":
        session = self._open()
        starts = self._vector(session, _PROBE)[: len(_PROBE_STARTS)]
        off = float(np.abs(starts - np.array(_PROBE_STARTS)).max())
        if not off <= self._tolerance:
            raise UnusableModelError(
                f"expected {self.model_name} in {str(self._path)!r}, got a model whose vectors "
                f"are off by {off:.4f}: make the file with `flowxpert export-embedder`"
            )
        return session

    def _open(self) -> "InferenceSession":
        import onnxruntime  # noqa: PLC0415  (slow import)
        from onnxruntime.capi import onnxruntime_pybind11_state as vendor  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # The file is fused where that is faster; what is beyond joins sums to norms, which is not.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        refusals = (vendor.Fail, vendor.InvalidProtobuf, vendor.InvalidGraph, vendor.NoSuchFile)
        try:
            session = onnxruntime.InferenceSession(
                str(self._path), options, providers=["CPUExecutionProvider"]
            )
        except refusals as error:
            raise UnusableModelError(
                f"expected an ONNX model in {str(self._path)!r}: {error}"
            ) from error
        takes = {each.name for each in session.get_inputs()}
        gives = {each.name: each.shape[-1] for each in session.get_outputs()}
        wanted = {"input_ids"}
        if takes != wanted or gives.get("last_hidden_state") != self.dimensions:
            raise UnusableModelError(
                f"expected a model from {sorted(wanted)} to last_hidden_state of "
                f"{self.dimensions} in {str(self._path)!r}, got {sorted(takes)} to {gives}: "
                "make the file with `flowxpert export-embedder`"
            )
        return session
