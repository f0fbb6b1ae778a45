"""What a delivery says of tickets that are there: the same again, or over.

It is written last and in the order of the tickets' ids: of two deliveries about the same tickets
neither waits long for the other, and never both.
"""

import time
from collections import Counter
from contextvars import Context, copy_context

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.gateway.tables import AlertRow, TicketRow
from services.gateway.ticket.events import Note, add_events
from services.kit.queue.outbox import Outbox

LEARN_TICKET_TASK = "gateway.learn_ticket"


class Told:
    """Collects, and writes once."""

    def __init__(self) -> None:
        self._repeats: Counter[str] = Counter()
        self._open_again: set[str] = set()
        self._contexts: dict[str, Context] = {}
        self._ended: set[str] = set()

    def repeat(self, ticket_id: str, *, is_open: bool, context: Context | None = None) -> None:
        """One more alert is of this ticket; `is_open` unless its end came first.

        `context` is the request's, where this transaction stands for several.
        """
        self._repeats[ticket_id] += 1
        if context is not None:
            self._contexts[ticket_id] = context
        if is_open:
            self._open_again.add(ticket_id)

    def end(self, ticket_id: str) -> None:
        """An alert of this ticket is over."""
        self._ended.add(ticket_id)

    def write(self, session: Session, outbox: Outbox) -> None:
        """Count the repeats, and resolve the tickets of which no alert is left open."""
        session.flush()
        for ticket_id in sorted(self._repeats.keys() | self._ended):
            if ticket_id in self._repeats:
                self._count(session, ticket_id)
            if ticket_id in self._ended and _resolve(session, ticket_id):
                # Of a ticket that is still walked, nothing can be learned yet.
                key = f"{LEARN_TICKET_TASK}:{ticket_id}"
                outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key, priority=9)

    def _count(self, session: Session, ticket_id: str) -> None:
        more, now = self._repeats[ticket_id], time.time()
        row = session.execute(
            update(TicketRow)
            .where(TicketRow.id == ticket_id)
            .values(alerts=TicketRow.alerts + more, last_at=now, updated_at=now)
            .returning(TicketRow.alerts, TicketRow.resolved_at)
        ).one_or_none()
        if row is None:
            return
        if row.resolved_at is not None and ticket_id in self._open_again:
            again = update(TicketRow).where(TicketRow.id == ticket_id).values(resolved_at=None)
            session.execute(again)
            self._tell(session, ticket_id, Note("reopened", {"alerts": row.alerts}))
        elif _is_worth_telling(row.alerts - more, row.alerts):
            self._tell(session, ticket_id, Note("repeated", {"alerts": row.alerts}))

    def _tell(self, session: Session, ticket_id: str, note: Note) -> None:
        context = self._contexts.get(ticket_id, copy_context())
        context.run(add_events, session, ticket_id, [note])


def _is_worth_telling(before: int, now: int) -> bool:
    """Whether the count has come to twice what was last told: a storm tells a dozen times."""
    return now.bit_length() > before.bit_length()


def _resolve(session: Session, ticket_id: str) -> bool:
    """Resolve the ticket if none of its alerts is open; whether its walk was over by then."""
    of_ticket = AlertRow.ticket_id == ticket_id
    is_open = exists().where(of_ticket, AlertRow.over_at.is_(None))
    said_at = select(func.max(AlertRow.over_at)).where(of_ticket).scalar_subquery()
    resolved = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.resolved_at.is_(None), ~is_open)
        .values(resolved_at=said_at, updated_at=time.time())
        .returning(TicketRow.status)
    )
    status = session.scalar(resolved)
    if status is None:
        return False
    add_events(session, ticket_id, [Note("resolved")])
    return TicketStatus(status).is_final
