"""Retention: old tickets are deleted with all that belongs to them, but for an audit line.

A ticket goes so many days after its last change, once its walk is over. Tables of this room that
speak of a ticket refer to it and say `ON DELETE CASCADE`, so that nothing of it is left behind.
"""

import time
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict
from sqlalchemy import ColumnElement, and_, delete, func, select

from services.contracts.ticket import TicketStatus
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError
from services.kit.ids import first_id_at
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import forget_teaching, ticket_subject
from services.tickets.tables import (
    AlertRow,
    IdempotencyRow,
    PageChoiceRow,
    PageWordRow,
    TicketRow,
)
from services.tickets.ticket.queue import put_forgetting, put_withdrawal

_AT_ONCE = 200
"""Tickets deleted in one transaction: no webhook waits long for it."""
_DAY_S = 86_400.0
_FINAL = [status.value for status in TicketStatus if status.is_final]


class NoKeepDaysError(InvalidInputError):
    """No setting says how long tickets are kept."""


class Purged(BaseModel):
    """Counts of what a purge deleted, or would delete."""

    model_config = ConfigDict(frozen=True)

    tickets: int = 0
    answers: int = 0
    """Remembered answers to an `Idempotency-Key`."""


class Retention:
    """Purge of old tickets. Doing it again, or twice at once, does no harm."""

    def __init__(
        self, database: Database, days: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._outbox = Outbox(database)
        self._days = days
        self._clock = clock

    def purge(self, *, dry: bool = False, most: int | None = None) -> Purged:
        """Delete, or with `dry` count, what is older; at most so many tickets.

        Raises:
            DatabaseUnavailableError: The database did not answer; what is deleted stays deleted.
        """
        before = self._clock() - self._days * _DAY_S
        old = IdempotencyRow.created_at < before
        if dry:
            with self._database.session() as session:
                tickets = session.scalar(select(func.count()).where(_is_old(before)))
                answers = session.scalar(select(func.count()).where(old))
            return Purged(tickets=tickets or 0, answers=answers or 0)
        done = 0
        while most is None or done < most:
            some = self._delete_some(before, min(_AT_ONCE, (most or done + _AT_ONCE) - done))
            done += some
            if not some:
                break
        with self._database.session() as session:
            alone = AlertRow.ticket_id.is_(None)
            session.execute(delete(AlertRow).where(alone, AlertRow.came_at < before))
            session.execute(delete(PageChoiceRow).where(PageChoiceRow.chosen_at < before))
            session.execute(delete(PageWordRow).where(PageWordRow.at < before))
            gone = delete(IdempotencyRow).where(old).returning(IdempotencyRow.key)
            deleted_answers = len(list(session.scalars(gone)))
        return Purged(tickets=done, answers=deleted_answers)

    def _delete_some(self, before: float, most: int) -> int:
        columns = (TicketRow.id, TicketRow.source, TicketRow.status)
        old = select(*columns).where(_is_old(before)).order_by(TicketRow.id).limit(most)
        with self._database.session() as session:
            rows = session.execute(old).all()
            row_by_id = {row.id: row for row in rows}
            put_forgetting(session, self._outbox, row_by_id)
            put_withdrawal(session, self._outbox, row_by_id)
            forget_teaching(session, [ticket_subject(ticket_id) for ticket_id in row_by_id])
            gone = delete(TicketRow).where(TicketRow.id.in_(row_by_id), _is_old(before))
            ids = list(session.scalars(gone.returning(TicketRow.id)))
            for ticket_id in ids:
                row = row_by_id[ticket_id]
                facts = {"source": row.source, "state": row.status}
                add_audit(session, "ticket.purged", f"ticket {ticket_id}", facts)
        return len(rows)


def _is_old(before: float) -> ColumnElement[bool]:
    """Return the condition of what to purge; ids sort by time, so that an index is used."""
    return and_(
        TicketRow.id < first_id_at(before),
        TicketRow.updated_at < before,
        TicketRow.status.in_(_FINAL),
    )
