"""One service in this process, the others over HTTP: what `flowxpert serve` runs on."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Self, TypeVar

from celery import Celery
from fastapi import FastAPI
from pydantic import SecretStr

from services.contracts.addresses import AddressSettings, Service
from services.contracts.ingestion import IngestionClient
from services.contracts.planner import PlannerClient
from services.contracts.readings import ReadingsClient
from services.contracts.retrieval import RetrievalClient
from services.contracts.scorer import ScorerClient
from services.contracts.syncing import SyncingClient
from services.embedded import WARM_UP_TEXT
from services.gateway import tasks as gateway_tasks
from services.gateway.app import create_app as create_gateway
from services.gateway.app import create_comment_reader, create_walk, create_wording
from services.gateway.archiving import Archiving
from services.gateway.settings import GatewaySettings
from services.gateway.triage.desk import TriageDesk
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.settings import WriteBackSettings
from services.ingestion import tasks as ingestion_tasks
from services.ingestion.app import body_limits
from services.ingestion.app import create_app as create_ingestion
from services.ingestion.endpoints import create_router as create_ingestion_router
from services.ingestion.readings.endpoints import create_readings_router
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings
from services.ingestion.sync.endpoints import create_sync_router
from services.ingestion.sync.service import SyncService
from services.ingestion.sync.settings import SyncSettings
from services.kit.access.access import Access
from services.kit.app import Check
from services.kit.data_dir import own_data_dir
from services.kit.database import Database
from services.kit.errors import FlowXpertError
from services.kit.http import ServiceClient
from services.kit.migrations import ROOMS
from services.kit.outbox import Outbox
from services.kit.periodic import Periodic
from services.kit.queue import WorkerThread, create_queue
from services.kit.relay import Relay
from services.kit.server import give_way_quickly
from services.kit.settings import PlatformSettings
from services.kit.workforce import Workforce, Working
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.ports import GraphStore, VectorStore
from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.llm.guard import GuardedChatModel
from services.llm.open import open_chat_model
from services.llm.settings import ModelSettings
from services.planner.app import create_app as create_planner
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.procedure.ports import AnswerStore
from services.procedure.store.sql_answers import SqlAnswerStore
from services.procedure.store.sql_readings import SqlReadingStore
from services.retrieval.app import create_app as create_retrieval
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings
from services.scorer.app import create_app as create_scorer
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.stores import open_embedder, open_graph, open_vectors

Url = TypeVar("Url", str, SecretStr)

ANSWER_WITHIN_S = 30.0
"""Longest that a service may take for what needs no language model."""


class MissingServerError(FlowXpertError):
    """Processes must share a store, and no server for it is configured."""


class Serving(Working):
    """One service with the stores it needs; close it, or use it as a context.

    It owns the folder named after it in the data folder.
    """

    def __init__(
        self,
        service: Service,
        settings: PlatformSettings,
        addresses: AddressSettings | None = None,
    ) -> None:
        """Opens the stores.

        Raises:
            DataDirInUseError: Another process owns the folder.
            MissingServerError: The service shares a store whose address is not set.
            UnavailableError: A server that the settings name did not answer.
        """
        folder = settings.data_dir.resolve() / service
        self.settings = settings.model_copy(update={"data_dir": folder})
        self._addresses = addresses or AddressSettings()
        self._closing = ExitStack()
        self._queue: Celery | None = None
        self._periodic: Periodic | None = None
        self._service = service
        create: dict[Service, Callable[[], FastAPI]] = {
            Service.GATEWAY: self._gateway,
            Service.INGESTION: self._ingestion,
            Service.RETRIEVAL: self._retrieval,
            Service.PLANNER: self._planner,
            Service.SCORER: self._scorer,
        }
        with ExitStack() as opening:
            opening.callback(self.close)
            self._closing.enter_context(own_data_dir(folder))
            self.app = create[service]()
            opening.pop_all()

    def start(self) -> None:
        """Begin to work on this service's queue, where it has one.

        Raises:
            QueueUnavailableError: The broker did not answer.
        """
        give_way_quickly()
        if "embedder" in self.__dict__:
            threading.Thread(
                target=self.embedder.embed, args=([WARM_UP_TEXT],), name="warm-up", daemon=True
            ).start()
        if self._queue is None:
            return
        is_gateway = self._service is Service.GATEWAY
        self._workforce = Workforce(
            self._outbox,
            (WorkerThread(self._queue, self._service.value),),
            Relay(self._outbox, self._queue, sole=False),
            gateway_tasks.purging(self._database, GatewaySettings()) if is_gateway else None,
            self._periodic,
            stop_within_s=self.settings.stop_within_s,
        )
        self._closing.callback(self._workforce.stop)
        self._workforce.start()

    def close(self) -> None:
        """End what was started, in reverse order."""
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

    def _gateway(self) -> FastAPI:
        settings = GatewaySettings()
        retrieval = RetrievalClient(self._client(self._addresses.retrieval_url))
        patience_s = settings.model_within_s + ANSWER_WITHIN_S
        write_back = WriteBack(WriteBackSettings(), self._database, self._outbox)
        triage = TriageDesk(self._database, self._graph, self.embedder, settings, model=self._model)
        # A file of weights is not loaded once more here: only a server words questions.
        model = self._model if ModelSettings().url else None
        walk = create_walk(
            settings,
            database=self._database,
            outbox=self._outbox,
            retrieval=retrieval,
            planner=PlannerClient(self._client(self._addresses.planner_url, patience_s)),
            scorer=ScorerClient(self._client(self._addresses.scorer_url, patience_s)),
            write_back=write_back,
            triage=triage,
            model=model,
        )
        wording = create_wording(
            settings,
            database=self._database,
            outbox=self._outbox,
            write_back=write_back,
            model=model,
        )
        queue = self._open_queue()
        gateway_tasks.register_tasks(queue, self._outbox, walk, write_back, wording)
        reader = create_comment_reader(
            settings,
            database=self._database,
            outbox=self._outbox,
            write_back=write_back,
            model=model,
        )
        gateway_tasks.register_comments(queue, self._outbox, reader)
        archiving = Archiving(
            self._database,
            self._outbox,
            IngestionClient(self._client(self._addresses.ingestion_url)),
            is_on=settings.archive_resolved,
        )
        gateway_tasks.register_learning(queue, self._outbox, triage, archiving)
        at_ingestion = self._client(self._addresses.ingestion_url, passes_on=True)
        return create_gateway(
            settings,
            self.settings,
            database=self._database,
            outbox=self._outbox,
            retrieval=retrieval,
            triage=triage,
            write_back=write_back,
            routers=[
                create_ingestion_router(IngestionClient(at_ingestion)),
                create_sync_router(SyncingClient(at_ingestion)),
                create_readings_router(lambda _caller: ReadingsClient(at_ingestion)),
            ],
            body_limits=body_limits(IngestionSettings()),
            checks={"queue": self.check_queue},
            model=model,
        )

    def _ingestion(self) -> FastAPI:
        settings, sync_settings = IngestionSettings(), SyncSettings()
        service = IngestionService(
            database=self._database,
            documents=SqlDocumentStore(self._database),
            vectors=self._vectors,
            graph=self._graph,
            embedder=self._document_embedder,
            case_embedder=self.embedder,
            outbox=self._outbox,
            work_dir=self.settings.data_dir,
            settings=settings,
            tells_syncs=sync_settings.callback_url is not None,
        )
        syncs = SyncService(
            self._database,
            self._outbox,
            service,
            folder=self.settings.data_dir / "repositories",
            settings=sync_settings,
        )
        service.tell_outdated()
        queue = self._open_queue()
        self._periodic = ingestion_tasks.register(self._outbox, queue, service, syncs)
        return create_ingestion(
            self.settings,
            service=service,
            syncs=syncs,
            readings=lambda caller: service.readings(caller.name),
            ingestion_settings=settings,
            access=self._access,
            checks={**self._checks(), "queue": self.check_queue},
        )

    def _retrieval(self) -> FastAPI:
        service = RetrievalService(
            self._vectors,
            self._graph,
            SqlDocumentStore(self._database),
            self.embedder,
            RetrievalSettings(),
            readings=SqlReadingStore(self._database),
            archive=SqlCaseArchive(self._database),
        )
        return create_retrieval(
            self.settings, service=service, access=self._access, checks=self._checks()
        )

    def _planner(self) -> FastAPI:
        model = self._model
        service = PlannerService(
            PlannerSettings(), model=model, embedder=self.embedder if model else None
        )
        return create_planner(self.settings, service=service)

    def _scorer(self) -> FastAPI:
        service = ScorerService(
            self.embedder, ScorerSettings(), model=self._model, answers=self._answers()
        )
        return create_scorer(self.settings, service=service)

    def _answers(self) -> AnswerStore | None:
        """Where a judge's answers are kept with the readings; None where no database is named."""
        has_any = self._model and self.settings.database_url
        return SqlAnswerStore(self._database) if has_any else None

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """The embedder, opened when a service asks for it."""
        return CachedEmbedder(open_embedder(self.settings), self.settings.resolved_embedding_cache)

    @cached_property
    def _document_embedder(self) -> CachedEmbedder:
        model = open_embedder(self.settings, self.settings.document_embedder)
        return CachedEmbedder(model, self.settings.resolved_embedding_cache)

    @cached_property
    def _model(self) -> GuardedChatModel | None:
        return open_chat_model(ModelSettings(), self.settings.data_dir / "models")

    @cached_property
    def _database(self) -> Database:
        self._require(self.settings.database_url, "FLOWXPERT_DATABASE_URL")
        database = Database(self.settings.resolved_database_url)
        self._closing.callback(database.close)
        database.migrate(*ROOMS)
        return database

    @cached_property
    def _outbox(self) -> Outbox:
        return Outbox(self._database, lease_s=self.settings.task_lease_s)

    @cached_property
    def _vectors(self) -> VectorStore:
        self._require(self.settings.qdrant_url, "FLOWXPERT_QDRANT_URL")
        return open_vectors(self.settings, self.embedder.dimensions, self._closing)

    @cached_property
    def _graph(self) -> GraphStore:
        return open_graph(self.settings, self._database, self._closing)

    def _checks(self) -> dict[str, Check]:
        """Questions to the stores that knowledge is kept in."""
        graph, vectors = self._graph, self._vectors

        def check_graph() -> None:
            graph.count()

        def check_vectors() -> None:
            vectors.count("chunks")

        return {"database": self._database.check, "graph": check_graph, "vectors": check_vectors}

    def _open_queue(self) -> Celery:
        url = self._require(self.settings.redis_url, "FLOWXPERT_REDIS_URL")
        self._queue = create_queue(url.get_secret_value())
        return self._queue

    def _require(self, url: Url | None, variable: str) -> Url:
        """What processes share is a server."""
        if url is None:
            raise MissingServerError(
                f"{self._service} shares a store with other processes: set {variable}"
            )
        return url

    @property
    def _access(self) -> Access:
        return Access.of(self.settings, self._database)

    def _client(
        self, url: str, timeout_s: float = ANSWER_WITHIN_S, *, passes_on: bool = False
    ) -> ServiceClient:
        key = self.settings.api_key
        client = ServiceClient(
            url, api_key=key, timeout_s=timeout_s, internal=True, passes_on=passes_on
        )
        return self._closing.enter_context(client)
