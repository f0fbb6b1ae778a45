"""Writing of documents into the stores, many at a time, while others are read and embedded."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from services.ingestion.catalogue.ledger import StoredIds, Version
from services.ingestion.pictures.page_pictures import PictureSources
from services.kit.observability.metrics import stage_timer
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.ports import DocumentStore, Embedder, GraphStore, Vectors, VectorStore
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.points import chunk_point, node_embedded_text, node_point

_NODES_AT_ONCE = 500


@dataclass(frozen=True)
class PreparedDocument:
    """Document that is ready to be written."""

    document: ScreenedDocument
    fingerprint: str
    chunks: tuple[Chunk, ...]
    nodes: tuple[IncidentNode, ...]
    pictures: PictureSources = field(default_factory=PictureSources)

    @property
    def version(self) -> Version:
        """Version as the ledger records it."""
        whole = self.document.for_person()
        return Version(
            document_id=whole.id,
            fingerprint=self.fingerprint,
            content_hash=whole.content_hash,
            title=whole.title,
            media_type=whole.media_type,
            chunk_ids=tuple(chunk.id for chunk in self.chunks),
            node_ids=tuple(dict.fromkeys(node.id for node in self.nodes)),
            text_hash=self.document.text_hash,
        )


Window = list[PreparedDocument]
"""Documents that are embedded and written together."""


@dataclass(frozen=True)
class DocumentStores:
    """Three stores with the embedder that fills them. Every write may be repeated."""

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
        """Return the vectors in the order of `texts`.

        After each `batch` of them `on_batch` is called with its share of all their characters.
        Texts of similar length go together, so that none is padded much.
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
        prepared: Sequence[PreparedDocument],
        vectors: Vectors,
        stored: dict[str, StoredIds],
        *,
        batch: int,
    ) -> None:
        """Write exactly these versions into the stores; `vectors` are those of all their chunks."""
        with stage_timer("ingestion", "write"):
            chunks = [chunk for each in prepared for chunk in each.chunks]
            points = [
                chunk_point(chunk, vector.tolist())
                for chunk, vector in zip(chunks, vectors, strict=True)
            ]
            self.vectors.upsert("chunks", points)
            written = {chunk.id for chunk in chunks}
            self.vectors.delete(
                "chunks",
                sorted({id_ for each in stored.values() for id_ in each.chunk_ids} - written),
            )
            affected = {id_ for each in stored.values() for id_ in each.node_ids}
            for each in prepared:
                self.documents.put(each.document)
                affected |= self.graph.replace_document(each.document.id, each.nodes)
                affected.update(node.id for node in each.nodes)
        self._update_node_points(affected, batch)

    def write_nodes(
        self, document_id: str, nodes: Sequence[IncidentNode], stored: StoredIds, *, batch: int
    ) -> None:
        """Replace the nodes of a document whose text and chunks stay."""
        with stage_timer("ingestion", "write"):
            affected = self.graph.replace_document(document_id, nodes)
        self._update_node_points({*affected, *stored.node_ids, *(node.id for node in nodes)}, batch)

    def remove(self, stored: dict[str, StoredIds], *, batch: int) -> None:
        """Remove these documents from the stores."""
        with stage_timer("ingestion", "write"):
            self.vectors.delete(
                "chunks", sorted({id_ for each in stored.values() for id_ in each.chunk_ids})
            )
            affected = {id_ for each in stored.values() for id_ in each.node_ids}
            for document_id in stored:
                affected |= self.graph.delete_document(document_id)
                self.documents.delete(document_id)
        self._update_node_points(affected, batch)

    def _update_node_points(self, ids: Iterable[str], batch: int) -> None:
        """Update the vector points of these nodes to their merged form."""
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


def with_vectors(
    windows: Iterable[Window], embed: Callable[[Window], Vectors]
) -> Iterator[tuple[Window, Vectors]]:
    """Yield each window with the vectors of its chunks, in order.

    While one is embedded the next is read, and while the caller writes one the next is embedded:
    at most three are in memory. Errors of reading or embedding are raised here.
    """
    ahead: deque[tuple[Window, Future[Vectors]]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as embedding:
        try:
            for window in windows:
                ahead.append((window, embedding.submit(embed, window)))
                if len(ahead) > 1:
                    first, vectors = ahead.popleft()
                    yield first, vectors.result()
            for window, vectors in ahead:
                yield window, vectors.result()
        finally:
            embedding.shutdown(wait=True, cancel_futures=True)
