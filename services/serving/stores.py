"""What a service shares with others, opened when it is asked for."""

from contextlib import ExitStack
from functools import cached_property
from typing import TypeVar

from pydantic import SecretStr

from services.kit.access.access import Access
from services.kit.http.client import ServiceClient
from services.kit.http.health import Check
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.ports import GraphStore, VectorStore
from services.llm.guard import GuardedChatModel
from services.llm.open import open_chat_model
from services.llm.settings import ModelSettings
from services.stores import (
    MissingServerError,
    open_embedder,
    open_graph,
    open_vectors,
    store_checks,
)

Url = TypeVar("Url", str, SecretStr)

ANSWER_WITHIN_S = 30.0
"""Longest that a service may take for what needs no language model."""


class SharedStores:
    """The servers that the settings name; whoever made it closes `closing`.

    Each property may raise `MissingServerError` or `UnavailableError` when it is first asked for.
    """

    def __init__(self, name: str, settings: PlatformSettings, closing: ExitStack) -> None:
        """`name` is the process, for messages."""
        self._name = name
        self.settings = settings
        self._closing = closing

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """The embedder, with a cache of its own."""
        return CachedEmbedder(open_embedder(self.settings), self.settings.resolved_embedding_cache)

    @cached_property
    def document_embedder(self) -> CachedEmbedder:
        """The embedder of documents, with the same cache."""
        model = open_embedder(self.settings, self.settings.document_embedder)
        return CachedEmbedder(model, self.settings.resolved_embedding_cache)

    @property
    def has_embedder(self) -> bool:
        """Whether somebody asked for it."""
        return "embedder" in self.__dict__

    @cached_property
    def model(self) -> GuardedChatModel | None:
        """The language model, where there is one."""
        return open_chat_model(ModelSettings(), self.settings.data_dir / "models")

    @cached_property
    def database(self) -> Database:
        """The database, brought to the newest revision."""
        self._require(self.settings.database_url, "FLOWXPERT_DATABASE_URL")
        database = Database(self.settings.resolved_database_url)
        self._closing.callback(database.close)
        database.migrate(*ROOMS)
        return database

    @cached_property
    def outbox(self) -> Outbox:
        """The tasks that the database holds."""
        return Outbox(self.database, lease_s=self.settings.task_lease_s)

    @cached_property
    def vectors(self) -> VectorStore:
        """The vector store."""
        return open_vectors(
            self.settings, self.database, self.embedder.dimensions, self._closing, shared=True
        )

    @cached_property
    def graph(self) -> GraphStore:
        """The knowledge graph; tables of the database where no server is named."""
        return open_graph(self.settings, self.database, self._closing)

    @property
    def access(self) -> Access:
        """Who may call, with the keys that the database holds."""
        return Access.of(self.settings, self.database)

    def broker_url(self) -> str:
        """Where tasks wait."""
        return self._require(self.settings.redis_url, "FLOWXPERT_REDIS_URL").get_secret_value()

    def knowledge_checks(self) -> dict[str, Check]:
        """Questions to the stores that knowledge is kept in."""
        return store_checks(self.graph, self.vectors)

    def model_check(self) -> dict[str, Check]:
        """The question whether the language model answers, where there is one."""
        return {"model": self.model.check} if self.model else {}

    def client(
        self, url: str, timeout_s: float = ANSWER_WITHIN_S, *, passes_on: bool = False
    ) -> ServiceClient:
        """Another service of the platform."""
        key = self.settings.api_key
        client = ServiceClient(
            url, api_key=key, timeout_s=timeout_s, internal=True, passes_on=passes_on
        )
        return self._closing.enter_context(client)

    def _require(self, url: Url | None, variable: str) -> Url:
        """What processes share is a server."""
        if url is None:
            raise MissingServerError(
                f"{self._name} shares a store with other processes: set {variable}"
            )
        return url
