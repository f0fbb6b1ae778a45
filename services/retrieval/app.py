"""Retrieval over HTTP."""

from collections.abc import Mapping

from fastapi import FastAPI

from services.contracts.retrieval import Retrieval
from services.kit.access.access import Access
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings
from services.retrieval.endpoints import create_router


def create_app(
    settings: PlatformSettings,
    *,
    service: Retrieval,
    access: Access | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> FastAPI:
    """Create the HTTP app around a service."""
    return create_service_app(
        "retrieval",
        title="FlowXpert retrieval",
        routers=[create_router(service)],
        settings=settings,
        access=access,
        checks=checks,
        optional=optional,
    )
