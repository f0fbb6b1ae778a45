"""The planner over HTTP."""

from collections.abc import Mapping

from fastapi import FastAPI

from services.contracts.composing import Compositions
from services.contracts.planner import Planner
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings
from services.planner.endpoints import create_composing_router, create_router
from services.planner.service import PlannerService


def create_app(
    settings: PlatformSettings,
    *,
    service: Planner | None = None,
    composing: Compositions | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> FastAPI:
    """Create the app of a service; by default that of the extractive planner."""
    routers = [create_router(service or PlannerService())]
    if composing is not None:
        routers.append(create_composing_router(composing))
    return create_service_app(
        "planner",
        title="FlowXpert planner",
        routers=routers,
        settings=settings,
        checks=checks,
        optional=optional,
    )
