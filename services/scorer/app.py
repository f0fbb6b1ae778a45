"""The scorer over HTTP."""

from collections.abc import Mapping

from fastapi import FastAPI

from services.contracts.scorer import Scorer
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings
from services.scorer.endpoints import create_router


def create_app(
    settings: PlatformSettings,
    *,
    service: Scorer,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> FastAPI:
    """Create the HTTP app around a service."""
    return create_service_app(
        "scorer",
        title="FlowXpert scorer",
        routers=[create_router(service)],
        settings=settings,
        checks=checks,
        optional=optional,
    )
