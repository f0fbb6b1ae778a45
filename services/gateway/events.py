"""What happened to tickets, kept so that whoever watches can come late or come back."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from services.contracts.gateway import ProgressEvent
from services.gateway.tables import EventRow
from services.kit.database import Database

AT_ONCE = 200
"""Most events read in one look; the next look brings the rest."""


@dataclass(frozen=True)
class Note:
    """Something that happened to a ticket, and when."""

    kind: str
    facts: dict[str, object] = field(default_factory=dict)
    at: float = field(default_factory=time.time)


def add_events(session: Session, ticket_id: str, notes: Iterable[Note]) -> None:
    """Write down, in the caller's transaction, what happened to a ticket."""
    for note in notes:
        session.execute(
            insert(EventRow).values(
                ticket_id=ticket_id, kind=note.kind, facts=note.facts, at=note.at
            )
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
