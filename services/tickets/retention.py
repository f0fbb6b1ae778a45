"""Retention: tickets are deleted with all that belongs to them, but for an audit line and numbers.

A ticket goes so many days after its last change, once its walk is over, or when somebody names it.
Tables of this room that speak of a ticket refer to it and say `ON DELETE CASCADE`, so that nothing
of it is left behind; other rooms delete what they keep of it by a task; see `erasure`.
"""

import time
from collections.abc import Callable, Collection

from pydantic import BaseModel, ConfigDict
from sqlalchemy import ColumnElement, and_, delete, func, select
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError
from services.kit.ids import first_id_at
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.sql.short_ids import get_by_short_id
from services.kit.teaching.ledger import forget_teaching, run_subject, ticket_subject
from services.tickets.adoption.lessons import keep_lessons
from services.tickets.erasure import put_erasure
from services.tickets.tables import (
    AlertRow,
    IdempotencyRow,
    LessonRow,
    PageChoiceRow,
    PageWordRow,
    TicketRow,
)
from services.tickets.ticket.events import CASE, TEAM
from services.tickets.ticket.queries import TicketNotFoundError

LESSONS_KEPT_DAYS = 365.0
"""Days for which the numbers of a purged ticket teach."""
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
    """Purge of tickets. Doing it again, or twice at once, does no harm."""

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
        done, answers = 0, 0
        while most is None or done < most:
            some = min(_AT_ONCE, (most or done + _AT_ONCE) - done)
            oldest = select(TicketRow.id).where(_is_old(before)).order_by(TicketRow.id)
            with self._database.session() as session:
                ids = session.scalars(oldest.limit(some)).all()
                purged = self._delete(session, ids, _is_old(before))
            if not purged.tickets:
                break
            done, answers = done + purged.tickets, answers + purged.answers
        lessons_before = self._clock() - max(self._days, LESSONS_KEPT_DAYS) * _DAY_S
        with self._database.session() as session:
            alone = AlertRow.ticket_id.is_(None)
            session.execute(delete(AlertRow).where(alone, AlertRow.came_at < before))
            session.execute(delete(PageChoiceRow).where(PageChoiceRow.chosen_at < before))
            session.execute(delete(PageWordRow).where(PageWordRow.at < before))
            outlived = delete(LessonRow).where(LessonRow.at < lessons_before)
            taught = session.scalars(outlived.returning(LessonRow.source_id)).all()
            forget_teaching(session, [ticket_subject(id_) for id_ in taught])
            gone = delete(IdempotencyRow).where(old).returning(IdempotencyRow.key)
            answers += len(list(session.scalars(gone)))
        return Purged(tickets=done, answers=answers)

    def forget(self, ticket_ids: Collection[str]) -> Purged:
        """Delete these tickets, whatever their age and state; the beginnings of ids will do.

        Raises:
            TicketNotFoundError: There is no such ticket; none is deleted then.
            AmbiguousIdError: Several ids begin so.
        """
        with self._database.session() as session:
            ids = set[str]()
            for ticket_id in ticket_ids:
                row = get_by_short_id(session, TicketRow, ticket_id)
                if row is None:
                    raise TicketNotFoundError(f"there is no ticket {ticket_id[:60]!r}")
                ids.add(row.id)
            return self._delete(session, ids)

    def _delete(
        self, session: Session, ids: Collection[str], *conditions: ColumnElement[bool]
    ) -> Purged:
        """Delete tickets with the answers that name them, in the caller's transaction."""
        put_erasure(session, self._outbox, ids)
        teaching = keep_lessons(session, ids)
        subjects = [ticket_subject(id_) for id_ in ids if id_ not in teaching]
        kinds = (CASE, TEAM, run_subject(""))
        forget_teaching(session, [*subjects, *(f"{kind}{id_}" for kind in kinds for id_ in ids)])
        gone = delete(TicketRow).where(TicketRow.id.in_(ids), *conditions)
        rows = session.execute(gone.returning(TicketRow.id, TicketRow.source, TicketRow.status))
        deleted, answers = 0, 0
        for ticket_id, source, status in rows.all():
            facts = {"source": source, "state": status}
            add_audit(session, "ticket.purged", f"ticket {ticket_id}", facts)
            names_it = IdempotencyRow.answer.contains(ticket_id, autoescape=True)
            answered = delete(IdempotencyRow).where(names_it).returning(IdempotencyRow.key)
            deleted, answers = deleted + 1, answers + len(session.scalars(answered).all())
        return Purged(tickets=deleted, answers=answers)


def _is_old(before: float) -> ColumnElement[bool]:
    """Return the condition of what to purge; ids sort by time, so that an index is used."""
    return and_(
        TicketRow.id < first_id_at(before),
        TicketRow.updated_at < before,
        TicketRow.status.in_(_FINAL),
    )
