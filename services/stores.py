"""The stores and the embedder that the settings name, for whichever process asks.

Each engine takes a while to import, and only one of each kind is needed: it is imported here when
it is opened.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Protocol

from services.kit.http.health import Check
from services.kit.settings import EmbedderChoice, PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import SentenceTransformerEmbedder
from services.knowledge.ports import Embedder, GraphStore, VectorStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.knowledge.stores.timed import timed_graph, timed_vectors

OpenVectors = Callable[[PlatformSettings, int], VectorStore | None]
"""Opens a store for vectors of this length; None where the settings do not name it."""


class LocalEmbedder(Embedder, Protocol):
    """An embedder that computes in this process."""

    def limit_threads(self, threads: int) -> None:
        """Threads for what is embedded from now on; 0 takes one per core."""


def open_embedder(
    settings: PlatformSettings, choice: EmbedderChoice | None = None
) -> LocalEmbedder:
    """An embedder, the one of queries unless another is chosen; its file is made where it misses.

    Raises:
        NoModelFileError: The file is missing and cannot be made here.
        MissingTorchError: It computes on torch, which is not installed.
    """
    chosen = choice or settings.embedder
    if chosen is EmbedderChoice.TORCH:
        return SentenceTransformerEmbedder(threads=settings.embedding_threads)
    from services.knowledge.embedding.onnx_embedder import OnnxEmbedder  # noqa: PLC0415
    from services.knowledge.embedding.onnx_model import obtain  # noqa: PLC0415

    is_int8 = chosen is EmbedderChoice.ONNX_INT8
    path = settings.embedder_path(chosen)
    obtain(path, is_int8=is_int8)
    return OnnxEmbedder(path, is_int8=is_int8, threads=settings.embedding_threads)


def open_graph(settings: PlatformSettings, database: Database, closing: ExitStack) -> GraphStore:
    """The server that the settings name, else tables in the database.

    Raises:
        StoreUnavailableError: The server did not answer.
    """
    if settings.neo4j_url is None:
        return timed_graph(SqlGraphStore(database))
    from services.knowledge.stores.neo4j import Neo4jGraphStore  # noqa: PLC0415

    graph = Neo4jGraphStore.connect(
        settings.neo4j_url,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
    )
    closing.callback(graph.close)
    return timed_graph(graph)


def open_vectors(settings: PlatformSettings, dimensions: int, closing: ExitStack) -> VectorStore:
    """The server that the settings name, else the embedded engine in the data folder.

    Raises:
        StoreUnavailableError: The server did not answer, or another process has the folder.
    """
    opened = (open_store(settings, dimensions) for open_store in VECTOR_STORES)
    vectors = next(filter(None, opened), None) or _embedded(settings, dimensions)
    closing.callback(vectors.close)
    return timed_vectors(vectors)


def _qdrant(settings: PlatformSettings, dimensions: int) -> VectorStore | None:
    if settings.qdrant_url is None:
        return None
    from services.knowledge.settings import QdrantSettings  # noqa: PLC0415
    from services.knowledge.stores.qdrant import QdrantVectorStore  # noqa: PLC0415

    key = settings.qdrant_api_key
    return QdrantVectorStore.connect(
        settings.qdrant_url,
        dimensions,
        api_key=key.get_secret_value() if key else None,
        settings=QdrantSettings(),
    )


def _embedded(settings: PlatformSettings, dimensions: int) -> VectorStore:
    from services.knowledge.stores.qdrant_edge import QdrantEdgeVectorStore  # noqa: PLC0415

    return QdrantEdgeVectorStore(settings.data_dir.resolve() / "vectors", dimensions)


VECTOR_STORES: tuple[OpenVectors, ...] = (_qdrant,)
"""The first that the settings name is opened, the embedded one where they name none."""


def store_checks(graph: GraphStore, vectors: VectorStore) -> dict[str, Check]:
    """Questions to the stores that knowledge is kept in."""

    def check_graph() -> None:
        graph.count()

    def check_vectors() -> None:
        vectors.count("chunks")

    return {"graph": check_graph, "vectors": check_vectors}
