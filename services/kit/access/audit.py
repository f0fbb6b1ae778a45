"""The audit log: who changed what, when, and in which request; append-only.

A line is written in the transaction of the change that it records, so that there is none without
the other. It holds no text of tickets or documents: what is purged leaves its line, and no content.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from services.kit.access.caller import current_caller
from services.kit.sql.database import Database
from services.kit.tables import AuditRow

AuditState = Mapping[str, object]
"""State of a thing before or after a change: names, numbers, states."""


@dataclass(frozen=True)
class AuditFilter:
    """Filter for lines; an empty field does not restrict it."""

    who: str = ""
    action: str = ""
    """Name of an action, or its part before a dot: `reading` matches all changes of readings."""
    subject: str = ""


def audit_line(
    action: str, subject: str, before: AuditState | None = None, after: AuditState | None = None
) -> dict[str, object]:
    """Build the columns of a line for an action of the current caller."""
    caller = current_caller()
    return {
        "at": time.time(),
        "who": caller.name[:200],
        "kind": caller.kind.value,
        "caller_id": caller.id[:400],
        "action": action,
        "subject": subject[:400],
        "before": dict(before) if before is not None else None,
        "after": dict(after) if after is not None else None,
        "request_id": str(structlog.contextvars.get_contextvars().get("trace_id", ""))[:64],
    }


def add_audit(
    session: Session,
    action: str,
    subject: str,
    before: AuditState | None = None,
    after: AuditState | None = None,
) -> None:
    """Add a line for an action of the current caller, in the caller's transaction."""
    session.add(AuditRow(**audit_line(action, subject, before, after)))


class AuditLog:
    """Reader of the audit log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lines(
        self, wanted: AuditFilter, *, below: int | None = None, limit: int = 100
    ) -> list[dict[str, Any]]:
        """List lines, the latest first, with ids below `below`."""
        statement = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
        if below is not None:
            statement = statement.where(AuditRow.id < below)
        if wanted.who:
            statement = statement.where(AuditRow.who == wanted.who)
        if wanted.subject:
            statement = statement.where(AuditRow.subject == wanted.subject)
        if wanted.action:
            is_below = AuditRow.action.startswith(f"{wanted.action}.", autoescape=True)
            statement = statement.where((AuditRow.action == wanted.action) | is_below)
        with self._database.session() as session:
            rows = session.scalars(statement).all()
        names = [column.key for column in AuditRow.__table__.columns]
        return [
            {name: getattr(row, name) for name in names}
            | {"at": datetime.fromtimestamp(row.at, UTC)}
            for row in rows
        ]
