"""Retrieval as it would be if one page had never been ingested."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from evaluation.material.page_reader import readings_of
from services.knowledge.model import Attribute, IncidentNode
from services.knowledge.ports import Collection, DocumentStore, GraphStore, Hit, VectorStore
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.points import chunk_of
from services.retrieval.service import RetrievalService

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

_MOST_POINTS = 100
"""Points of one page: so many more are asked for, to have as many left."""


def retrieval_without(platform: "Embedded", page: str) -> RetrievalService:
    """The platform's retrieval, blind for this document."""
    return RetrievalService(
        cast(VectorStore, HidingVectors(platform.vectors, page)),
        cast(GraphStore, HidingGraph(platform.graph, page)),
        cast(DocumentStore, HidingDocuments(platform.documents, page)),
        platform.embedder,
        readings=readings_of(platform),
    )


@dataclass(frozen=True)
class HidingVectors:
    """What retrieval reads of a vector store."""

    store: VectorStore
    page: str

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """See `VectorStore.search`."""
        wide = self.store.search(collection, vector=vector, text=text, limit=limit + _MOST_POINTS)
        left = [hit for hit in wide if self.page not in _documents_of(hit)]
        near = sorted(left, key=lambda hit: -hit.dense_score)[:limit]
        worded = sorted((hit for hit in left if hit.sparse_score), key=lambda h: -h.sparse_score)
        return list({hit.id: hit for hit in (*near, *worded[:limit])}.values())


@dataclass(frozen=True)
class HidingGraph:
    """What retrieval reads of a graph store; nodes lose what the page contributes."""

    store: GraphStore
    page: str

    def get(self, ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.get`."""
        return self._left(self.store.get(ids))

    def of_documents(self, document_ids: Sequence[str]) -> list[IncidentNode]:
        """See `GraphStore.of_documents`."""
        return self._left(self.store.of_documents([i for i in document_ids if i != self.page]))

    def find_names(self, names: Iterable[str]) -> dict[str, list[str]]:
        """See `GraphStore.find_names`."""
        ids_by_name = self.store.find_names(names)
        left = {
            n.id for n in self.get(sorted({id_ for ids in ids_by_name.values() for id_ in ids}))
        }
        kept = {name: [id_ for id_ in ids if id_ in left] for name, ids in ids_by_name.items()}
        return {name: ids for name, ids in kept.items() if ids}

    def _left(self, nodes: Iterable[IncidentNode]) -> list[IncidentNode]:
        return [left for node in nodes if (left := _without(node, self.page)).document_ids]


@dataclass(frozen=True)
class HidingDocuments:
    """What retrieval reads of a document store."""

    store: DocumentStore
    page: str

    def get(self, document_id: str) -> ScreenedDocument | None:
        """See `DocumentStore.get`."""
        return None if document_id == self.page else self.store.get(document_id)

    def get_many(self, document_ids: Sequence[str]) -> dict[str, ScreenedDocument]:
        """See `DocumentStore.get_many`."""
        return self.store.get_many([id_ for id_ in document_ids if id_ != self.page])

    def ids_with(self, parts: Sequence[str]) -> list[str]:
        """See `DocumentStore.ids_with`."""
        return [id_ for id_ in self.store.ids_with(parts) if id_ != self.page]


def _documents_of(hit: Hit) -> Sequence[str]:
    """A node of several documents is dropped too: its vector may be of the hidden one."""
    named = hit.payload.get("document_ids")
    return cast(Sequence[str], named) if named else [chunk_of(hit.payload).span.document_id]


def _without(node: IncidentNode, page: str) -> IncidentNode:
    kept = {
        attribute.value: tuple(p for p in node.passages(attribute) if p.span.document_id != page)
        for attribute in Attribute
    }
    return node.model_copy(update=kept)
