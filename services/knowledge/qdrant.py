"""Adapter of `VectorStore` on Qdrant's client: a server by URL, or its local mode in unit tests."""

import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import get_args

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException
from qdrant_client.local.qdrant_local import QdrantLocal

from services.knowledge.bm25 import SparseVector, document_vector, query_vector
from services.knowledge.ports import Collection, Hit, Point, StoreUnavailableError

_DENSE = "dense"
_WORDS = "words"
_NAMESPACE = uuid.UUID("6f1d7c0e-8f0b-5a58-9c53-0f9a4f1f5b11")
_BATCH = 256
"""Points in one request: about 2 MB of JSON at 384 dimensions."""
_READ_TIMEOUT_S = 5
_WRITE_TIMEOUT_S = 60


class QdrantVectorStore:
    """One collection on the server per collection of the port, made on first use.

    The client's local mode is not safe to share between threads; there, calls take turns.
    """

    def __init__(self, client: QdrantClient, dimensions: int, *, prefix: str = "flowxpert") -> None:
        """`prefix` starts the collections' names, so that installations may share a server.

        Raises:
            StoreUnavailableError: The server did not answer, or holds vectors of another length.
        """
        self._client = client
        self._prefix = prefix
        is_local = isinstance(client._client, QdrantLocal)
        self._turn: AbstractContextManager[object] = (
            threading.RLock() if is_local else nullcontext()
        )
        for collection in get_args(Collection):
            with self._asking():
                self._ensure(self._name(collection), dimensions, is_local)

    @classmethod
    def connect(
        cls, url: str, dimensions: int, *, api_key: str | None = None, prefix: str = "flowxpert"
    ) -> "QdrantVectorStore":
        """The store on the server at `url`."""
        client = QdrantClient(
            url=url, api_key=api_key, timeout=_WRITE_TIMEOUT_S, check_compatibility=False
        )
        return cls(client, dimensions, prefix=prefix)

    @classmethod
    def in_memory(cls, dimensions: int) -> "QdrantVectorStore":
        """A store that vanishes with the process; slow beyond a few thousand points."""
        return cls(QdrantClient(":memory:"), dimensions)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """See `VectorStore.upsert`; more than 256 points go in several requests."""
        records = [_record(point) for point in points]
        for start in range(0, len(records), _BATCH):
            batch = records[start : start + _BATCH]
            with self._asking():
                self._client.upsert(self._name(collection), batch)

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        """See `VectorStore.delete`."""
        if not ids:
            return
        selector = models.PointIdsList(points=[_key(id_) for id_ in ids])
        with self._asking():
            self._client.delete(self._name(collection), selector)

    def delete_document(self, collection: Collection, document_id: str) -> None:
        """See `VectorStore.delete_document`."""
        field = "document_ids"
        only_this = models.Filter(
            must=[
                models.FieldCondition(key=field, match=models.MatchValue(value=document_id)),
                models.FieldCondition(key=field, values_count=models.ValuesCount(lte=1)),
            ]
        )
        selector = models.FilterSelector(filter=only_this)
        with self._asking():
            self._client.delete(self._name(collection), selector)

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """See `VectorStore.search`."""
        requests = _requests(vector, query_vector(text), limit)
        with self._asking():
            dense, *sparse = self._client.query_batch_points(
                self._name(collection), requests, timeout=_READ_TIMEOUT_S
            )
        by_words = {p.id: p.score for p in sparse[0].points} if sparse else {}
        return [_hit(p, by_words.get(p.id, 0.0)) for p in dense.points]

    def count(self, collection: Collection) -> int:
        """See `VectorStore.count`."""
        with self._asking():
            return self._client.count(self._name(collection), exact=True).count

    def close(self) -> None:
        """See `VectorStore.close`."""
        with self._asking():
            self._client.close()

    def _name(self, collection: Collection) -> str:
        return f"{self._prefix}_{collection}"

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except (ApiException, QdrantException, httpx.HTTPError, OSError) as error:
                raise StoreUnavailableError(f"the vector store did not answer: {error}") from error

    def _ensure(self, name: str, dimensions: int, is_local: bool) -> None:
        if not self._client.collection_exists(name):
            self._create(name, dimensions, is_local)
        vectors = self._client.get_collection(name).config.params.vectors
        held = vectors[_DENSE].size if isinstance(vectors, dict) else None
        if held != dimensions:
            raise StoreUnavailableError(
                f"collection {name!r} holds vectors of {held} numbers and the embedder makes"
                f" {dimensions}: choose another prefix or delete the collection and ingest again"
            )

    def _create(self, name: str, dimensions: int, is_local: bool) -> None:
        try:
            self._client.create_collection(
                name,
                vectors_config={
                    _DENSE: models.VectorParams(size=dimensions, distance=models.Distance.DOT)
                },
                sparse_vectors_config={
                    _WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
            )
        except ApiException:
            # Another process may have made it in between.
            if not self._client.collection_exists(name):
                raise
        if not is_local:
            keyword = models.PayloadSchemaType.KEYWORD
            self._client.create_payload_index(name, "document_ids", keyword)


def _requests(
    vector: Sequence[float], words: SparseVector, limit: int
) -> list[models.QueryRequest]:
    """One query per kind, over the candidates of both, so every hit comes with both its scores."""
    queries: list[tuple[str, list[float] | models.SparseVector]] = [
        (_DENSE, [float(x) for x in vector])
    ]
    if words.indices:
        queries.append((_WORDS, _sparse(words)))
    candidates = [
        models.Prefetch(query=query, using=using, limit=limit) for using, query in queries
    ]
    return [
        models.QueryRequest(
            prefetch=candidates,
            query=query,
            using=using,
            limit=limit * len(queries),
            with_payload=using == _DENSE,
        )
        for using, query in queries
    ]


def _key(id_: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, id_))


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _record(point: Point) -> models.PointStruct:
    return models.PointStruct(
        id=_key(point.id),
        vector={_DENSE: list(point.vector), _WORDS: _sparse(document_vector(point.text))},
        payload={
            "id": point.id,
            "document_ids": list(point.document_ids),
            "payload": json.dumps(point.payload),
        },
    )


def _hit(found: models.ScoredPoint, sparse_score: float) -> Hit:
    payload = found.payload or {}
    return Hit(
        id=payload["id"],
        payload=json.loads(payload["payload"]),
        dense_score=found.score,
        sparse_score=sparse_score,
    )
