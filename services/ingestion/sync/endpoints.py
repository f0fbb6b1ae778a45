"""HTTP routes of synced sources."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.contracts.syncing import Synced, SyncRequest, SyncSource, SyncSources
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.http.openapi import refusals

Limit = Annotated[int, Query(ge=1, le=200)]


def create_sync_router(service: SyncSources) -> APIRouter:
    """Build the routes as a function of the contract."""
    router = APIRouter(prefix="/v1/sync-sources", tags=["syncs"])

    @router.get("")
    @needs(Need.READ)
    def list_sync_sources() -> list[SyncSource]:
        """List folders and Git repositories that are synced, each with its last sync."""
        return service.sources()

    @router.post("", status_code=201, responses=refusals(InvalidInputError))
    @needs(Need.ADMIN)
    def declare_sync_source(request: SyncRequest) -> SyncSource:
        """Sync a folder or Git repository every so many minutes; the same name replaces it."""
        return service.declare(request)

    @router.delete("/{name}", status_code=204, responses=refusals(NotFoundError))
    @needs(Need.ADMIN)
    def withdraw_sync_source(name: str) -> None:
        """Stop syncing it; its documents stay until their root is removed."""
        service.withdraw(name)

    @router.post("/{name}/syncs", status_code=202, responses=refusals(NotFoundError))
    @needs(Need.INGEST)
    def sync_now(name: str) -> SyncSource:
        """Sync it now; a sync that is under way is not started twice."""
        return service.sync(name)

    @router.get("/{name}/syncs", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_syncs(name: str, limit: Limit = 20) -> list[Synced]:
        """List what each sync changed, and which approvals were lost, the newest first."""
        return service.syncs(name, limit=limit)

    return router
