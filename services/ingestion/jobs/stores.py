"""Documents into the stores, many at a time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.ingestion.catalogue.ledger import Held, Version
from services.ingestion.pictures.taking import PictureSources
from services.kit.observability.metrics import stage_timer
from services.knowledge.model import Chunk, Document, IncidentNode
from services.knowledge.ports import DocumentStore, Embedder, GraphStore, Vectors, VectorStore
from services.knowledge.screening.document import text_hash
from services.knowledge.stores.points import chunk_point, node_embedded_text, node_point

_NODES_AT_ONCE = 500


@dataclass(frozen=True)
class Prepared:
    """A document that is ready to be written."""

    document: Document
    fingerprint: str
    chunks: tuple[Chunk, ...]
    nodes: tuple[IncidentNode, ...]
    pictures: PictureSources = field(default_factory=PictureSources)

    @property
    def version(self) -> Version:
        """What the ledger notes of it."""
        return Version(
            document_id=self.document.id,
            fingerprint=self.fingerprint,
            content_hash=self.document.content_hash,
            title=self.document.title,
            media_type=self.document.media_type,
            chunk_ids=tuple(chunk.id for chunk in self.chunks),
            node_ids=tuple(dict.fromkeys(node.id for node in self.nodes)),
            text_hash=text_hash(self.document),
        )


@dataclass(frozen=True)
class Stores:
    """The three stores and the embedder that fills them. Every write may be repeated."""

    documents: DocumentStore
    vectors: VectorStore
    graph: GraphStore
    embedder: Embedder

    def embed(
        self,
        texts: Sequence[str],
        *,
        batch: int,
        on_batch: Callable[[float], None] = lambda _share: None,
    ) -> Vectors:
        """Vectors in the order of `texts`.

        `on_batch` is told after each `batch` of them its share of all their characters.

        Texts of like length go together, so that none is padded much.
        """
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True)
        vectors = np.empty((len(texts), self.embedder.dimensions), dtype=np.float32)
        characters = sum(map(len, texts))
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            vectors[places] = self.embedder.embed([texts[at] for at in places])
            on_batch(sum(len(texts[at]) for at in places) / max(characters, 1))
        return vectors

    def write(
        self,
        prepared: Sequence[Prepared],
        vectors: Vectors,
        held: dict[str, Held],
        *,
        batch: int,
    ) -> None:
        """Make the stores hold exactly these versions; `vectors` are those of all their chunks."""
        with stage_timer("ingestion", "write"):
            chunks = [chunk for each in prepared for chunk in each.chunks]
            points = [
                chunk_point(chunk, vector.tolist())
                for chunk, vector in zip(chunks, vectors, strict=True)
            ]
            self.vectors.upsert("chunks", points)
            written = {chunk.id for chunk in chunks}
            self.vectors.delete("chunks", sorted(_all_chunks(held.values()) - written))
            affected = _all_nodes(held.values())
            for each in prepared:
                self.documents.put(each.document)
                affected |= self.graph.replace_document(each.document.id, each.nodes)
                affected.update(node.id for node in each.nodes)
        self._point_at_nodes(affected, batch)

    def write_nodes(
        self, document_id: str, nodes: Sequence[IncidentNode], held: Held, *, batch: int
    ) -> None:
        """Make these the nodes of a document whose text and chunks stay."""
        with stage_timer("ingestion", "write"):
            affected = self.graph.replace_document(document_id, nodes)
        self._point_at_nodes({*affected, *held.node_ids, *(node.id for node in nodes)}, batch)

    def remove(self, held: dict[str, Held], *, batch: int) -> None:
        """Make the stores hold nothing of these documents."""
        with stage_timer("ingestion", "write"):
            self.vectors.delete("chunks", sorted(_all_chunks(held.values())))
            affected = _all_nodes(held.values())
            for document_id in held:
                affected |= self.graph.delete_document(document_id)
                self.documents.delete(document_id)
        self._point_at_nodes(affected, batch)

    def _point_at_nodes(self, ids: Iterable[str], batch: int) -> None:
        """Bring the points of these nodes up to date with their merged form."""
        ordered = sorted(ids)
        for start in range(0, len(ordered), _NODES_AT_ONCE):
            some = ordered[start : start + _NODES_AT_ONCE]
            nodes = self.graph.get(some)
            with stage_timer("ingestion", "embed"):
                vectors = self.embed([node_embedded_text(node) for node in nodes], batch=batch)
            with stage_timer("ingestion", "write"):
                self.vectors.upsert(
                    "nodes",
                    [
                        node_point(node, vector.tolist())
                        for node, vector in zip(nodes, vectors, strict=True)
                    ],
                )
                gone = set(some).difference(node.id for node in nodes)
                self.vectors.delete("nodes", sorted(gone))


def _all_chunks(held: Iterable[Held]) -> set[str]:
    return {id_ for each in held for id_ in each.chunk_ids}


def _all_nodes(held: Iterable[Held]) -> set[str]:
    return {id_ for each in held for id_ in each.node_ids}
