"""The audit log over HTTP, for admins."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from services.contracts.audit import AuditLine, AuditPage
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.needs import Need, needs

Text = Annotated[str, Query(max_length=400)]


def _wanted(who: Text = "", action: Text = "", subject: Text = "") -> AuditFilter:
    return AuditFilter(who=who, action=action, subject=subject)


def create_audit_router(log: AuditLog) -> APIRouter:
    """The audit log, for admins."""
    router = APIRouter(tags=["audit"])

    @router.get("/v1/audit")
    @needs(Need.ADMIN)
    def list_audit(
        wanted: Annotated[AuditFilter, Depends(_wanted)],
        below: Annotated[int | None, Query(ge=1, le=2**62)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> AuditPage:
        """Who changed what, the latest first; `action` as a whole, or its part before the dot."""
        found = log.lines(wanted, below=below, limit=limit)
        lines = tuple(AuditLine.model_validate(line) for line in found)
        return AuditPage(lines=lines, next_below=lines[-1].id if len(lines) == limit else None)

    return router
