"""The planner over HTTP."""

from collections.abc import Mapping

from fastapi import FastAPI

from services.contracts.planner import Planner
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings
from services.planner.endpoints import create_router
from services.planner.service import PlannerService


def create_app(
    settings: PlatformSettings,
    *,
    service: Planner | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> FastAPI:
    """The app around a service, the extractive planner unless another is given."""
    return create_service_app(
        "planner",
        title="FlowXpert planner",
        routers=[create_router(service or PlannerService())],
        settings=settings,
        checks=checks,
        optional=optional,
    )
