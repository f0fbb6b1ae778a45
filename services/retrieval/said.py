"""What people write who have a page's fault: further vectors of the page.

A text that is like the ticket counts as the meaning of its page, and as nothing else: none of its
words is the page's, and nobody is shown it.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from services.knowledge.ports import SaidTexts, Vectors, VectorStore
from services.retrieval.candidates import Candidates, FoundPoint, chunk_document

LOOK_EVERY_S = 5.0
"""Seconds between looks for new texts."""
_MOST_PAGES = 10
"""Pages that are found by what people say of them."""
_SAID = "said of:"


class _Loaded(NamedTuple):
    documents: Sequence[str]
    vectors: Vectors
    state: str
    at: float


class SaidOfPages:
    """All of it in memory, some 1.5 KB a text; threads may share it."""

    def __init__(self, texts: SaidTexts, model: str) -> None:
        """Texts embedded by `model`, as the queries are."""
        self._texts = texts
        self._model = model
        self._loaded: _Loaded | None = None

    def beside(self, found: Candidates, vectors: VectorStore, *, limit: int) -> Candidates:
        """The candidates with the pages that such texts are near, and a chunk of each at least."""
        chunks = dict(found.chunks)
        known = {chunk_document(chunk) for chunk in chunks.values()}
        for document, vector, cosine in self._nearest(found.meaning):
            if document not in known:
                for hit in vectors.search("chunks", vector=vector, text="", limit=limit):
                    point = FoundPoint(hit.id, hit.payload, 0.0, 0.0)
                    if chunk_document(point) == document:
                        chunks.setdefault(hit.id, point)
            chunks[_SAID + document] = FoundPoint(
                _SAID + document,
                {"span": {"document_id": document}, "heading_path": [], "text": "", "said": True},
                cosine,
                0.0,
            )
        return found._replace(chunks=chunks)

    def _nearest(self, meaning: Sequence[float]) -> Iterator[tuple[str, list[float], float]]:
        """The nearest pages, each once, with the vector and the cosine of its nearest text."""
        loaded = self._current()
        if not loaded.documents:
            return
        cosines = loaded.vectors @ np.asarray(meaning, dtype=np.float32)
        seen: set[str] = set()
        for place in np.argsort(-cosines, kind="stable"):
            document = loaded.documents[place]
            if document not in seen:
                seen.add(document)
                yield document, loaded.vectors[place].tolist(), float(cosines[place])
            if len(seen) == _MOST_PAGES:
                return

    def _current(self) -> _Loaded:
        loaded, now = self._loaded, time.monotonic()
        if loaded and now - loaded.at < LOOK_EVERY_S:
            return loaded
        state = self._texts.state()
        if loaded is None or loaded.state != state:
            loaded = _Loaded(*self._texts.of_documents(self._model), state, now)
        self._loaded = loaded._replace(at=now)
        return self._loaded


def is_said(found: FoundPoint) -> bool:
    """Whether it stands for what people say of a page, and is no chunk of it."""
    return "said" in found.payload
