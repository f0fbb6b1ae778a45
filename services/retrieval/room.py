"""Room of retrieval, as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.retrieval.settings import RetrievalSettings
from services.room.descriptor import (
    NO_SERVICE,
    Footprint,
    ProcessResources,
    Room,
    RunningRoom,
    Store,
)

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.settings import PlatformSettings
    from services.retrieval.service import RetrievalService
    from services.room.peers import Peers
    from services.room.stores import Stores


def build(stores: Stores, _peers: Peers) -> RunningRoom[RetrievalService]:
    """Build retrieval over the stores of knowledge."""
    from services.kit.fits.in_use import FitInUse
    from services.knowledge.page.box_fit import BoxHabit
    from services.knowledge.stores.sql_archive import SqlCaseArchive
    from services.knowledge.stores.sql_symptom_texts import SqlSymptomTexts
    from services.retrieval.app import create_app
    from services.retrieval.calibration import Calibration
    from services.retrieval.service import RetrievalService
    from services.runbook.store.sql_boxes import SqlBoxStore
    from services.runbook.store.sql_readings import SqlReadingStore

    calibration = FitInUse(Calibration.of_folder(stores.folder), stores.database)
    service = RetrievalService(
        stores.vectors,
        stores.graph,
        stores.documents,
        stores.query_embedder,
        RetrievalSettings(),
        readings=SqlReadingStore(stores.database),
        boxes=SqlBoxStore(stores.database, BoxHabit.of_folder(stores.folder)),
        archive=SqlCaseArchive(stores.database),
        symptom_texts=SqlSymptomTexts(stores.database),
        calibration=lambda: calibration.now,
    )
    return RunningRoom(
        service,
        lambda checks: create_app(
            stores.settings,
            service=service,
            access=stores.access,
            checks={"database": stores.database.check, **checks},
            optional=stores.knowledge_checks(),
        ),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.retrieval.app import create_app

    return create_app(settings, service=NO_SERVICE)


ROOM = Room(
    "retrieval",
    "a ticket into ranked chunks and nodes, or “nothing fits”; the source text of a citation",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.QDRANT, Store.NEO4J), serves=ProcessResources(cpu="500m")
    ),
    settings=(RetrievalSettings,),
)
