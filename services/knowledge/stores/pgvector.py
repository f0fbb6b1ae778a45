"""Adapter of `VectorStore` on PostgreSQL with the extension pgvector: in the platform's database.

A collection is a schema: its points with their vectors, and the postings of their words. Full text
search has no inverse document frequency and its own idea of a word, and pgvector's `sparsevec`
neither (nor exists before 0.7), so BM25 is a sum over postings here: the same numbers as Qdrant's.
"""

import copy
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import get_args
from zlib import crc32

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from services.kit.errors import InvalidInputError
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.bm25 import document_vector, query_vector
from services.knowledge.ports import Collection, Hit, Point, StoreUnavailableError
from services.knowledge.stores.points import point_key

_LOCKS = 0x66787673
"""First half of the advisory locks' keys; any fixed number does."""
_CANDIDATES = 128
"""Minimum of candidates in a search of the graph: as many as a Qdrant server's default."""
_MOST_CANDIDATES = 1000
"""Maximum that pgvector accepts; a larger search by meaning returns these."""
_READ_WITHIN_S = 5
_WRITE_WITHIN_S = 60
_BATCH = 256
"""Points in one statement."""

_CREATE = """
CREATE SCHEMA {schema};
CREATE TABLE {schema}.point (
    key uuid PRIMARY KEY,
    id text NOT NULL,
    only_document text,
    vector vector({dimensions:d}) NOT NULL,
    payload text NOT NULL
);
CREATE INDEX ON {schema}.point USING hash (only_document);
CREATE TABLE {schema}.posting (
    word bigint,
    point uuid,
    weight real NOT NULL,
    PRIMARY KEY (word, point) INCLUDE (weight)
);
CREATE INDEX ON {schema}.posting (point)
"""

_INDEX = """
CREATE INDEX ON {schema}.point
    USING hnsw (vector vector_ip_ops) WITH (m = 16, ef_construction = 128)
"""
"""Vectors have unit length: the inner product is the cosine, for half of the work."""

_STORED_DIMENSIONS = text(
    "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:points)"
    " AND attname = 'vector'"
)

_WAIT_FOR_ALL = text("SELECT pg_advisory_xact_lock(:space, :prefix)")

_BEGIN = text(
    "SELECT pg_advisory_xact_lock_shared(:space, :prefix),"
    " set_config('search_path', :schema || ', ' || current_setting('search_path'), true),"
    " set_config('statement_timeout', :timeout, true),"
    " set_config('jit', 'off', true),"  # to compile a search takes longer than the search
    " set_config('hnsw.ef_search', :candidates, true)"
)
"""Sets the search path, so that a statement uses the schema's current name: it may be exchanged."""

_PUT_POINT = text(
    "INSERT INTO point (key, id, only_document, vector, payload)"
    " VALUES (:key, :id, :only_document, CAST(:vector AS vector), :payload)"
    " ON CONFLICT (key) DO UPDATE SET id = excluded.id, payload = excluded.payload,"
    " only_document = excluded.only_document, vector = excluded.vector"
)
_DROP_POSTINGS = text("DELETE FROM posting WHERE point = ANY(:keys)")
_PUT_POSTINGS = text(
    "INSERT INTO posting (word, point, weight)"
    " SELECT * FROM unnest("
    "CAST(:words AS bigint[]), CAST(:points AS uuid[]), CAST(:weights AS real[]))"
)

_DELETE = (
    "WITH gone AS (DELETE FROM point WHERE {condition} RETURNING key)"
    " DELETE FROM posting USING gone WHERE posting.point = gone.key"
)
_DELETE_IDS = text(_DELETE.format(condition="key = ANY(:keys)"))
_DELETE_DOCUMENT = text(_DELETE.format(condition="only_document = :document_id"))

_COUNT = text("SELECT count(*) FROM point")

