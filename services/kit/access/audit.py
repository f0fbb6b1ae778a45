"""The audit log: who changed what, when, and at which request; lines are added and never changed.

A line is written in the transaction of the change it tells of, so that there is none without the
other. It holds no text of tickets or documents: what is purged leaves its line, and no content.
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

Told = Mapping[str, object]
"""What is told of the thing before or after: names, numbers, states."""


@dataclass(frozen=True)
class AuditFilter:
    """Which lines are asked for; an empty field asks for any."""

    who: str = ""
    action: str = ""
    """As a whole, or up to a dot: `reading` asks for all that is done to readings."""
    subject: str = ""


def audit_line(
    action: str, subject: str, before: Told | None = None, after: Told | None = None
) -> dict[str, object]:
    """The columns of a line that tells what the current caller does."""
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
    before: Told | None = None,
    after: Told | None = None,
) -> None:
    """Write down, in the caller's transaction, what the current caller does."""
    session.add(AuditRow(**audit_line(action, subject, before, after)))


class AuditLog:
    """Reading the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def lines(
        self, wanted: AuditFilter, *, below: int | None = None, limit: int = 100
    ) -> list[dict[str, Any]]:
        """Lines, the latest first, with ids below `below`."""
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
