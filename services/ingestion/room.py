"""Ingestion as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.ingestion.settings import IngestionSettings
from services.ingestion.sync.settings import SyncSettings
from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process, Store
from services.room.front import Front

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.ingestion.proposals.service import ProposalService
    from services.ingestion.service import IngestionService
    from services.ingestion.sync.service import SyncService
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores


class Ingesting(NamedTuple):
    """What ingestion answers with."""

    service: IngestionService
    syncs: SyncService
    proposals: ProposalService


def build(stores: Stores, _peers: Peers) -> OpenRoom[Ingesting]:
    """Ingestion over the stores, and the sources that it keeps in step."""
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
        tells_syncs=sync_settings.callback_url is not None,
        box_habit=BoxHabit.of_folder(stores.folder),
    )
    syncs = SyncService(
        stores.database,
        stores.outbox,
        service,
        folder=stores.folder / "repositories",
        settings=sync_settings,
    )

    proposals = ProposalService(stores.database, stores.outbox, settings)

    def register() -> None:
        tasks.register(stores.outbox, service, syncs)

    return OpenRoom(
        Ingesting(service, syncs, proposals),
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
        periodic=(
            tasks.syncing(syncs),
            tasks.retiring_rules(service),
            tasks.screening(stores.documents),
            tasks.embedding_said(service),
            tasks.expiring(proposals),
        ),
        begin=service.tell_outdated,
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.ingestion.app import create_app

    return create_app(settings, service=NOBODY, syncs=NOBODY, readings=NOBODY, proposals=NOBODY)


def front(peers: Peers) -> Front:
    """All that ingestion answers."""
    from services.ingestion.app import body_limits, create_routers

    routers = create_routers(peers.ingestion, peers.readings, peers.syncing, peers.proposals)
    return Front(tuple(routers), body_limits(IngestionSettings()))


ROOM = Room(
    "ingestion",
    "documents (Markdown, text, HTML, PDF, DOCX) into chunks and incident nodes; keeps their text,"
    " readings and jobs",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS, Store.QDRANT, Store.NEO4J),
        serves=Process(replicas=1, up_to=2, cpu="100m", memory="512Mi"),
        works=Process(
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
    front=front,
)
