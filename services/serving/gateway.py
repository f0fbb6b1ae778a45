"""The gateway in a process of its own."""

from functools import cached_property

from fastapi import FastAPI

from services.contracts.addresses import AddressSettings
from services.contracts.ingestion import IngestionClient
from services.contracts.planner import PlannerClient
from services.contracts.readings import ReadingsClient
from services.contracts.retrieval import RetrievalClient
from services.contracts.scorer import ScorerClient
from services.contracts.syncing import SyncingClient
from services.gateway.app import create_app
from services.gateway.knowledge import Knowledge
from services.gateway.settings import GatewaySettings
from services.gateway.triage.desk import TriageDesk
from services.gateway.work import GatewayWork
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.settings import WriteBackSettings
from services.ingestion.app import body_limits
from services.ingestion.endpoints import create_router
from services.ingestion.readings.endpoints import create_readings_router
from services.ingestion.settings import IngestionSettings
from services.ingestion.sync.endpoints import create_sync_router
from services.kit.http.health import Check
from services.kit.queue.periodic import Periodic
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
                create_sync_router(SyncingClient(at_ingestion)),
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

    def register(self) -> None:
        """See `process.Room.register`."""
        self._work.register()

    def periodic(self) -> tuple[Periodic | None, ...]:
        """See `process.Room.periodic`."""
        return self._work.periodic()

    @cached_property
    def _work(self) -> GatewayWork:
        return GatewayWork(
            self._settings,
            self._stores.database,
            self._stores.outbox,
            retrieval=self._retrieval,
            planner=PlannerClient(self._others["planner"]),
            scorer=ScorerClient(self._others["scorer"]),
            ingestion=IngestionClient(self._others["ingestion"]),
            triage=self._triage,
            write_back=self._write_back,
            model=self._model,
        )
