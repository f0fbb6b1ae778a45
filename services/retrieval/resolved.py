"""Resolved tickets: what a page has helped with before is read as if the page said it.

A case that is like the ticket is laid beside the chunks of its page and weighed as they are, so
that it lifts the page by what both say, and nothing else. It is no source: no step cites it.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from services.knowledge.model import ResolvedCase
from services.knowledge.ports import CaseArchive, Vectors, VectorStore
from services.retrieval.candidates import Candidates, FoundPoint, chunk_document

LOOK_EVERY_S = 5.0
"""Seconds between looks for new cases."""
MOST_ALIKE = 3
_CASE = "resolved ticket:"


class _Loaded(NamedTuple):
    cases: Sequence[ResolvedCase]
    vectors: Vectors
    state: str
    at: float


class ResolvedCases:
    """The newest cases in memory; threads may share it."""

    def __init__(self, archive: CaseArchive, model: str, *, most: int, alike_from: float) -> None:
        """Cases embedded by `model`; a ticket is like one from the cosine `alike_from` on."""
        self._archive = archive
        self._model = model
        self._most = most
        self._alike_from = alike_from
        self._loaded: _Loaded | None = None

    def beside(self, found: Candidates, vectors: VectorStore, *, limit: int) -> Candidates:
        """The candidates with the cases that are like the ticket, and the chunks of their pages."""
        chunks = dict(found.chunks)
        for case, vector, cosine in self._alike(found.meaning):
            for hit in vectors.search("chunks", vector=vector, text=case.text, limit=limit):
                point = FoundPoint(hit.id, hit.payload, 0.0, 0.0)
                if chunk_document(point) == case.document_id:
                    chunks.setdefault(hit.id, point)
            chunks[_CASE + case.id] = _as_chunk(case, cosine)
        return found._replace(chunks=chunks)

    def of_document(self, document_id: str) -> tuple[ResolvedCase, ...]:
        """The cases of a page, the newest first."""
        cases = self._current().cases if self._most else ()
        return tuple(case for case in cases if case.document_id == document_id)

    def _alike(self, meaning: Sequence[float]) -> Iterator[tuple[ResolvedCase, list[float], float]]:
        """Cases like the ticket, each with its vector and its cosine to the ticket."""
        loaded = self._current() if self._most else None
        if loaded is None or not loaded.cases:
            return
        cosines = loaded.vectors @ np.asarray(meaning, dtype=np.float32)
        for place in np.argsort(-cosines, kind="stable")[:MOST_ALIKE]:
            if cosines[place] >= self._alike_from:
                yield loaded.cases[place], loaded.vectors[place].tolist(), float(cosines[place])

    def _current(self) -> _Loaded:
        loaded, now = self._loaded, time.monotonic()
        if loaded and now - loaded.at < LOOK_EVERY_S:
            return loaded
        state = self._archive.state()
        if loaded is None or loaded.state != state:
            cases, vectors = self._archive.newest(self._most, self._model)
            loaded = _Loaded(cases, vectors, state, now)
        self._loaded = loaded._replace(at=now)
        return self._loaded


def case_of(found: FoundPoint) -> ResolvedCase | None:
    """The case that stands among the chunks of a page; None where it is a chunk."""
    case = found.payload.get("case")
    return case if isinstance(case, ResolvedCase) else None


def _as_chunk(case: ResolvedCase, cosine: float) -> FoundPoint:
    """With its cosine to the whole ticket; no more is known of it."""
    payload = {
        "span": {"document_id": case.document_id},
        "heading_path": [],
        "text": f"{case.title}\n{case.text}",
        "case": case,
    }
    return FoundPoint(_CASE + case.id, payload, cosine, 0.0)
