"""Room of the scorer, as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.room.descriptor import (
    NO_SERVICE,
    Footprint,
    ProcessResources,
    Room,
    RunningRoom,
    Store,
)
from services.scorer.settings import ScorerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores
    from services.scorer.service import ScorerService


def build(stores: Stores, _peers: Peers) -> RunningRoom[ScorerService]:
    """Build the scorer; with a database it keeps its scores beside the readings."""
    from services.kit.fits.in_use import FitInUse
    from services.kit.queue.workforce import Periodic
    from services.runbook.store.sql_readings import SqlReadingStore
    from services.runbook.store.sql_scoring import SqlAnswerStore, SqlPreparedStore
    from services.scorer.app import create_app
    from services.scorer.score_cache import EVERY_S, ScorePreparation
    from services.scorer.scoring_fit import ScoringFit
    from services.scorer.service import ScorerService

    database = stores.database if stores.has_database else None
    store = SqlPreparedStore(database) if database else None
    fitted = ScoringFit.of_folder(stores.folder)
    chance = FitInUse(fitted.chance, database)
    service = ScorerService(
        stores.embedder,
        ScorerSettings(),
        model=stores.model,
        answers=SqlAnswerStore(database) if database and stores.model else None,
        prepared=store,
        fitted=fitted,
        chance=lambda: chance.now,
    )
    preparing = None
    if database and store:
        readings = SqlReadingStore(database)
        ahead = ScorePreparation(stores.documents, readings, store, service.prepared)
        preparing = Periodic("preparing", ahead.run, every_s=EVERY_S, first_after_s=EVERY_S / 3)
    return RunningRoom(
        service,
        lambda checks: create_app(
            stores.settings, service=service, checks=checks, optional=stores.model_check()
        ),
        periodic=(preparing,),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.scorer.app import create_app

    return create_app(settings, service=NO_SERVICE)


ROOM = Room(
    "scorer",
    "five explained scores for each candidate: relevance, coverage, accuracy, coherence,"
    " conciseness",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL,), serves=ProcessResources(model="scorer", goes_outside=True)
    ),
    settings=(ScorerSettings,),
)
