"""Adapter of `VectorStore` on Qdrant's engine inside the process: the embedded default."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import get_args

import qdrant_edge as edge
import structlog

from services.knowledge.embedding.bm25 import SparseVector, document_vector, query_vector
from services.knowledge.ports import Collection, Hit, Point, StoreUnavailableError
from services.knowledge.stores.points import hit_of, point_key, stored_payload

_log = structlog.get_logger()

_DENSE = "dense"
_WORDS = "words"
_EXACT_BELOW_KB = 200_000
"""Segment size up to which it is scanned rather than indexed: at 384 dimensions 130,000 vectors,
where a scan costs a few milliseconds, is exact, and needs no graph to be built.
"""
_WRITES_BETWEEN_OPTIMISATIONS = 5_000


class QdrantEdgeVectorStore:
    """One shard per collection in a folder of its own; one process at a time may hold it.

    Every write is in the engine's log before the call returns, so a killed process loses nothing.
    """

    def __init__(self, path: Path, dimensions: int) -> None:
        """Open or create the shards under `path`.

        Raises:
            StoreUnavailableError: Another process holds the folder, or it was written with
                vectors of another length.
        """
        self._path = path
        self._dimensions = dimensions
        self._writes = 0
        self._closed = False
        self._lock = threading.Lock()
        self._turn = threading.Condition()
        self._users = 0
        self._is_exchanging = False
        _finish_exchange(path)
        self._shards = _open_all(path, dimensions)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """See `VectorStore.upsert`."""
        if not points:
            return
        records = [
            edge.Point(
                str(point_key(point.id)),
                {_DENSE: list(point.vector), _WORDS: _sparse(document_vector(point.text))},
                stored_payload(point),
            )
            for point in points
        ]
        with self._use_shard("upsert", collection) as shard:
            shard.update(edge.UpdateOperation.upsert_points(records))
        with self._lock:
            self._writes += len(records)
            is_due = self._writes >= _WRITES_BETWEEN_OPTIMISATIONS
            if is_due:
                self._writes = 0
        if is_due:
            with self._use_shard("optimise", collection) as shard:
                shard.optimize()

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        """See `VectorStore.delete`."""
        if not ids:
            return
        keys: list[edge.PointId] = [str(point_key(id_)) for id_ in ids]
        with self._use_shard("delete", collection) as shard:
            shard.update(edge.UpdateOperation.delete_points(keys))

    def delete_document(self, collection: Collection, document_id: str) -> None:
        """See `VectorStore.delete_document`."""
        only_this = edge.Filter(
            must=[
                edge.FieldCondition(key="document_ids", match=edge.MatchValue(document_id)),
                edge.FieldCondition(key="document_ids", values_count=edge.ValuesCount(lte=1)),
            ]
        )
        with self._use_shard("delete_document", collection) as shard:
            shard.update(edge.UpdateOperation.delete_points_by_filter(only_this))

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """See `VectorStore.search`."""
        words = query_vector(text)
        queries = [edge.Query.Nearest([float(x) for x in vector], using=_DENSE)]
        if words.indices:
            queries.append(edge.Query.Nearest(_sparse(words), using=_WORDS))
        with self._use_shard("search", collection) as shard:
            matches = shard.query_batch(
                edge.QueryBatchRequest([edge.QueryRequest(limit, query=q) for q in queries])
            )
            ids = {point.id for points in matches for point in points}
            if not ids:
                return []
            # Each query scores what the other found too, so every hit comes with both its scores.
            only_these = edge.Filter(must=[edge.HasIdCondition(ids)])
            dense, *sparse = shard.query_batch(
                edge.QueryBatchRequest(
                    [
                        edge.QueryRequest(len(ids), query=q, filter=only_these, with_payload=True)
                        for q in queries
                    ]
                )
            )
        by_words = {point.id: point.score for points in sparse for point in points}
        return [hit_of(p.payload or {}, p.score, by_words.get(p.id, 0.0)) for p in dense]

    def count(self, collection: Collection) -> int:
        """See `VectorStore.count`."""
        with self._use_shard("count", collection) as shard:
            return int(shard.count(edge.CountRequest(exact=True)))

    @contextmanager
    def rebuild(self) -> Iterator["QdrantEdgeVectorStore"]:
        """See `VectorStore.rebuild`."""
        beside = _beside(self._path, "new")
        shutil.rmtree(beside, ignore_errors=True)
        fresh = QdrantEdgeVectorStore(beside, self._dimensions)
        with ExitStack() as undo:
            undo.callback(fresh._discard)
            yield fresh
            with _vendor_errors("optimise"):
                for shard in fresh._shards.values():
                    shard.optimize()
            undo.pop_all()
        fresh.close()
        self._exchange(beside)

    def _discard(self) -> None:
        """Remove all traces of an unfinished rebuild."""
        with suppress(StoreUnavailableError):
            self.close()
        shutil.rmtree(self._path, ignore_errors=True)

    def _exchange(self, beside: Path) -> None:
        """Replace this store's folder by `beside`; calls meanwhile wait."""
        with self._turn:
            self._is_exchanging = True
            self._turn.wait_for(lambda: not self._users)
        try:
            with _vendor_errors("close"):
                for shard in self._shards.values():
                    shard.close()
            self._path.rename(_beside(self._path, "old"))
            beside.rename(self._path)
            self._shards = _open_all(self._path, self._dimensions)
        finally:
            with self._turn:
                self._is_exchanging = False
                self._turn.notify_all()
        _finish_exchange(self._path)

    def close(self) -> None:
        """See `VectorStore.close`."""
        with self._lock:
            was_closed, self._closed = self._closed, True
        if was_closed:
            return
        with _vendor_errors("close"):
            for shard in self._shards.values():
                shard.flush()
                shard.close()

    @contextmanager
    def _use_shard(self, what: str, collection: Collection) -> Iterator[edge.EdgeShard]:
        """Yield the shard, which stays open within the block."""
        with self._turn:
            self._turn.wait_for(lambda: not self._is_exchanging)
            self._users += 1
            shard = self._shards[collection]
        try:
            with _vendor_errors(what):
                yield shard
        finally:
            with self._turn:
                self._users -= 1
                self._turn.notify_all()


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _finish_exchange(path: Path) -> None:
    """Clean up after a rebuild that was killed, or an exchange of folders; undo half of one."""
    old, new = _beside(path, "old"), _beside(path, "new")
    if old.exists() and not path.exists():
        old.rename(path)
    shutil.rmtree(old, ignore_errors=True)
    if new.exists():
        _log.warning("knowledge.broken_off_rebuild_removed", path=str(new))
        shutil.rmtree(new, ignore_errors=True)


