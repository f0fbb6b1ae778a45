"""All services in one process: what `flowxpert up`, `ingest` and `bench` run on.

Nothing here decides anything about tickets; it opens stores and hands them to the services.
"""

import threading
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Self

import structlog
from fastapi import FastAPI

from services.gateway.app import create_app
from services.gateway.knowledge import Knowledge
from services.gateway.settings import GatewaySettings
from services.gateway.triage.desk import TriageDesk
from services.gateway.work import GatewayWork
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.settings import WriteBackSettings
from services.ingestion import tasks as ingestion_tasks
from services.ingestion.app import body_limits
from services.ingestion.endpoints import create_router
from services.ingestion.readings.endpoints import create_readings_router
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings
from services.ingestion.sync.endpoints import create_sync_router
from services.ingestion.sync.service import SyncService
from services.ingestion.sync.settings import SyncSettings
from services.kit.data_dir import own_data_dir
from services.kit.garbage import keep_collections_short
from services.kit.http.server import give_way_quickly
from services.kit.migrations import ROOMS
from services.kit.observability.trace_export import start_tracing
from services.kit.queue.outbox import Outbox
from services.kit.queue.periodic import Periodic
from services.kit.queue.worker import OutboxWorker
from services.kit.queue.workforce import Workforce, Working
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel, guarded
from services.llm.open import open_chat_model
from services.llm.settings import ModelSettings
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.procedure.store.sql_answers import SqlAnswerStore
from services.procedure.store.sql_readings import SqlReadingStore
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.stores import open_embedder, open_graph, open_vectors, store_checks

SERVING_THREADS = 1
"""Threads of the model while requests are served. One query takes 12 ms on one, 9 ms on two idle
cores, and 150 ms on two busy ones, where the two wait for each other at every layer."""

ROOMS_WITH_TASKS = ("gateway", "ingestion")

WARM_UP_TEXT = "interface down"

_log = structlog.get_logger()


