"""What each system was told of a ticket so far."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.gateway.tables import ToldRow
from services.gateway.writeback.note import Part


def told_row(session: Session, ticket_id: str, target: str) -> ToldRow:
    """The row, or one that says nothing and is not stored yet."""
    row = session.get(ToldRow, (ticket_id, target))
    return row or ToldRow(ticket_id=ticket_id, target=target, times=0, digests={}, question_id="")


def news(row: ToldRow, parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts that are not as they were told last."""
    return tuple(part for part in parts if row.digests.get(part.topic) != part.digest)


def was_asked(session: Session, ticket_id: str, question_id: str) -> bool:
    """Whether some system shows this question, as it was told last."""
    statement = select(ToldRow.target).where(
        ToldRow.ticket_id == ticket_id, ToldRow.question_id == question_id
    )
    return session.scalar(statement.limit(1)) is not None
