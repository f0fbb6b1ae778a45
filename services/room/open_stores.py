"""Opening of the stores and the embedder that the settings name.

Each engine takes a while to import, and only one of each kind is needed: it is imported here when
it is opened.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple, Protocol

from services.kit.errors import FlowXpertError, InvalidInputError
from services.kit.http.health import Check
from services.kit.settings import EmbedderChoice, PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import SentenceTransformerEmbedder
from services.knowledge.ports import Embedder, GraphStore, VectorStore
from services.knowledge.stores.pgvector import open_pgvector
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.knowledge.stores.timed import with_timing_of_graph, with_timing_of_vectors


class VectorStoreKind(NamedTuple):
    """A vector store that can be chosen."""

    open: Callable[[PlatformSettings, Database, int], VectorStore]
    """Opens it for vectors of this length; the database is the platform's."""
    is_shared: bool
    """True if several processes may use it at once."""


class UnknownVectorStoreError(InvalidInputError):
    """The settings name a vector store that does not exist."""


class MissingServerError(FlowXpertError):
    """Processes must share a store, and no server for it is configured."""


class LocalEmbedder(Embedder, Protocol):
    """An embedder that computes in this process."""

    def limit_threads(self, threads: int) -> None:
        """Set the number of threads for further embeddings; 0 takes one per core."""


def open_embedder(
    settings: PlatformSettings, choice: EmbedderChoice | None = None
) -> LocalEmbedder:
    """Open the embedder for queries, or the chosen one; its missing file is made first.

    Raises:
        NoModelFileError: The file is missing and cannot be made here.
        MissingTorchError: It computes on torch, which is not installed.
    """
    choice_or_default = choice or settings.embedder
    if choice_or_default is EmbedderChoice.TORCH:
        return SentenceTransformerEmbedder(threads=settings.embedding_threads)
    from services.knowledge.embedding.onnx_embedder import OnnxEmbedder  # noqa: PLC0415
    from services.knowledge.embedding.onnx_model import ensure_model_file  # noqa: PLC0415

    is_int8 = choice_or_default is EmbedderChoice.ONNX_INT8
    path = settings.embedder_path(choice_or_default)
    ensure_model_file(path, is_int8=is_int8)
    return OnnxEmbedder(path, is_int8=is_int8, threads=settings.embedding_threads)


def open_graph(settings: PlatformSettings, database: Database, closing: ExitStack) -> GraphStore:
    """Open the graph server that the settings name, or else tables in the database.

    Raises:
        StoreUnavailableError: The server did not answer.
    """
    if settings.neo4j_url is None:
        return with_timing_of_graph(SqlGraphStore(database))
    from services.knowledge.stores.neo4j import Neo4jGraphStore  # noqa: PLC0415

    graph = Neo4jGraphStore.connect(
        settings.neo4j_url,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
    )
    closing.callback(graph.close)
    return with_timing_of_graph(graph)


def open_vectors(
    settings: PlatformSettings,
    database: Database,
    dimensions: int,
    closing: ExitStack,
    *,
    shared: bool = False,
) -> VectorStore:
    """Open the vector store that the settings name, or else Qdrant: its server or a local folder.

    `shared` says that other processes use it too.

    Raises:
        UnknownVectorStoreError: They name one that is not in `VECTOR_STORES`.
        MissingServerError: Processes cannot share it.
        StoreUnavailableError: The server did not answer, or another process has the folder.
    """
    name = settings.vectors or ("qdrant" if settings.qdrant_url else "qdrant-edge")
    kind = VECTOR_STORES.get(name)
    if kind is None:
        raise UnknownVectorStoreError(
            f"FLOWXPERT_VECTORS is {name!r}; known are {', '.join(VECTOR_STORES)}"
        )
    if shared and not kind.is_shared:
        able = ", ".join(each for each, kind in VECTOR_STORES.items() if kind.is_shared)
        raise MissingServerError(
            f"processes cannot share the vector store {name!r}: set FLOWXPERT_QDRANT_URL, or"
            f" FLOWXPERT_VECTORS to one that they can: {able}"
        )
    vectors = kind.open(settings, database, dimensions)
    closing.callback(vectors.close)
    return with_timing_of_vectors(vectors)


def _qdrant(settings: PlatformSettings, _database: Database, dimensions: int) -> VectorStore:
    from services.knowledge.settings import QdrantSettings  # noqa: PLC0415
    from services.knowledge.stores.qdrant import QdrantVectorStore  # noqa: PLC0415

    if settings.qdrant_url is None:
        raise MissingServerError("the vector store 'qdrant' is a server: set FLOWXPERT_QDRANT_URL")
    key = settings.qdrant_api_key
    return QdrantVectorStore.connect(
        settings.qdrant_url,
        dimensions,
        api_key=key.get_secret_value() if key else None,
        settings=QdrantSettings(),
    )


def _qdrant_edge(settings: PlatformSettings, _database: Database, dimensions: int) -> VectorStore:
    from services.knowledge.stores.qdrant_edge import QdrantEdgeVectorStore  # noqa: PLC0415

    return QdrantEdgeVectorStore(settings.data_dir.resolve() / "vectors", dimensions)


VECTOR_STORES = {
    "qdrant-edge": VectorStoreKind(_qdrant_edge, is_shared=False),
    "qdrant": VectorStoreKind(_qdrant, is_shared=True),
    "pgvector": VectorStoreKind(open_pgvector, is_shared=True),
}
"""Vector stores by the names that `FLOWXPERT_VECTORS` accepts."""


def store_checks(graph: GraphStore, vectors: VectorStore) -> dict[str, Check]:
    """Return health checks of the graph and the vector store."""

    def check_graph() -> None:
        graph.count()

    def check_vectors() -> None:
        vectors.count("chunks")

    return {"graph": check_graph, "vectors": check_vectors}
