"""Stores, embedders and model of a process, each opened on first use."""

import gc
import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from pydantic import SecretStr

from services.kit.access.access import Access
from services.kit.data_dir import own_data_dir
from services.kit.http.health import Check
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import EmbedderChoice, PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.ports import GraphStore, VectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.llm.guard import GuardedChatModel
from services.llm.open import open_chat_model
from services.llm.settings import ModelSettings
from services.room.open_stores import (
    LocalEmbedder,
    MissingServerError,
    open_embedder,
    open_graph,
    open_vectors,
    store_checks,
)


def freeze_after_full_collections() -> None:
    """Limit full collections to objects created since the previous one.

    A full collection otherwise walks through all that is loaded and cached, 50 to 200 ms during
    which nothing else runs. What survived a full collection is still freed when its last reference
    goes; only a cycle among such survivors that is dropped later stays, and caches hold no cycles.
    """
    gc.collect()
    gc.freeze()
    if _freeze_survivors not in gc.callbacks:
        gc.callbacks.append(_freeze_survivors)


def _freeze_survivors(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()


_WARM_UP_TEXT = "interface down"


class Stores:
    """The stores, embedders and model of one process, which owns `folder` until it is closed.

    Any property may raise `UnavailableError` when it is first asked for, and `MissingServerError`
    where other processes share what no server is named for.
    """

    def __init__(
        self,
        name: str,
        settings: PlatformSettings,
        *,
        is_alone: bool,
        model: GuardedChatModel | None = None,
    ) -> None:
        """Take the data folder; with `is_alone` no other process shares the stores.

        `name` is the process, for messages; `model` stands for the one that the settings name.

        Raises:
            DataDirInUseError: Another process owns the data folder.
        """
        self.settings = settings
        self.is_alone = is_alone
        self._name = name
        self._model = model
        self._closing = ExitStack()
        self.folder: Path = self._closing.enter_context(own_data_dir(settings.data_dir))
        self._embedders: dict[EmbedderChoice, LocalEmbedder] = {}

    def shared_folder(self, room: str) -> Path:
        """Return the folder that the room's processes on this host share, beside their own."""
        return self.folder if self.is_alone else self.folder.parent / room

    @cached_property
    def database(self) -> Database:
        """The database, migrated to the newest revision."""
        self._require(self.settings.database_url, "FLOWXPERT_DATABASE_URL")
        database = Database(self.settings.resolved_database_url)
        self._closing.callback(database.close)
        database.migrate(*ROOMS)
        return database

    @property
    def has_database(self) -> bool:
        """True if this process has a database."""
        return self.is_alone or self.settings.database_url is not None

    @cached_property
    def outbox(self) -> Outbox:
        """The tasks stored in the database."""
        return Outbox(self.database, lease_s=self.settings.task_lease_s)

    @cached_property
    def documents(self) -> SqlDocumentStore:
        """The texts of the documents."""
        return SqlDocumentStore(self.database)

    @cached_property
    def graph(self) -> GraphStore:
        """The knowledge graph; tables of the database if no server is configured."""
        return open_graph(self.settings, self.database, self._closing)

    @cached_property
    def vectors(self) -> VectorStore:
        """The vector store."""
        return open_vectors(
            self.settings,
            self.database,
            self.embedder.dimensions,
            self._closing,
            shared=not self.is_alone,
        )

    @property
    def query_embedder(self) -> LocalEmbedder:
        """The embedder of queries; it has no cache, because queries hardly ever repeat."""
        return self._embedder(self.settings.embedder)

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """The embedder of tickets and steps, with a cache."""
        return CachedEmbedder(self.query_embedder, self.settings.resolved_embedding_cache)

    @cached_property
    def document_embedder(self) -> CachedEmbedder:
        """The embedder of documents, with the same cache."""
        model = self._embedder(self.settings.document_embedder)
        return CachedEmbedder(model, self.settings.resolved_embedding_cache)

    @cached_property
    def model(self) -> GuardedChatModel | None:
        """The language model, if one is configured."""
        if self._model is not None:
            return self._model
        return open_chat_model(ModelSettings(), self.folder / "models")

    @property
    def shared_model(self) -> GuardedChatModel | None:
        """The model; None if its weights would be loaded a second time beside another process."""
        return self.model if self.is_alone or ModelSettings().url else None

    @property
    def access(self) -> Access:
        """Access control, with the keys stored in the database."""
        return Access.of(self.settings, self.database)

    def broker_url(self) -> str | None:
        """Return the broker's address; None if this process works alone and no broker is set."""
        self._require(self.settings.redis_url, "FLOWXPERT_REDIS_URL")
        return self.settings.redis_url.get_secret_value() if self.settings.redis_url else None

    def knowledge_checks(self) -> dict[str, Check]:
        """Return health checks of the graph and the vector store."""
        return store_checks(self.graph, self.vectors)

    def model_check(self) -> dict[str, Check]:
        """Return the health check of the language model, if there is one."""
        return {"model": self.model.check} if self.model else {}

    def limit_embedding_threads(self, threads: int) -> None:
        """Leave cores to the other work of this process."""
        for choice in (self.settings.embedder, self.settings.document_embedder):
            self._embedder(choice).limit_threads(threads)

    def warm_up(self) -> None:
        """Load the query model ahead of the first query, if any room has opened it."""
        if self._embedders:
            warming = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)
            warming.start()
            # The model must not be at work when the interpreter ends.
            self._closing.callback(warming.join)

    def close(self) -> None:
        """Close everything that was opened, in reverse order, and release the folder."""
        self._closing.close()

    def _warm_up(self) -> None:
        self.query_embedder.embed([_WARM_UP_TEXT])
        freeze_after_full_collections()

    def _embedder(self, choice: EmbedderChoice) -> LocalEmbedder:
        if choice not in self._embedders:
            self._embedders[choice] = open_embedder(self.settings, choice)
        return self._embedders[choice]

    def _require(self, url: str | SecretStr | None, variable: str) -> None:
        """Check that a store shared by processes is a server."""
        if url is None and not self.is_alone:
            raise MissingServerError(
                f"{self._name} shares a store with other processes: set {variable}"
            )
