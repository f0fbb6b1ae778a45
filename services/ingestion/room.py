"""Descriptor of ingestion as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.ingestion.settings import IngestionSettings, SyncSettings
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
    from fastapi import FastAPI

    from services.ingestion.proposals.service import ProposalService
    from services.ingestion.service import IngestionService
    from services.ingestion.sync.service import SyncService
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores


class IngestionServices(NamedTuple):
    """Services that ingestion answers with."""

    service: IngestionService
    syncs: SyncService
    proposals: ProposalService


def build(stores: Stores, _peers: Peers) -> RunningRoom[IngestionServices]:
    """Build ingestion over the stores, with the sync of its sources."""
    from services.ingestion import tasks
    from services.ingestion.app import create_app
    from services.ingestion.proposals.service import ProposalService
    from services.ingestion.service import IngestionService
    from services.ingestion.sync.service import SyncService
    from services.knowledge.page.box_fit import BoxHabit

    settings, sync_settings = IngestionSettings(), SyncSettings()
    service = IngestionService(
        database=stores.database,
        documents=stores.documents,
        vectors=stores.vectors,
        graph=stores.graph,
        embedder=stores.document_embedder,
        case_embedder=stores.embedder,
        outbox=stores.outbox,
        work_dir=settings.work_dir or stores.shared_folder("ingestion"),
        settings=settings,
        notifies_syncs=sync_settings.callback_url is not None,
        box_habit=BoxHabit.of_folder(stores.folder),
    )
    if stores.is_alone and stores.database.is_sqlite:
        service.runner.end_killed_jobs()
    syncs = SyncService(
        stores.database,
        stores.outbox,
        service.job_service,
        folder=stores.folder / "repositories",
        settings=sync_settings,
    )

    proposals = ProposalService(stores.database, stores.outbox, settings)

    def register() -> None:
        tasks.register(stores.outbox, service.runner, syncs)

    return RunningRoom(
        IngestionServices(service, syncs, proposals),
        lambda checks: create_app(
            stores.settings,
            service=service,
            syncs=syncs,
            readings=lambda caller: service.readings(caller.name),
            proposals=proposals,
            ingestion_settings=settings,
            access=stores.access,
            checks={"database": stores.database.check, **stores.knowledge_checks(), **checks},
        ),
        register,
        periodic=tasks.periodic_tasks(syncs, stores.documents, service.page_readings, proposals),
        begin=service.runner.log_outdated,
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.ingestion.app import create_app

    return create_app(
        settings, service=NO_SERVICE, syncs=NO_SERVICE, readings=NO_SERVICE, proposals=NO_SERVICE
    )


def front(peers: Peers) -> Frontend:
    """Build the routes and body limits of ingestion."""
    from services.ingestion.app import body_limits, create_routers

    routers = create_routers(peers.ingestion, peers.readings, peers.syncing, peers.proposals)
    return Frontend(tuple(routers), body_limits(IngestionSettings()))


ROOM = Room(
    "ingestion",
    "documents (Markdown, text, HTML, PDF, DOCX) into chunks and incident nodes; keeps their text,"
    " readings and jobs",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS, Store.QDRANT, Store.NEO4J),
        serves=ProcessResources(replicas=1, up_to=2, cpu="100m", memory="512Mi"),
        works=ProcessResources(
            replicas=1,
            up_to=4,
            cpu="1",
            memory="1Gi",
            cpu_limit="4",
            memory_limit="6Gi",
            scratch="10Gi",
            model="planner",
            goes_outside=True,
        ),
        takes_uploads=True,
    ),
    settings=(IngestionSettings, SyncSettings),
    has_queue=True,
    lanes=("ingestion_sync",),
    frontend=front,
)
