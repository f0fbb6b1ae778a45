"""The planner as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.settings import PlannerSettings
from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process

if TYPE_CHECKING:
    from fastapi import FastAPI

    from services.kit.settings import PlatformSettings
    from services.planner.service import PlannerService
    from services.room.peers import Peers
    from services.room.stores import Stores


def build(stores: Stores, _peers: Peers) -> OpenRoom[PlannerService]:
    """The planner, with the model where there is one."""
    from services.planner.app import create_app
    from services.planner.service import PlannerService

    model = stores.model
    service = PlannerService(
        PlannerSettings(), model=model, embedder=stores.embedder if model else None
    )
    return OpenRoom(
        service,
        lambda checks: create_app(
            stores.settings, service=service, checks=checks, optional=stores.model_check()
        ),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.planner.app import create_app

    return create_app(settings, service=NOBODY)


ROOM = Room(
    "planner",
    "what was found into candidate workflows, each step with its sources",
    build,
    describe,
    Footprint(serves=Process(memory="512Mi", model="planner", goes_outside=True)),
    settings=(PlannerSettings,),
)
