"""The executor over HTTP."""

from collections.abc import Mapping

from fastapi import FastAPI

from services.contracts.execution import Execution
from services.contracts.searching import Searches
from services.contracts.summaries import Summaries
from services.executor.endpoints import create_routers
from services.kit.access.access import Access
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings


def create_app(
    settings: PlatformSettings,
    *,
    service: Execution,
    searching: Searches,
    summaries: Summaries,
    access: Access | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> FastAPI:
    """Build the app around the services."""
    return create_service_app(
        "executor",
        title="FlowXpert executor",
        routers=create_routers(service, searching, summaries),
        settings=settings,
        access=access,
        checks=checks,
        optional=optional,
    )
