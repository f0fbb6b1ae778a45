"""The scorer as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process, Store
from services.scorer.settings import ScorerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores
    from services.scorer.service import ScorerService


def build(stores: Stores, _peers: Peers) -> OpenRoom[ScorerService]:
    """The scorer; its model's answers are kept with the readings where there is a database."""
    from services.procedure.store.sql_answers import SqlAnswerStore
    from services.scorer.app import create_app
    from services.scorer.fitted import ScoringFit
    from services.scorer.service import ScorerService

    keeps_answers = stores.model and stores.has_database
    service = ScorerService(
        stores.embedder,
        ScorerSettings(),
        model=stores.model,
        answers=SqlAnswerStore(stores.database) if keeps_answers else None,
        fitted=ScoringFit.of_folder(stores.folder),
    )
    return OpenRoom(
        service,
        lambda checks: create_app(
            stores.settings, service=service, checks=checks, optional=stores.model_check()
        ),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.scorer.app import create_app

    return create_app(settings, service=NOBODY)


ROOM = Room(
    "scorer",
    "five explained scores for each candidate: relevance, coverage, accuracy, coherence,"
    " conciseness",
    build,
    describe,
    Footprint(stores=(Store.POSTGRESQL,), serves=Process(model="scorer", goes_outside=True)),
    settings=(ScorerSettings,),
)
