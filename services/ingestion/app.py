"""HTTP app of ingestion."""

from collections.abc import Callable, Mapping

from fastapi import APIRouter, FastAPI

from services.contracts.ingestion import Ingestion
from services.contracts.proposals import Proposals
from services.contracts.readings import Readings
from services.contracts.syncing import SyncSources
from services.ingestion.endpoints import create_router, create_sync_router
from services.ingestion.proposals.endpoints import create_proposals_router
from services.ingestion.readings.endpoints import create_readings_router
from services.ingestion.settings import IngestionSettings
from services.kit.access.access import Access
from services.kit.access.caller import Caller
from services.kit.http.app import create_service_app
from services.kit.http.health import Check
from services.kit.settings import PlatformSettings

_FORM_BYTES = 1_000_000
"""Bytes that a multipart form adds to the files in it."""


def create_app(
    settings: PlatformSettings,
    *,
    service: Ingestion,
    syncs: SyncSources,
    readings: Callable[[Caller], Readings],
    proposals: Proposals,
    ingestion_settings: IngestionSettings | None = None,
    access: Access | None = None,
    checks: Mapping[str, Check] | None = None,
) -> FastAPI:
    """Build the app around the service, the syncs, each caller's readings and the proposals."""
    return create_service_app(
        "ingestion",
        title="FlowXpert ingestion",
        routers=create_routers(service, readings, syncs, proposals),
        settings=settings,
        access=access,
        checks=checks,
        body_limits=body_limits(ingestion_settings or IngestionSettings()),
    )


def create_routers(
    service: Ingestion,
    readings: Callable[[Caller], Readings],
    syncs: SyncSources,
    proposals: Proposals,
) -> list[APIRouter]:
    """Build all routers of ingestion."""
    return [
        create_router(service),
        create_readings_router(readings),
        create_sync_router(syncs),
        create_proposals_router(proposals),
    ]


def body_limits(settings: IngestionSettings) -> dict[str, int]:
    """Return the largest body of each route that takes more than a message, by path."""
    largest = settings.max_upload_bytes + _FORM_BYTES
    return {"/v1/documents": largest, "/v1/readings/import": largest}
