"""The context of a ticket whose pages are given: all that ingestion makes of them, nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_reader import Read, unread
from services.contracts.retrieval import PageReading, RetrievedContext, RetrieveRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.ingestion.structure.pipeline import Pipeline
from services.knowledge.model import Chunk, Document, IncidentNode, RetrievedChunk, RetrievedNode
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import ScreenedDocument
from services.retrieval.match import Rarity, terms_of
from services.retrieval.query import read_query
from services.runbook.ports import ServedReading


class PageContexts:
    """Contexts of given pages: their chunks, nodes and readings, each made once."""

    def __init__(self, page_of: PageOf, embedder: Embedder, read: Read = unread) -> None:
        """What `read` has not read nobody has."""
        self._page_of = page_of
        self._embedder = embedder
        self._read = read
        self._pipeline = Pipeline.with_embedder(embedder)
        self._parts = cache(self._made)

    def context(self, ticket: TicketDraft, rows: Sequence[LogicRow]) -> RetrievedContext:
        """The pages of these rows, each chunk as relevant as its meaning is near the ticket's."""
        pages = [self._page_of(row) for row in rows]
        parts = [self._parts(_Hashable(page)) for page in pages]
        chunks = self._scored(
            ticket, [chunk for page_chunks, _, _ in parts for chunk in page_chunks]
        )
        best = _best(chunks)
        return RetrievedContext(
            chunks=tuple(chunks),
            nodes=tuple(_hits((node for _, nodes, _ in parts for node in nodes), best)),
            confidence=1.0,
            words=_words(ticket, chunks),
            pages=tuple(
                reading.model_copy(update={"score": best.get(reading.document_id, 0.0)})
                for _, _, reading in parts
            ),
        )

    def _made(self, hashable: "_Hashable") -> tuple[list[Chunk], list[IncidentNode], PageReading]:
        document = hashable.document
        screened = ScreenedDocument(document)
        text = screened.for_model().text
        reading = self._read(document)
        page = PageReading(
            document_id=document.id,
            title=document.title,
            served=ServedReading(reading=reading) if reading else None,
            text=text,
            stored_text="" if text == document.text else document.text,
        )
        pipeline = self._pipeline
        return list(pipeline.split(screened)), list(pipeline.extract(screened)), page

    def _scored(self, ticket: TicketDraft, chunks: Sequence[Chunk]) -> list[RetrievedChunk]:
        query = f"{ticket.title}\n{ticket.description}".strip()
        vectors = self._embedder.embed([query, *(chunk.embedded_text for chunk in chunks)])
        near = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        hits = [
            RetrievedChunk(chunk=chunk, score=float(score))
            for chunk, score in zip(chunks, near, strict=True)
        ]
        return sorted(hits, key=lambda hit: -hit.score)


class _Hashable:
    """A document as the argument of a cache."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def __hash__(self) -> int:
        return hash(self.document.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and self.document == other.document


def _words(ticket: TicketDraft, chunks: Sequence[RetrievedChunk]) -> dict[str, float]:
    """As retrieval weighs them."""
    query = read_query(RetrieveRequest.of_ticket(ScreenedTicket(ticket))).words
    return Rarity([terms_of(hit.chunk.embedded_text) for hit in chunks]).of_words(
        terms_of(query).words
    )


def _best(chunks: Sequence[RetrievedChunk]) -> Mapping[str, float]:
    """By document the relevance of its best chunk; `chunks` are in falling relevance."""
    return {hit.chunk.span.document_id: hit.score for hit in reversed(chunks)}


def _hits(nodes: Iterator[IncidentNode], best: Mapping[str, float]) -> list[RetrievedNode]:
    """Each as relevant as its page, a page's own node first."""
    hits = [
        RetrievedNode(node=node, score=max(best.get(id_, 0.0) for id_ in node.document_ids))
        for node in nodes
    ]
    return sorted(hits, key=lambda hit: -hit.score)
