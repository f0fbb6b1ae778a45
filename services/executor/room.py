"""The executor as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.executor.settings import ExecutorSettings
from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process, Store
from services.room.front import Front

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.executor.service import ExecutorService
    from services.executor.summary.service import SummaryService
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores


class Executing(NamedTuple):
    """What the executor does for others."""

    execution: ExecutorService
    summaries: SummaryService


def build(stores: Stores, peers: Peers) -> OpenRoom[Executing]:
    """The executor over the runs in SQL and the tools of its catalogue."""
    from services.executor import tasks
    from services.executor.adapters.adapters import all_adapters
    from services.executor.app import create_app
    from services.executor.bindings.store import BindingStore
    from services.executor.kept_catalogue import KeptCatalogue
    from services.executor.reporting import Reporting
    from services.executor.runs.engine import SqlRunEngine
    from services.executor.runs.store import RunStore
    from services.executor.service import ExecutorService
    from services.executor.summary.service import SummaryService
    from services.executor.summary.store import SummaryStore
    from services.executor.texts import DocumentTexts
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
    engine = SqlRunEngine(
        store,
        catalogue,
        all_adapters(),
        clock,
        is_approved=lambda workflow, step: service.approved_step(workflow, step) is not None,
    )

    summaries = SummaryService(
        store,
        SummaryStore(stores.database, stores.outbox, bindings),
        catalogue=catalogue,
        proposals=lambda: peers.proposals,
        model=stores.shared_model,
    )

    def begin() -> None:
        if stores.is_alone and stores.settings.database_url is None:
            store.forget_drivers()

    return OpenRoom(
        Executing(service, summaries),
        lambda checks: create_app(
            stores.settings,
            service=service,
            summaries=summaries,
            access=stores.access,
            checks={"database": stores.database.check, **checks},
        ),
        lambda: tasks.register(stores.outbox, engine, Reporting(store, peers.tickets), summaries),
        begin=begin,
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.executor.app import create_app

    return create_app(settings, service=NOBODY, summaries=NOBODY)


def front(peers: Peers) -> Front:
    """All that the executor answers."""
    from services.executor.endpoints import create_routers

    return Front(tuple(create_routers(peers.execution, peers.summaries)))


ROOM = Room(
    "executor",
    "carries workflows out step by step: looks, asks for leave, changes once, proves that it"
    " worked",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS),
        calls=("gateway", "ingestion"),
        serves=Process(replicas=1, up_to=2, cpu="100m", memory="512Mi"),
        works=Process(
            replicas=1, up_to=4, cpu="100m", memory="512Mi", model="planner", goes_outside=True
        ),
    ),
    settings=(ExecutorSettings,),
    has_queue=True,
    threads=4,
    front=front,
)