# The rarity of a word is that of Qdrant's modifier "idf".
_SEARCH = text("""
WITH asked AS (
    SELECT * FROM unnest(CAST(:words AS bigint[]), CAST(:weights AS real[])) AS t (word, weight)
), rarity AS (
    SELECT asked.word, asked.weight
        * ln(1 + (total.points - count(*) + 0.5) / (count(*) + 0.5)) AS weight
    FROM asked JOIN posting USING (word), (SELECT count(*) AS points FROM point) AS total
    GROUP BY asked.word, asked.weight, total.points
), said AS (
    SELECT posting.point AS key, sum(posting.weight * rarity.weight) AS score
    FROM posting JOIN rarity USING (word) GROUP BY posting.point
), near AS (
    SELECT key FROM point ORDER BY vector <#> CAST(:vector AS vector) LIMIT :limit
), best AS (
    SELECT key FROM said ORDER BY score DESC, key LIMIT :limit
)
SELECT point.id, point.payload, -(point.vector <#> CAST(:vector AS vector)) AS dense_score,
    coalesce(said.score, 0) AS sparse_score
FROM (SELECT key FROM near UNION SELECT key FROM best) AS found
    JOIN point USING (key) LEFT JOIN said USING (key)
""")


class NotPostgresError(InvalidInputError):
    """Vectors are to be stored in PostgreSQL, but the database is another one."""


class PgVectorStore:
    """Store with one schema per collection, made on first use; processes may share it."""

    def __init__(self, database: Database, dimensions: int, *, prefix: str = "flowxpert") -> None:
        """Open the schemas, named with `prefix`. The database is not closed with this store.

        Raises:
            StoreUnavailableError: The server did not answer, lacks the extension, or holds vectors
                of another length.
        """
        self._database = database
        self._dimensions = dimensions
        self._lock = crc32(prefix.encode()) - 2**31
        self._schemas: dict[Collection, str] = {
            collection: f"{prefix}_{collection}" for collection in get_args(Collection)
        }
        with self._exclusive_transaction() as connection:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            for schema in self._schemas.values():
                stored = connection.execute(
                    _STORED_DIMENSIONS, {"points": f"{schema}.point"}
                ).scalar_one_or_none()
                if stored is None:
                    self._create(connection, schema)
                    connection.execute(text(_INDEX.format(schema=schema)))
                elif stored != dimensions:
                    raise StoreUnavailableError(
                        f"schema {schema!r} holds vectors of {stored} numbers and the embedder"
                        f" makes {dimensions}: drop it and run `flowxpert reindex`"
                    )

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """See `VectorStore.upsert`."""
        # In one order everywhere, so that no two writers wait for each other.
        by_key = dict(sorted((point_key(point.id), point) for point in points))
        keys = list(by_key)
        with self._transaction(collection, _WRITE_WITHIN_S) as connection:
            for start in range(0, len(keys), _BATCH):
                _write(connection, {key: by_key[key] for key in keys[start : start + _BATCH]})

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        """See `VectorStore.delete`."""
        with self._transaction(collection, _WRITE_WITHIN_S) as connection:
            connection.execute(_DELETE_IDS, {"keys": [point_key(id_) for id_ in ids]})

    def delete_document(self, collection: Collection, document_id: str) -> None:
        """See `VectorStore.delete_document`."""
        with self._transaction(collection, _WRITE_WITHIN_S) as connection:
            connection.execute(_DELETE_DOCUMENT, {"document_id": document_id})

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """See `VectorStore.search`."""
        words = query_vector(text)
        parameters = {
            "words": list(words.indices),
            "weights": list(words.values),
            "vector": _vector(vector),
            "limit": limit,
        }
        with self._transaction(collection, _READ_WITHIN_S, candidates=limit) as connection:
            rows = connection.execute(_SEARCH, parameters).all()
        return [
            Hit(
                id=row.id,
                payload=json.loads(row.payload),
                dense_score=row.dense_score,
                sparse_score=row.sparse_score,
            )
            for row in rows
        ]

    def count(self, collection: Collection) -> int:
        """See `VectorStore.count`."""
        with self._transaction(collection, _READ_WITHIN_S) as connection:
            return int(connection.execute(_COUNT).scalar_one())

    @contextmanager
    def rebuild(self) -> Iterator["PgVectorStore"]:
        """See `VectorStore.rebuild`."""
        fresh = copy.copy(self)
        fresh._schemas = {each: f"{schema}_new" for each, schema in self._schemas.items()}
        self._drop("new", "old")  # what a rebuild left that was killed
        with self._exclusive_transaction() as connection:
            for schema in fresh._schemas.values():
                self._create(connection, schema)
        with ExitStack() as undo:
            undo.callback(self._discard)
            yield fresh
            for schema in fresh._schemas.values():
                self._finish(schema)
            self._exchange()
            undo.pop_all()
        self._drop("old")

    def close(self) -> None:
        """Do nothing: the database belongs to the caller."""

    def _exchange(self) -> None:
        """Swap the new schemas in for the old ones, without waiting for readers' table locks.

        So a backup that goes on holds nobody up; only the old ones' end waits for it.
        """
        with self._exclusive_transaction() as connection:
            for schema in self._schemas.values():
                connection.execute(text(f"ALTER SCHEMA {schema} RENAME TO {schema}_old"))
                connection.execute(text(f"ALTER SCHEMA {schema}_new RENAME TO {schema}"))

    def _finish(self, schema: str) -> None:
        """Build the index at once, faster than point by point, and gather planner statistics."""
        autocommit = self._database.engine.execution_options(isolation_level="AUTOCOMMIT")
        with _vendor_errors(), autocommit.connect() as connection:
            connection.execute(text(_INDEX.format(schema=schema)))
            connection.execute(text(f"VACUUM ANALYZE {schema}.point, {schema}.posting"))

    def _drop(self, *suffixes: str) -> None:
        names = [f"{schema}_{end}" for schema in self._schemas.values() for end in suffixes]
        with _vendor_errors(), self._database.engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {', '.join(names)} CASCADE"))

    def _discard(self) -> None:
        """Drop an unfinished rebuild; if that fails, the next rebuild does it."""
        with suppress(StoreUnavailableError):
            self._drop("new")

    def _create(self, connection: Connection, schema: str) -> None:
        connection.execute(text(_CREATE.format(schema=schema, dimensions=self._dimensions)))

    @contextmanager
    def _exclusive_transaction(self) -> Iterator[Connection]:
        """Open a transaction that excludes all other users of the collections."""
        with _vendor_errors(), self._database.engine.begin() as connection:
            connection.execute(_WAIT_FOR_ALL, {"space": _LOCKS, "prefix": self._lock})
            yield connection

    @contextmanager
    def _transaction(
        self, collection: Collection, within_s: float, *, candidates: int = 0
    ) -> Iterator[Connection]:
        """Open a transaction on the collection's tables that keeps them from being exchanged."""
        with _vendor_errors(), self._database.engine.begin() as connection:
            connection.execute(
                _BEGIN,
                {
                    "space": _LOCKS,
                    "prefix": self._lock,
                    "schema": self._schemas[collection],
                    "timeout": f"{within_s}s",
                    "candidates": str(min(max(candidates, _CANDIDATES), _MOST_CANDIDATES)),
                },
            )
            yield connection


