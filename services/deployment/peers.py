"""Implementations of `Peers`: rooms in this process, or services over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from services.contracts.addresses import AddressSettings
from services.contracts.composing import CompositionsClient
from services.contracts.execution import ExecutionClient
from services.contracts.gateway import Tickets, TicketsClient
from services.contracts.ingestion import IngestionClient
from services.contracts.planner import PlannerClient
from services.contracts.proposals import ProposalsClient
from services.contracts.readings import Readings, ReadingsClient
from services.contracts.retrieval import RetrievalClient
from services.contracts.scorer import ScorerClient
from services.contracts.searching import SearchesClient
from services.contracts.summaries import SummariesClient
from services.contracts.syncing import SyncSourcesClient
from services.deployment.rooms import frontends_of
from services.executor.room import ROOM as EXECUTOR
from services.gateway.room import ROOM as GATEWAY
from services.ingestion.room import ROOM as INGESTION
from services.kit.access.caller import Caller
from services.kit.http.client import ServiceClient
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings
from services.planner.room import ROOM as PLANNER
from services.retrieval.room import ROOM as RETRIEVAL
from services.room.descriptor import Room, RunningRoom
from services.room.peers import Frontend
from services.room.stores import Stores
from services.scorer.room import ROOM as SCORER

if TYPE_CHECKING:
    from services.execution.service import ExecutorService
    from services.gateway.parts import GatewayParts
    from services.ingestion.proposals.service import ProposalService
    from services.ingestion.service import IngestionService
    from services.ingestion.sync.service import SyncService
    from services.investigation.search.service import SearchService
    from services.investigation.summary.service import SummaryService
    from services.planner.composing.composer import Composer
    from services.planner.service import PlannerService
    from services.retrieval.service import RetrievalService
    from services.scorer.service import ScorerService

ANSWER_WITHIN_S = 30.0
"""Longest that a service may take for what needs no language model."""

S = TypeVar("S")


class LocalPeers:
    """Rooms on the same stores, each built on first use."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._open: dict[str, RunningRoom[Any]] = {}

    def open_room(self, room: Room[S]) -> RunningRoom[S]:
        """Return the room, which is built once."""
        if room.name not in self._open:
            self._open[room.name] = room.build(self._stores, self)
        return self._open[room.name]

    @property
    def gateway(self) -> GatewayParts:
        return self.open_room(GATEWAY).service

    @property
    def ingestion(self) -> IngestionService:
        return self.open_room(INGESTION).service.service

    @property
    def readings(self) -> Callable[[Caller], Readings]:
        return lambda caller: self.ingestion.readings(caller.name)

    @property
    def proposals(self) -> ProposalService:
        return self.open_room(INGESTION).service.proposals

    @property
    def syncing(self) -> SyncService:
        return self.open_room(INGESTION).service.syncs

    @property
    def retrieval(self) -> RetrievalService:
        return self.open_room(RETRIEVAL).service

    @property
    def planner(self) -> PlannerService:
        return self.open_room(PLANNER).service.planner

    @property
    def composing(self) -> Composer:
        return self.open_room(PLANNER).service.composer

    @property
    def scorer(self) -> ScorerService:
        return self.open_room(SCORER).service

    @property
    def tickets(self) -> Tickets:
        return self.gateway.run_notes

    @property
    def execution(self) -> ExecutorService:
        return self.open_room(EXECUTOR).service.execution

    @property
    def searching(self) -> SearchService:
        return self.open_room(EXECUTOR).service.searching

    @property
    def summaries(self) -> SummaryService:
        return self.open_room(EXECUTOR).service.summaries

    @property
    def frontends(self) -> tuple[Frontend, ...]:
        return frontends_of(self)

    def in_callers_name(self) -> Self:
        return self  # the gate has let the caller in

    def within(self, seconds: float) -> Self:  # noqa: ARG002 - a call is not broken off
        return self

    def checks(self) -> dict[str, Check]:
        return self._stores.knowledge_checks()


def _client_of(make: Callable[[ServiceClient], S], service: str) -> cached_property[S]:
    """Return a property of `RemotePeers`: the client of a contract, made on first use."""
    return cached_property(lambda peers: make(peers._client(service)))


class RemotePeers:
    """Services at the addresses of the settings; the owner of `closing` closes the clients."""

    ingestion = _client_of(IngestionClient, "ingestion")
    proposals = _client_of(ProposalsClient, "ingestion")
    syncing = _client_of(SyncSourcesClient, "ingestion")
    retrieval = _client_of(RetrievalClient, "retrieval")
    planner = _client_of(PlannerClient, "planner")
    composing = _client_of(CompositionsClient, "planner")
    scorer = _client_of(ScorerClient, "scorer")
    tickets = _client_of(TicketsClient, "gateway")
    execution = _client_of(ExecutionClient, "executor")
    searching = _client_of(SearchesClient, "executor")
    summaries = _client_of(SummariesClient, "executor")

    def __init__(
        self,
        addresses: AddressSettings,
        settings: PlatformSettings,
        closing: ExitStack,
        *,
        within_s: float = ANSWER_WITHIN_S,
        passes_on: bool = False,
    ) -> None:
        """Set up the clients; with `passes_on` they send the caller's own credentials."""
        self._addresses = addresses
        self._settings = settings
        self._closing = closing
        self._within_s = within_s
        self._passes_on = passes_on

    @cached_property
    def readings(self) -> Callable[[Caller], Readings]:
        client = ReadingsClient(self._client("ingestion"))
        return lambda _caller: client

    @property
    def frontends(self) -> tuple[Frontend, ...]:
        return frontends_of(self)

    def in_callers_name(self) -> RemotePeers:
        return RemotePeers(self._addresses, self._settings, self._closing, passes_on=True)

    def within(self, seconds: float) -> RemotePeers:
        return RemotePeers(self._addresses, self._settings, self._closing, within_s=seconds)

    def checks(self) -> dict[str, Check]:
        names = ("retrieval", "planner", "scorer", "ingestion", "executor")
        return {name: self._client(name).check for name in names}

    def _client(self, name: str) -> ServiceClient:
        client = ServiceClient(
            getattr(self._addresses, f"{name}_url"),
            api_key=self._settings.api_key,
            timeout_s=self._within_s,
            internal=True,
            passes_on=self._passes_on,
        )
        return self._closing.enter_context(client)
