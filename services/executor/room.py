"""The executor as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.executor.settings import ExecutorSettings, SearchSettings
from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process, Store
from services.room.front import Front

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.executor.search.service import SearchService
    from services.executor.service import ExecutorService
    from services.executor.summary.service import SummaryService
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores


class Executing(NamedTuple):
    """What of the executor others call."""

    execution: ExecutorService
    searching: SearchService
    summaries: SummaryService


def build(stores: Stores, peers: Peers) -> OpenRoom[Executing]:
    """The executor over the runs and searches in SQL and the tools of its catalogue."""
    from services.executor import tasks
    from services.executor.adapters.adapters import all_adapters
    from services.executor.app import create_app
    from services.executor.bindings.store import BindingStore
    from services.executor.calling import Calling
    from services.executor.reporting import Reporting, SearchReporting
    from services.executor.runs.engine import RunEngine
    from services.executor.runs.store import RunStore
    from services.executor.search.engine import SearchEngine
    from services.executor.search.service import SearchService
    from services.executor.search.store import SearchStore
    from services.executor.service import ExecutorService
    from services.executor.summary.service import SummaryService
    from services.executor.summary.store import SummaryStore
    from services.executor.texts import DocumentTexts
    from services.executor.tools.kept_catalogue import KeptCatalogue
    from services.kit.clock import Clock
    from services.procedure.store.sql_readings import SqlReadingStore

    settings = ExecutorSettings()
    catalogue, clock = KeptCatalogue(settings.catalogue), Clock.of_folder(settings.catalogue)
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
        Calling(catalogue, adapters),
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
        is_approved=lambda workflow, step: service.approved_step(workflow, step) is not None,
    )
    summaries = SummaryService(
        store,
        SummaryStore(stores.database, stores.outbox, bindings),
        searches,
        catalogue=catalogue,
        proposals=lambda: peers.proposals,
        model=model,
    )

    def begin() -> None:
        if stores.is_alone and stores.settings.database_url is None:
            store.driving.forget()
            searches.driving.forget()

    def register() -> None:
        reporting = Reporting(store, peers.tickets, searching, lambda: peers.proposals)
        tasks.register(stores.outbox, engine, reporting, summaries)
        tasks.register_searches(
            stores.outbox, search_engine, SearchReporting(searches, peers.tickets)
        )

    return OpenRoom(
        Executing(service, searching, summaries),
        lambda checks: create_app(
            stores.settings,
            service=service,
            searching=searching,
            summaries=summaries,
            access=stores.access,
            checks={"database": stores.database.check, **checks},
            optional=stores.model_check() if model else {},
        ),
        register,
        begin=begin,
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.executor.app import create_app

    return create_app(settings, service=NOBODY, searching=NOBODY, summaries=NOBODY)


def front(peers: Peers) -> Front:
    """All that the executor answers."""
    from services.executor.endpoints import create_routers

    routers = create_routers(peers.execution, peers.searching, peers.summaries)
    return Front(tuple(routers))


ROOM = Room(
    "executor",
    "carries workflows out step by step: looks, asks for leave, changes once, proves that it"
    " worked; searches for causes where no workflow fits",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS),
        calls=("gateway", "ingestion", "retrieval"),
        serves=Process(
            replicas=1, up_to=2, cpu="100m", memory="512Mi", model="planner", goes_outside=True
        ),
        works=Process(
            replicas=1, up_to=4, cpu="100m", memory="512Mi", model="planner", goes_outside=True
        ),
    ),
    settings=(ExecutorSettings, SearchSettings),
    has_queue=True,
    lanes=("executor_model",),
    threads=4,
    front=front,
)