def _write(connection: Connection, points: Mapping[uuid.UUID, Point]) -> None:
    connection.execute(
        _PUT_POINT,
        [
            {
                "key": key,
                "id": point.id,
                "only_document": point.document_ids[0] if len(point.document_ids) == 1 else None,
                "vector": _vector(point.vector),
                "payload": json.dumps(point.payload),
            }
            for key, point in points.items()
        ],
    )
    words = {key: document_vector(point.text) for key, point in points.items()}
    connection.execute(_DROP_POSTINGS, {"keys": list(points)})
    connection.execute(
        _PUT_POSTINGS,
        {
            "words": [word for each in words.values() for word in each.indices],
            "points": [key for key, each in words.items() for _ in each.indices],
            "weights": [weight for each in words.values() for weight in each.values],
        },
    )


def _vector(numbers: Sequence[float]) -> str:
    return json.dumps([float(number) for number in numbers])


@contextmanager
def _vendor_errors() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreUnavailableError(f"the vector store did not answer: {error}") from error


def open_pgvector(settings: PlatformSettings, database: Database, dimensions: int) -> PgVectorStore:
    """Open the store in the platform's database.

    Raises:
        NotPostgresError: That is SQLite.
    """
    if settings.database_url is None or database.is_sqlite:
        raise NotPostgresError("vectors in PostgreSQL need one: set FLOWXPERT_DATABASE_URL")
    return PgVectorStore(database, dimensions)
