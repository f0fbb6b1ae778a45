"""What a process keeps things in and computes with, opened when it is first asked for."""

import threading
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from pydantic import SecretStr

from services.kit.access.access import Access
from services.kit.data_dir import own_data_dir
from services.kit.garbage import keep_collections_short
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
from services.stores import (
    LocalEmbedder,
    MissingServerError,
    open_embedder,
    open_graph,
    open_vectors,
    store_checks,
)

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
        """`is_alone`: no other process shares the stores, so that those in the folder will do.

        `name` is the process, for messages; `model` stands for the one that the settings name.

        Raises:
            DataDirInUseError: Another process owns the data folder.
        """
        self.settings = settings
        self.is_alone = is_alone
        self._name = name
        self._model = model
        self._closing = ExitStack()
        self.folder: Path = self._closing.enter_context(own_data_dir(settings.data_dir.resolve()))
        self._embedders: dict[EmbedderChoice, LocalEmbedder] = {}

    def shared_folder(self, room: str) -> Path:
        """Where the room's processes on this host share files: beside the folder of each."""
        return self.folder if self.is_alone else self.folder.parent / room

    @cached_property
    def database(self) -> Database:
        """The database, brought to the newest revision."""
        self._require(self.settings.database_url, "FLOWXPERT_DATABASE_URL")
        database = Database(self.settings.resolved_database_url)
        self._closing.callback(database.close)
        database.migrate(*ROOMS)
        return database

    @property
    def has_database(self) -> bool:
        """Whether there is one for this process."""
        return self.is_alone or self.settings.database_url is not None

    @cached_property
    def outbox(self) -> Outbox:
        """The tasks that the database holds."""
        return Outbox(self.database, lease_s=self.settings.task_lease_s)

    @cached_property
    def documents(self) -> SqlDocumentStore:
        """The documents' text."""
        return SqlDocumentStore(self.database)

    @cached_property
    def graph(self) -> GraphStore:
        """The knowledge graph; tables of the database where no server is named."""
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
        """Of queries, which hardly ever come twice: nothing is remembered."""
        return self._embedder(self.settings.embedder)

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """Of tickets and steps, with a memory."""
        return CachedEmbedder(self.query_embedder, self.settings.resolved_embedding_cache)

    @cached_property
    def document_embedder(self) -> CachedEmbedder:
        """Of documents, with the same memory."""
        model = self._embedder(self.settings.document_embedder)
        return CachedEmbedder(model, self.settings.resolved_embedding_cache)

    @cached_property
    def model(self) -> GuardedChatModel | None:
        """The language model, where there is one."""
        if self._model is not None:
            return self._model
        return open_chat_model(ModelSettings(), self.settings.data_dir.resolve() / "models")

    @property
    def shared_model(self) -> GuardedChatModel | None:
        """The model, unless a file of weights would be loaded once more beside another process."""
        return self.model if self.is_alone or ModelSettings().url else None

    @property
    def access(self) -> Access:
        """Who may call, with the keys that the database holds."""
        return Access.of(self.settings, self.database)

    def broker_url(self) -> str | None:
        """Where tasks wait; None where nobody else works on them, and no server is named."""
        self._require(self.settings.redis_url, "FLOWXPERT_REDIS_URL")
        return self.settings.redis_url.get_secret_value() if self.settings.redis_url else None

    def knowledge_checks(self) -> dict[str, Check]:
        """Questions to the stores that knowledge is kept in."""
        return store_checks(self.graph, self.vectors)

    def model_check(self) -> dict[str, Check]:
        """The question whether the language model answers, where there is one."""
        return {"model": self.model.check} if self.model else {}

    def limit_embedding_threads(self, threads: int) -> None:
        """Leave cores to whatever else is at work in this process."""
        for choice in (self.settings.embedder, self.settings.document_embedder):
            self._embedder(choice).limit_threads(threads)

    def warm_up(self) -> None:
        """Load the model of queries, if any room asked for it, before the first one comes."""
        if self._embedders:
            warming = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)
            warming.start()
            # The model must not be at work when the interpreter ends.
            self._closing.callback(warming.join)

    def close(self) -> None:
        """End what was opened, in reverse order, and give the folder back."""
        self._closing.close()

    def _warm_up(self) -> None:
        self.query_embedder.embed([_WARM_UP_TEXT])
        keep_collections_short()

    def _embedder(self, choice: EmbedderChoice) -> LocalEmbedder:
        if choice not in self._embedders:
            self._embedders[choice] = open_embedder(self.settings, choice)
        return self._embedders[choice]

    def _require(self, url: str | SecretStr | None, variable: str) -> None:
        """What processes share is a server."""
        if url is None and not self.is_alone:
            raise MissingServerError(
                f"{self._name} shares a store with other processes: set {variable}"
            )
