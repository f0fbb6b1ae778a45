"""Catching up: a ticket that went on without a store or a service is walked again later."""

import time

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.gateway.settings import GatewaySettings
from services.gateway.tables import EventRow, TicketRow
from services.gateway.ticket.event_kinds import BY_SOURCE
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import walk_again
from services.kit.access.caller import Kind
from services.kit.queue.outbox import NORMAL, Outbox
from services.kit.sql.database import Database
from services.kit.tables import AuditRow

CATCH_UP_TASK = "gateway.catch_up"

_CONCLUDED = {TicketStatus.PLANNED.value, TicketStatus.REFUSED.value}


_BY_SOURCE = tuple(f"ticket.{kind}" for kind in BY_SOURCE)
"""What a ticket system says is no work of an engineer."""


class CatchUp:
    """Queues later walks, and begins them where nobody has worked with the ticket since."""

    def __init__(self, database: Database, outbox: Outbox, settings: GatewaySettings) -> None:
        self._database = database
        self._outbox = outbox
        self._after_s = settings.catch_up_after_s
        self._most = settings.catch_up_most

    def put(self, session: Session, ticket_id: str, walk: int) -> None:
        """Queue it in the transaction that concludes this walk; not more often than it may be."""
        is_one = (EventRow.ticket_id == ticket_id, EventRow.kind == "caught_up")
        done = session.scalar(select(func.count()).where(*is_one)) or 0
        if done >= self._most:
            return
        arguments = {"ticket_id": ticket_id, "walk": walk, "since": time.time()}
        key = f"{CATCH_UP_TASK}:{ticket_id}:{walk}"
        after_s = self._after_s * 2**done
        self._outbox.put_later(session, CATCH_UP_TASK, arguments, key, after_s=after_s)

    def run(self, ticket_id: str, walk: int, since: float) -> None:
        """Walk the ticket again, unless it was walked, resolved or worked with since then."""
        with self._database.session() as session:
            row = session.get(TicketRow, ticket_id)
            is_untouched = row and _is_open_to_it(row, walk)
            if is_untouched and not _is_worked_with(session, ticket_id, since):
                add_events(session, ticket_id, [Note("caught_up")])
                walk_again(session, self._outbox, ticket_id, priority=NORMAL)
            self._outbox.finish(session)


def _is_open_to_it(row: TicketRow, walk: int) -> bool:
    """Whether this walk is its latest, over, and its fault is not."""
    return row.walks == walk and row.status in _CONCLUDED and row.resolved_at is None


def _is_worked_with(session: Session, ticket_id: str, since: float) -> bool:
    """Whether anybody but the platform itself has changed something about it."""
    by_others = exists().where(
        AuditRow.subject == f"ticket {ticket_id}",
        AuditRow.at > since,
        AuditRow.kind != Kind.PLATFORM.value,
        AuditRow.action.not_in(_BY_SOURCE),
    )
    return bool(session.scalar(select(by_others)))
