"""The planner as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.contracts.composing import COMPOSED_WITHIN_S
from services.planner.settings import PlannerSettings
from services.room.descriptor import (
    NO_SERVICE,
    Footprint,
    ProcessResources,
    Room,
    RunningRoom,
)
from services.room.peers import Frontend

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.settings import PlatformSettings
    from services.planner.composing.composer import Composer
    from services.planner.service import PlannerService
    from services.room.peers import Peers
    from services.room.stores import Stores


class Planning(NamedTuple):
    """The services of the planner."""

    planner: PlannerService
    composer: Composer


def build(stores: Stores, peers: Peers) -> RunningRoom[Planning]:
    """Build the planner, with the model if there is one."""
    from services.planner.app import create_app
    from services.planner.composing.composer import Composer
    from services.planner.service import PlannerService

    model, settings = stores.model, PlannerSettings()
    service = PlannerService(settings, model=model, embedder=stores.embedder if model else None)
    composer = Composer(settings, peers, lambda: stores.embedder, model)
    return RunningRoom(
        Planning(service, composer),
        lambda checks: create_app(
            stores.settings,
            service=service,
            composing=composer,
            checks=checks,
            optional=stores.model_check(),
        ),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.planner.app import create_app

    return create_app(settings, service=NO_SERVICE, composing=NO_SERVICE)


def frontend(peers: Peers) -> Frontend:
    """Return the routes for composing, and for editing in words."""
    from services.planner.endpoints import create_composing_router, create_proposing_router

    composing = peers.within(COMPOSED_WITHIN_S).composing
    return Frontend(
        (
            create_composing_router(composing),
            create_proposing_router(composing, peers.proposals),
        )
    )


ROOM = Room(
    "planner",
    "what was found into candidate workflows, each step with its sources; sentences into procedures"
    " over components, and into edits",
    build,
    describe,
    Footprint(
        calls=("ingestion", "executor"),
        serves=ProcessResources(memory="512Mi", model="planner", goes_outside=True),
    ),
    settings=(PlannerSettings,),
    frontend=frontend,
)
