"""The audit log over HTTP, for admins."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.contracts.audit import AuditLine, AuditPage
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.needs import Need, needs

Text = Annotated[str, Query(max_length=400)]


def create_audit_router(log: AuditLog) -> APIRouter:
    """Build the router of the audit log, for admins."""
    router = APIRouter(tags=["audit"])

    @router.get("/v1/audit")
    @needs(Need.ADMIN)
    def list_audit(
        below: Annotated[int | None, Query(ge=1, le=2**62)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        who: Text = "",
        action: Text = "",
        subject: Text = "",
    ) -> AuditPage:
        """List who changed what, the latest first.

        `action` is matched as a whole, or by its part before the dot.
        """
        wanted = AuditFilter(who=who, action=action, subject=subject)
        rows = log.lines(wanted, below=below, limit=limit)
        lines = tuple(AuditLine.model_validate(line) for line in rows)
        return AuditPage(lines=lines, next_below=lines[-1].id if len(lines) == limit else None)

    return router
