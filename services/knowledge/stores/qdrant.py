"""Adapter of `VectorStore` on Qdrant's client: a server by URL, or its local mode in unit tests."""

import copy
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import get_args

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)
from qdrant_client.local.qdrant_local import QdrantLocal

from services.knowledge.embedding.bm25 import SparseVector, document_vector, query_vector
from services.knowledge.ports import Collection, Hit, Point, StoreUnavailableError
from services.knowledge.settings import QdrantSettings
from services.knowledge.stores.points import hit_of, point_key, stored_payload
from services.knowledge.stores.qdrant_collections import (
    DENSE,
    DOCUMENT_IDS,
    WORDS,
    QdrantCollections,
)

_BATCH = 256
"""Points in one request: about 2 MB of JSON at 384 dimensions."""
_READ_TIMEOUT_S = 5
_WRITE_TIMEOUT_S = 60
_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.25
_BUSY = frozenset({429, 502, 503, 504})
"""Statuses of a server that restarts, or of a proxy in front of one."""


class QdrantVectorStore:
    """Store with one Qdrant collection per collection of the port, made on first use.

    The client's local mode is not safe to share between threads; there, calls take turns.
    """

    def __init__(
        self,
        client: QdrantClient,
        dimensions: int,
        *,
        reader: QdrantClient | None = None,
        prefix: str = "flowxpert",
        settings: QdrantSettings | None = None,
    ) -> None:
        """Open the collections, named with `prefix` so that installations may share a server.

        `reader` is the client to search with, where it should give up sooner than the other.

        Raises:
            StoreUnavailableError: The server did not answer, or holds vectors of another length.
        """
        self._client = client
        self._reader = reader or client
        is_local = isinstance(client._client, QdrantLocal)
        self._turn: AbstractContextManager[object] = (
            threading.RLock() if is_local else nullcontext()
        )
        self._collections = QdrantCollections(
            client, dimensions, settings or QdrantSettings(), is_local=is_local
        )
        self._names: dict[Collection, str] = {
            collection: f"{prefix}_{collection}" for collection in get_args(Collection)
        }
        for alias in self._names.values():
            with self._client_call():
                self._collections.open(alias)

    @classmethod
    def connect(
        cls,
        url: str,
        dimensions: int,
        *,
        api_key: str | None = None,
        prefix: str = "flowxpert",
        settings: QdrantSettings | None = None,
    ) -> "QdrantVectorStore":
        """Connect to the server at `url`."""
        client, reader = (
            QdrantClient(url=url, api_key=api_key, timeout=timeout, check_compatibility=False)
            for timeout in (_WRITE_TIMEOUT_S, _READ_TIMEOUT_S)
        )
        return cls(client, dimensions, reader=reader, prefix=prefix, settings=settings)

    @classmethod
    def in_memory(cls, dimensions: int) -> "QdrantVectorStore":
        """Create a store that vanishes with the process; slow beyond a few thousand points."""
        return cls(QdrantClient(":memory:"), dimensions)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """See `VectorStore.upsert`; more than 256 points go in several requests."""
        name = self._names[collection]
        for start in range(0, len(points), _BATCH):
            batch = [
                models.PointStruct(
                    id=str(point_key(point.id)),
                    vector={DENSE: list(point.vector), WORDS: _sparse(document_vector(point.text))},
                    payload=stored_payload(point),
                )
                for point in points[start : start + _BATCH]
            ]
            self._write(partial(self._client.upsert, name, batch))

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        """See `VectorStore.delete`."""
        if not ids:
            return
        selector = models.PointIdsList(points=[str(point_key(id_)) for id_ in ids])
        self._write(lambda: self._client.delete(self._names[collection], selector))

    def delete_document(self, collection: Collection, document_id: str) -> None:
        """See `VectorStore.delete_document`."""
        only_this = models.Filter(
            must=[
                models.FieldCondition(key=DOCUMENT_IDS, match=models.MatchValue(value=document_id)),
                models.FieldCondition(key=DOCUMENT_IDS, values_count=models.ValuesCount(lte=1)),
            ]
        )
        selector = models.FilterSelector(filter=only_this)
        self._write(lambda: self._client.delete(self._names[collection], selector))

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """See `VectorStore.search`."""
        params = self._collections.search_params()
        requests = _requests(vector, query_vector(text), limit, params)
        with self._client_call():
            dense, *sparse = self._reader.query_batch_points(
                self._names[collection], requests, timeout=_READ_TIMEOUT_S
            )
        by_words = {p.id: p.score for p in sparse[0].points} if sparse else {}
        return [hit_of(p.payload or {}, p.score, by_words.get(p.id, 0.0)) for p in dense.points]

    def count(self, collection: Collection) -> int:
        """See `VectorStore.count`."""
        with self._client_call():
            return self._reader.count(self._names[collection], exact=True).count

    @contextmanager
    def rebuild(self) -> Iterator["QdrantVectorStore"]:
        """See `VectorStore.rebuild`."""
        fresh = copy.copy(self)
        with self._client_call():
            fresh._names = {
                collection: self._collections.next_after(alias)
                for collection, alias in self._names.items()
            }
            for name in fresh._names.values():
                # A rebuild that was killed may have left one.
                self._collections.drop([name])
                self._collections.create(name)
        with ExitStack() as undo:
            undo.callback(self._discard, list(fresh._names.values()))
            yield fresh
            with self._client_call():
                self._collections.wait_until_indexed(fresh._names.values())
                taken = {alias: fresh._names[each] for each, alias in self._names.items()}
                replaced = self._collections.switch(taken)
            undo.pop_all()
        with self._client_call():
            self._collections.drop(replaced)

    def _discard(self, names: Sequence[str]) -> None:
        """Drop an unfinished rebuild; if that fails, the next rebuild does it."""
        with suppress(StoreUnavailableError), self._client_call():
            self._collections.drop(names)

    def close(self) -> None:
        """See `VectorStore.close`."""
        with self._client_call():
            self._client.close()
            self._reader.close()

    def _write(self, action: Callable[[], object]) -> None:
        """Run a write, and retry it if the server is busy: writes are idempotent."""
        pause = _FIRST_PAUSE_S
        for attempt in range(1, _ATTEMPTS + 1):
            with self._client_call():
                try:
                    action()
                except (ApiException, QdrantException) as error:
                    if attempt == _ATTEMPTS or not _is_transient(error):
                        raise
                else:
                    return
            time.sleep(pause)
            pause *= 2

    @contextmanager
    def _client_call(self) -> Iterator[None]:
        with self._turn:
            try:
                yield
            except (ApiException, QdrantException, httpx.HTTPError, OSError) as error:
                raise StoreUnavailableError(f"the vector store did not answer: {error}") from error


def _is_transient(error: Exception) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code in _BUSY
    return isinstance(error, ResponseHandlingException | ResourceExhaustedResponse)


def _requests(
    vector: Sequence[float], words: SparseVector, limit: int, params: models.SearchParams | None
) -> list[models.QueryRequest]:
    """Build one query per kind, over the candidates of both, so that every hit has both scores."""
    queries: list[tuple[str, list[float] | models.SparseVector]] = [
        (DENSE, [float(x) for x in vector])
    ]
    if words.indices:
        queries.append((WORDS, _sparse(words)))
    candidates = [
        models.Prefetch(
            query=query, using=using, limit=limit, params=params if using == DENSE else None
        )
        for using, query in queries
    ]
    return [
        models.QueryRequest(
            prefetch=candidates,
            query=query,
            using=using,
            params=params if using == DENSE else None,
            limit=limit * len(queries),
            with_payload=using == DENSE,
        )
        for using, query in queries
    ]


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