def _open_all(path: Path, dimensions: int) -> dict[Collection, edge.EdgeShard]:
    shards: dict[Collection, edge.EdgeShard] = {}
    for collection in get_args(Collection):
        with _vendor_errors(f"open {path / collection}"):
            shards[collection] = _open(path / collection, dimensions)
    return shards


def _open(path: Path, dimensions: int) -> edge.EdgeShard:
    config = edge.EdgeConfig(
        vectors={_DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Dot)},
        sparse_vectors={_WORDS: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_EXACT_BELOW_KB),
    )
    if not path.exists():
        # Made beside its place and moved there whole: a process killed here leaves no half shard.
        unfinished = path.with_name(f"{path.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        shard = edge.EdgeShard.create(str(unfinished), config)
        keyword = edge.PayloadSchemaType.Keyword
        shard.update(edge.UpdateOperation.create_field_index("document_ids", keyword))
        shard.flush()
        shard.close()
        unfinished.rename(path)
    return edge.EdgeShard.load(str(path), config)


@contextmanager
def _vendor_errors(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:  # The engine raises nothing more specific than that.
            raise
        raise StoreUnavailableError(
            f"the embedded vector store could not {what}: {error}"
        ) from error


def _sparse(vector: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(list(vector.indices), list(vector.values))