class Embedded(Working):
    """The services on embedded stores, or on servers where the settings name them.

    Opening it takes the data folder for this process, migrates the database and opens the stores.
    Work from the queue is done between `start` and `close` only.
    """

    def __init__(self, settings: PlatformSettings, *, model: ChatModel | None = None) -> None:
        """Opens everything; see `open`."""
        self.settings = settings
        self.model = guarded(model) if model else _model_of(settings)
        self._closing = ExitStack()
        with ExitStack() as opening:
            self._open(opening)
            self._closing = opening.pop_all()

    @classmethod
    def open(cls, settings: PlatformSettings, *, model: ChatModel | None = None) -> Self:
        """Open stores and services; close it, or use it as a context.

        `model` stands for the one that the settings name.

        Raises:
            DataDirInUseError: Another process owns the data folder.
            UnavailableError: A server that the settings name did not answer.
        """
        return cls(settings, model=model)

    def _open(self, opening: ExitStack) -> None:
        settings = self.settings
        self.gateway_settings = GatewaySettings()
        self.ingestion_settings = IngestionSettings()
        sync_settings = SyncSettings()
        folder = opening.enter_context(own_data_dir(settings.data_dir.resolve()))
        self.database = Database(settings.resolved_database_url)
        opening.callback(self.database.close)
        self.database.migrate(*ROOMS)
        self.outbox = Outbox(self.database, lease_s=settings.task_lease_s)
        self.write_back = WriteBack(WriteBackSettings(), self.database, self.outbox)
        cache = settings.resolved_embedding_cache
        self._document_model = open_embedder(settings, settings.document_embedder)
        self._ticket_model = open_embedder(settings)
        self.embedder = CachedEmbedder(self._ticket_model, cache)
        self.documents = SqlDocumentStore(self.database)
        self.graph = open_graph(settings, self.database, opening)
        self.vectors = open_vectors(settings, self.database, self.embedder.dimensions, opening)
        self.ingestion = IngestionService(
            database=self.database,
            documents=self.documents,
            vectors=self.vectors,
            graph=self.graph,
            embedder=CachedEmbedder(self._document_model, cache),
            case_embedder=self.embedder,
            outbox=self.outbox,
            work_dir=self.ingestion_settings.work_dir or folder,
            settings=self.ingestion_settings,
            tells_syncs=sync_settings.callback_url is not None,
        )
        self.syncs = SyncService(
            self.database,
            self.outbox,
            self.ingestion,
            folder=folder / "repositories",
            settings=sync_settings,
        )
        self.retrieval = RetrievalService(
            self.vectors,
            self.graph,
            self.documents,
            self._ticket_model,
            RetrievalSettings(),
            readings=SqlReadingStore(self.database),
            archive=SqlCaseArchive(self.database),
        )
        self.triage = TriageDesk(
            self.database, self.graph, self.embedder, self.gateway_settings, model=self.model
        )
        self.planner = PlannerService(PlannerSettings(), model=self.model, embedder=self.embedder)
        self.scorer = ScorerService(
            self.embedder, ScorerSettings(), model=self.model, answers=SqlAnswerStore(self.database)
        )

    @cached_property
    def app(self) -> FastAPI:
        """The gateway's app, which answers for ingestion too: one address for everything."""
        return create_app(
            self.gateway_settings,
            self.settings,
            database=self.database,
            outbox=self.outbox,
            retrieval=self.retrieval,
            triage=self.triage,
            write_back=self.write_back,
            routers=[
                create_router(self.ingestion),
                create_sync_router(self.syncs),
                create_readings_router(lambda caller: self.ingestion.readings(caller.name)),
            ],
            body_limits=body_limits(self.ingestion_settings),
            checks={"queue": self.check_queue},
            optional={
                **store_checks(self.graph, self.vectors),
                **({"model": self.model.check} if self.model else {}),
            },
            model=self.model,
            knowledge=Knowledge(
                self.ingestion,
                lambda caller: self.ingestion.readings(caller.name),
                self.retrieval,
            ),
        )

    def embed_beside_others(self) -> None:
        """Leave cores to whatever else is at work: no more threads than requests need."""
        for model in (self._document_model, self._ticket_model):
            model.limit_threads(self.settings.embedding_threads or SERVING_THREADS)

    def start(self) -> None:
        """Begin to work on what the queue holds, first of all what an earlier run left.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        give_way_quickly()
        self._closing.enter_context(start_tracing("flowxpert", self.settings.otlp_endpoint))
        self.ingestion.tell_outdated()
        self.embed_beside_others()
        warming = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)
        warming.start()
        # The model must not be at work when the interpreter ends.
        self._closing.callback(warming.join)
        work = self._gateway_work()
        work.register()
        syncing = ingestion_tasks.register(self.outbox, self.ingestion, self.syncs)
        if self.settings.database_url is None:
            self.outbox.restart()  # nobody else works on it: claims of an earlier run are void
        self._workforce = self._create_workforce(*work.periodic(), syncing)
        self._closing.callback(self._workforce.stop)
        self._workforce.start()

    def _create_workforce(self, *periodic: Periodic | None) -> Workforce:
        """A worker for each room that has tasks; with a broker others may take some of them."""
        outbox, stop_within_s = self.outbox, self.settings.stop_within_s
        if self.settings.redis_url is None:
            direct = [OutboxWorker(outbox, room) for room in ROOMS_WITH_TASKS]
            return Workforce(outbox, direct, *periodic, stop_within_s=stop_within_s)
        from services.kit.queue.celery_queue import WorkerThread, create_queue  # noqa: PLC0415
        from services.kit.queue.relay import Relay  # noqa: PLC0415

        url = self.settings.redis_url.get_secret_value()
        woken = [WorkerThread(create_queue(url), room, outbox) for room in ROOMS_WITH_TASKS]
        relay = Relay(outbox, create_queue(url))
        return Workforce(outbox, woken, *periodic, stop_within_s=stop_within_s, relay=relay)

    def _gateway_work(self) -> GatewayWork:
        return GatewayWork(
            self.gateway_settings,
            self.database,
            self.outbox,
            retrieval=self.retrieval,
            planner=self.planner,
            scorer=self.scorer,
            ingestion=self.ingestion,
            triage=self.triage,
            write_back=self.write_back,
            model=self.model,
        )

    def _warm_up(self) -> None:
        """Load the model before the first ticket needs it; importing torch takes seconds."""
        self._ticket_model.embed([WARM_UP_TEXT])
        keep_collections_short()

    def close(self) -> None:
        """End what was started, in reverse order, and give the data folder back."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


def _model_of(settings: PlatformSettings) -> GuardedChatModel | None:
    return open_chat_model(ModelSettings(), settings.data_dir.resolve() / "models")
