"""What happened to tickets, kept so that whoever watches can come late or come back."""

import time
from datetime import UTC, datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from services.contracts.gateway import ProgressEvent
from services.gateway.tables import EventRow
from services.kit.database import Database

AT_ONCE = 200
"""Most events read in one look; the next look brings the rest."""


def add_event(session: Session, ticket_id: str, kind: str, facts: dict[str, object]) -> None:
    """Write down, in the caller's transaction, that something happened to a ticket."""
    session.execute(
        insert(EventRow).values(ticket_id=ticket_id, kind=kind, facts=facts, at=time.time())
    )


class Events:
    """The events of all tickets, in the order of their ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def after(self, event_id: int, *, ticket_id: str | None = None) -> list[ProgressEvent]:
        """Events with a higher id, of one ticket or of all, oldest first."""
        statement = select(EventRow).where(EventRow.id > event_id)
        if ticket_id is not None:
            statement = statement.where(EventRow.ticket_id == ticket_id)
        with self._database.session() as session:
            rows = session.scalars(statement.order_by(EventRow.id).limit(AT_ONCE)).all()
        return [_event(row) for row in rows]

    def latest(self) -> int:
        """The highest id so far; 0 before the first event."""
        with self._database.session() as session:
            return session.scalar(select(func.max(EventRow.id))) or 0


def _event(row: EventRow) -> ProgressEvent:
    return ProgressEvent(
        id=row.id,
        ticket_id=row.ticket_id,
        kind=row.kind,
        facts=row.facts,
        at=datetime.fromtimestamp(row.at, UTC),
    )
