"""The executor as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from services.execution.settings import ExecutorSettings, SearchSettings
from services.room.descriptor import (
    NO_SERVICE,
    Footprint,
    ProcessResources,
    Room,
    RunningRoom,
    Store,
)
from services.room.peers import Frontend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from sqlalchemy.orm import Session

    from services.execution.service import ExecutorService
    from services.investigation.search.service import SearchService
    from services.investigation.summary.service import SummaryService
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores


class ExecutorServices(NamedTuple):
    """Services of the executor that other rooms call."""

    execution: ExecutorService
    searching: SearchService
    summaries: SummaryService


def build(stores: Stores, peers: Peers) -> RunningRoom[ExecutorServices]:
    """Build the executor over its stores in SQL and the tools of its catalogue."""
    from services.execution.adapters.adapters import all_adapters
    from services.execution.approved_steps import DocumentTexts
    from services.execution.bindings.store import BindingStore
    from services.execution.runs.engine import RunEngine
    from services.execution.runs.store import ADVANCE_TASK, REPORT_TASK, RunStore
    from services.execution.service import ExecutorService
    from services.execution.tool_caller import ToolCaller
    from services.execution.tools.catalogue import CachedCatalogue
    from services.executor.app import create_app
    from services.executor.reporters import RunReporter, SearchReporter
    from services.investigation.search.engine import SearchEngine
    from services.investigation.search.service import SearchService
    from services.investigation.search.store import REPORT_TASK as SEARCH_REPORT_TASK
    from services.investigation.search.store import SEARCH_TASK, SearchStore
    from services.investigation.summary.service import SummaryService
    from services.investigation.summary.store import DRAW_TASK, PROPOSE_TASK, SummaryStore
    from services.kit.clock import Clock
    from services.runbook.store.sql_readings import SqlReadingStore

    settings = ExecutorSettings()
    catalogue, clock = CachedCatalogue(settings.catalogue), Clock.of_folder(settings.catalogue)
    store, bindings = RunStore(stores.database, stores.outbox), BindingStore(stores.database)
    service = ExecutorService(
        store,
        bindings,
        tickets=peers.tickets,
        texts=DocumentTexts(stores.documents),
        readings=SqlReadingStore(stores.database),
        catalogue=catalogue,
        clock=clock,
        settings=settings,
    )
    adapters, model = all_adapters(), stores.shared_model
    searches = SearchStore(stores.database, stores.outbox)
    searching = SearchService(
        searches,
        tickets=peers.tickets,
        catalogue=catalogue,
        folder=settings.catalogue,
        clock=clock,
        settings=SearchSettings(),
        has_model=model is not None,
    )
    search_engine = SearchEngine(
        searches,
        ToolCaller(catalogue, adapters),
        peers.retrieval,
        model,
        clock,
        suspension=store.suspension,
    )
    engine = RunEngine(
        store,
        catalogue,
        adapters,
        clock,
        revisions=service.revisions,
        is_approved=service.is_approved_to_change,
    )
    summary_store = SummaryStore(stores.database, stores.outbox, bindings)
    summaries = SummaryService(
        store,
        summary_store,
        searches,
        catalogue=catalogue,
        proposals=lambda: peers.proposals,
        model=model,
    )

    def begin() -> None:
        if stores.is_alone and stores.settings.database_url is None:
            store.leases.release_all()
            searches.leases.release_all()

    def register_tasks() -> None:
        reporting = RunReporter(store, peers.tickets, searching, lambda: peers.proposals)
        search_reporting = SearchReporter(searches, peers.tickets)

        def keep(_session: Session, _arguments: Mapping[str, Any], _reason: str) -> None:
            """Keep the parked row: the run or search waits for somebody to look."""

        register = stores.outbox.register
        register(ADVANCE_TASK, engine.advance, on_parked=keep)
        register(REPORT_TASK, reporting.report, on_parked=keep)
        register(SEARCH_TASK, search_engine.advance, on_parked=keep)
        register(SEARCH_REPORT_TASK, search_reporting.report, on_parked=keep)
        register(DRAW_TASK, summaries.draw, on_parked=summary_store.stop_drawing)
        register(PROPOSE_TASK, summaries.hand_in, on_parked=summary_store.give_up_proposing)

    return RunningRoom(
        ExecutorServices(service, searching, summaries),
        lambda checks: create_app(
            stores.settings,
            service=service,
            searching=searching,
            summaries=summaries,
            access=stores.access,
            checks={"database": stores.database.check, **checks},
            optional=stores.model_check() if model else {},
        ),
        register_tasks,
        begin=begin,
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.executor.app import create_app

    return create_app(settings, service=NO_SERVICE, searching=NO_SERVICE, summaries=NO_SERVICE)


def front(peers: Peers) -> Frontend:
    """Build the frontend with all routes of the executor."""
    from services.executor.endpoints import create_routers

    routers = create_routers(peers.execution, peers.searching, peers.summaries)
    return Frontend(tuple(routers))


ROOM = Room(
    "executor",
    "carries workflows out step by step: looks, asks for leave, changes once, proves that it"
    " worked; searches for causes where no workflow fits",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS),
        calls=("gateway", "ingestion", "retrieval"),
        serves=ProcessResources(
            replicas=1, up_to=2, cpu="100m", memory="512Mi", model="planner", goes_outside=True
        ),
        works=ProcessResources(
            replicas=1, up_to=4, cpu="100m", memory="512Mi", model="planner", goes_outside=True
        ),
    ),
    packages=("execution", "investigation"),
    settings=(ExecutorSettings, SearchSettings),
    has_queue=True,
    lanes=("executor_model",),
    threads=4,
    frontend=front,
)
