"""All rooms in one process: what `flowxpert up`, `ingest` and `bench` run on."""

from functools import cached_property

from fastapi import FastAPI

from services.deployment.peers import LocalPeers
from services.deployment.process import Process
from services.deployment.rooms import ROOMS
from services.gateway.room import ROOM as GATEWAY
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import Periodic
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.ports import GraphStore, VectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.learning.service import SiteLearning
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel, guard_model
from services.room.stores import Stores

SERVING_THREADS = 1
"""Threads of the model while requests are served. One query takes 12 ms on one, 9 ms on two idle
cores, and 150 ms on two busy ones, where the two wait for each other at every layer."""


_LEARNS_AFTER_S = 300.0
"""Delay of the first learning run, so that start-up work is finished by then."""


class Embedded(Process, LocalPeers):
    """The rooms on embedded stores, or on servers where the settings name them.

    Opening it takes the data folder for this process and migrates the database; a room is built
    when it is first asked for. Work from the queue is done between `start` and `close` only.
    """

    def __init__(self, settings: PlatformSettings, *, model: ChatModel | None = None) -> None:
        """Open stores and rooms; close it, or use it as a context.

        `model` stands for the one that the settings name.

        Raises:
            DataDirInUseError: Another process owns the data folder.
            UnavailableError: A server that the settings name did not answer.
        """
        stores = Stores(
            "flowxpert", settings, is_alone=True, model=guard_model(model) if model else None
        )
        Process.__init__(self, "flowxpert", stores)
        LocalPeers.__init__(self, stores)
        with self._closing.pop_all() as opening:
            for room in ROOMS:
                self.open_room(room)
            self._closing = opening.pop_all()

    @cached_property
    def app(self) -> FastAPI:
        """The gateway's app, which serves ingestion's routes too: one address for everything."""
        return self.open_room(GATEWAY).create_app({"queue": self.check_queue})

    @property
    def database(self) -> Database:
        """The database of all rooms."""
        return self._stores.database

    @property
    def outbox(self) -> Outbox:
        """The tasks of all rooms."""
        return self._stores.outbox

    @property
    def documents(self) -> SqlDocumentStore:
        """The documents' text."""
        return self._stores.documents

    @property
    def vectors(self) -> VectorStore:
        """The vector store."""
        return self._stores.vectors

    @property
    def graph(self) -> GraphStore:
        """The knowledge graph."""
        return self._stores.graph

    @property
    def embedder(self) -> CachedEmbedder:
        """The embedder of tickets and steps."""
        return self._stores.embedder

    @property
    def model(self) -> GuardedChatModel | None:
        """The language model, if one is configured."""
        return self._stores.model

    def embed_beside_others(self) -> None:
        """Leave cores to other work: use no more threads than requests need."""
        self._stores.limit_embedding_threads(self.settings.embedding_threads or SERVING_THREADS)

    def start(self) -> None:
        """Begin to work on what the queue holds, first of all what an earlier run left.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        rooms = {room: self.open_room(room) for room in ROOMS}
        for opened in rooms.values():
            if opened.begin is not None:
                opened.begin()
        self.embed_beside_others()
        self._begin()
        learning: list[Periodic] = []
        if hours := self.settings.learn_every_hours:
            work = SiteLearning.of(self.database).run
            learning += [
                Periodic("learning", work, every_s=hours * 3600, first_after_s=_LEARNS_AFTER_S)
            ]
        self._start_workers(rooms, beside=learning)
