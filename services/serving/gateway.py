"""The gateway in a process of its own."""

from functools import cached_property

from celery import Celery
from fastapi import FastAPI

from services.contracts.addresses import AddressSettings
from services.contracts.ingestion import IngestionClient
from services.contracts.planner import PlannerClient
from services.contracts.readings import ReadingsClient
from services.contracts.retrieval import RetrievalClient
from services.contracts.scorer import ScorerClient
from services.gateway import tasks
from services.gateway.adoption.doubting import Doubting
from services.gateway.app import create_app, create_comment_reader, create_walk, create_wording
from services.gateway.archiving import Archiving
from services.gateway.clarify.by_comment import CommentReader
from services.gateway.clarify.wording import Wording
from services.gateway.knowledge import Knowledge
from services.gateway.settings import GatewaySettings
from services.gateway.triage.desk import TriageDesk
from services.gateway.walk import Walk
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.settings import WriteBackSettings
from services.ingestion.app import body_limits
from services.ingestion.endpoints import create_router
from services.ingestion.readings.endpoints import create_readings_router
from services.ingestion.settings import IngestionSettings
from services.kit.health import Check
from services.kit.periodic import Periodic
from services.llm.guard import GuardedChatModel
from services.llm.settings import ModelSettings
from services.serving.stores import ANSWER_WITHIN_S, SharedStores


class GatewayRoom:
    """See `process.Room`."""

    def __init__(self, stores: SharedStores, addresses: AddressSettings) -> None:
        self._stores = stores
        self._addresses = addresses
        self._settings = GatewaySettings()
        self._write_back = WriteBack(WriteBackSettings(), stores.database, stores.outbox)
        patience_s = self._settings.model_within_s + ANSWER_WITHIN_S
        self._others = {
            "retrieval": stores.client(addresses.retrieval_url),
            "planner": stores.client(addresses.planner_url, patience_s),
            "scorer": stores.client(addresses.scorer_url, patience_s),
            "ingestion": stores.client(addresses.ingestion_url),
        }
        self._retrieval = RetrievalClient(self._others["retrieval"])
        self._triage = TriageDesk(
            stores.database, stores.graph, stores.embedder, self._settings, model=stores.model
        )

    @property
    def _model(self) -> GuardedChatModel | None:
        """A file of weights is not loaded once more here: only a server words questions."""
        return self._stores.model if ModelSettings().url else None

    def app(self, check_queue: Check) -> FastAPI:
        """See `process.Room.app`."""
        at_ingestion = self._stores.client(self._addresses.ingestion_url, passes_on=True)
        return create_app(
            self._settings,
            self._stores.settings,
            database=self._stores.database,
            outbox=self._stores.outbox,
            retrieval=self._retrieval,
            triage=self._triage,
            write_back=self._write_back,
            routers=[
                create_router(IngestionClient(at_ingestion)),
                create_readings_router(lambda _caller: ReadingsClient(at_ingestion)),
            ],
            body_limits=body_limits(IngestionSettings()),
            checks={"queue": check_queue},
            # Tickets are taken in and wait, whatever of these is away.
            optional={name: client.check for name, client in self._others.items()}
            | self._stores.model_check(),
            model=self._model,
            knowledge=Knowledge(
                IngestionClient(at_ingestion),
                lambda _caller: ReadingsClient(at_ingestion),
                self._retrieval,
            ),
        )

    def register(self, queue: Celery) -> None:
        """See `process.Room.register`."""
        outbox = self._stores.outbox
        tasks.register_tasks(queue, outbox, self._walk, self._write_back, self._wording)
        tasks.register_comments(queue, outbox, self._comment_reader)
        tasks.register_learning(queue, outbox, self._triage, self._archiving)
        tasks.register_doubts(queue, outbox, self._doubting)

    def periodic(self) -> tuple[Periodic | None, ...]:
        """See `process.Room.periodic`."""
        return (tasks.purging(self._stores.database, self._settings),)

    @cached_property
    def _walk(self) -> Walk:
        stores = self._stores
        return create_walk(
            self._settings,
            database=stores.database,
            outbox=stores.outbox,
            retrieval=self._retrieval,
            planner=PlannerClient(self._others["planner"]),
            scorer=ScorerClient(self._others["scorer"]),
            write_back=self._write_back,
            triage=self._triage,
            model=self._model,
        )

    @cached_property
    def _wording(self) -> Wording | None:
        return create_wording(
            self._settings,
            database=self._stores.database,
            outbox=self._stores.outbox,
            write_back=self._write_back,
            model=self._model,
        )

    @cached_property
    def _comment_reader(self) -> CommentReader:
        return create_comment_reader(
            self._settings,
            database=self._stores.database,
            outbox=self._stores.outbox,
            write_back=self._write_back,
            model=self._model,
        )

    @cached_property
    def _archiving(self) -> Archiving:
        return Archiving(
            self._stores.database,
            self._stores.outbox,
            IngestionClient(self._others["ingestion"]),
            is_on=self._settings.archive_resolved,
        )

    @cached_property
    def _doubting(self) -> Doubting:
        ingestion = IngestionClient(self._others["ingestion"])
        return Doubting(self._stores.database, self._stores.outbox, ingestion)
