"""Texts beside the chunks that lift pages: symptom texts and resolved tickets, in memory.

A symptom text is what people with a page's fault would write. One that is similar to the ticket
counts as the meaning of its page, and as nothing else: none of its words is the page's, and nobody
is shown it. A resolved ticket similar to this one joins the chunks of its page and is weighed as
they are: it lifts the page by what both say, and by nothing else. It is no source: no step cites
it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from services.knowledge.model import ResolvedCase
from services.knowledge.ports import CaseArchive, SymptomTexts, Vectors, VectorStore
from services.retrieval.candidates import Candidates, ScoredPoint, chunk_document

LOOK_EVERY_S = 5.0
"""Seconds between checks for new texts and cases."""
MOST_SIMILAR = 3
_MOST_PAGES = 10
"""Pages that are retrieved by their symptom texts."""
_CASE = "resolved ticket:"
_SYMPTOM_KEY = "said of:"

Item = TypeVar("Item")


class _Loaded(NamedTuple, Generic[Item]):
    items: Sequence[Item]
    vectors: Vectors
    state: str
    at: float


class _VectorIndex(Generic[Item]):
    """Items with their vectors, loaded anew when their state has changed; threads may share it."""

    def __init__(
        self, state: Callable[[], str], load: Callable[[], tuple[Sequence[Item], Vectors]]
    ) -> None:
        self._state = state
        self._load = load
        self._loaded: _Loaded[Item] | None = None

    def current(self) -> _Loaded[Item]:
        loaded, now = self._loaded, time.monotonic()
        if loaded and now - loaded.at < LOOK_EVERY_S:
            return loaded
        state = self._state()
        if loaded is None or loaded.state != state:
            loaded = _Loaded(*self._load(), state, now)
        self._loaded = loaded._replace(at=now)
        return self._loaded

    def nearest(self, meaning: Sequence[float]) -> Iterator[tuple[Item, list[float], float]]:
        """Yield the items, nearest first, each with its vector and its cosine."""
        loaded = self.current()
        if not loaded.items:
            return
        cosines = loaded.vectors @ np.asarray(meaning, dtype=np.float32)
        for place in np.argsort(-cosines, kind="stable"):
            yield loaded.items[place], loaded.vectors[place].tolist(), float(cosines[place])


class SymptomIndex:
    """Index of all symptom texts, some 1.5 KB a text."""

    def __init__(self, texts: SymptomTexts, model: str) -> None:
        """Index texts embedded by `model`, as the queries are."""
        self._index = _VectorIndex(texts.state, lambda: texts.of_documents(model))

    def add_to(self, candidates: Candidates, vectors: VectorStore, *, limit: int) -> Candidates:
        """Return the candidates with the pages of near texts added, each with a chunk at least."""
        chunks = dict(candidates.chunks)
        seen = {chunk_document(chunk) for chunk in chunks.values()}
        lifted: set[str] = set()
        for document, vector, cosine in self._index.nearest(candidates.meaning):
            if len(lifted) == _MOST_PAGES:
                break
            if document in lifted:
                continue
            lifted.add(document)
            if document not in seen:
                for hit in vectors.search("chunks", vector=vector, text="", limit=limit):
                    point = ScoredPoint(hit.id, hit.payload, 0.0, 0.0)
                    if chunk_document(point) == document:
                        chunks.setdefault(hit.id, point)
            chunks[_SYMPTOM_KEY + document] = ScoredPoint(
                _SYMPTOM_KEY + document,
                {"span": {"document_id": document}, "heading_path": [], "text": "", "said": True},
                cosine,
                0.0,
            )
        return candidates._replace(chunks=chunks)


class ResolvedCases:
    """Index of the newest cases."""

    def __init__(
        self, archive: CaseArchive, model: str, *, most: int, min_similarity: float
    ) -> None:
        """Index cases embedded by `model`; from the cosine `min_similarity` on they are similar."""
        self._index = _VectorIndex(archive.state, lambda: archive.newest(most, model))
        self._most = most
        self._min_similarity = min_similarity

    def add_to(self, candidates: Candidates, vectors: VectorStore, *, limit: int) -> Candidates:
        """Return the candidates with similar cases added, and with chunks of the cases' pages."""
        chunks = dict(candidates.chunks)
        nearest = self._index.nearest(candidates.meaning) if self._most else iter(())
        for case, vector, cosine in islice(nearest, MOST_SIMILAR):
            if cosine < self._min_similarity:
                break
            for hit in vectors.search("chunks", vector=vector, text=case.text, limit=limit):
                point = ScoredPoint(hit.id, hit.payload, 0.0, 0.0)
                if chunk_document(point) == case.document_id:
                    chunks.setdefault(hit.id, point)
            payload = {
                "span": {"document_id": case.document_id},
                "heading_path": [],
                "text": f"{case.title}\n{case.text}",
                "case": case,
            }
            # The point of a case is scored by its cosine to the whole ticket alone.
            chunks[_CASE + case.id] = ScoredPoint(_CASE + case.id, payload, cosine, 0.0)
        return candidates._replace(chunks=chunks)

    def of_document(self, document_id: str) -> tuple[ResolvedCase, ...]:
        """Return the cases of a page, the newest first."""
        cases = self._index.current().items if self._most else ()
        return tuple(case for case in cases if case.document_id == document_id)


def case_of(point: ScoredPoint) -> ResolvedCase | None:
    """Return the case that a point among the chunks holds; None for a real chunk."""
    case = point.payload.get("case")
    return case if isinstance(case, ResolvedCase) else None


def is_symptom(point: ScoredPoint) -> bool:
    """Return True for a point that stands for a page's symptom texts, not for a chunk."""
    return "said" in point.payload
