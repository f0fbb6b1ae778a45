"""Catching up: a ticket that went on without a store or a service is walked again later."""

import time

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.kit.queue.outbox import NORMAL, Outbox
from services.kit.sql.database import Database
from services.tickets.settings import GatewaySettings
from services.tickets.tables import EventRow, TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import walk_again
from services.tickets.walk.activity import has_human_activity, is_latest

CATCH_UP_TASK = "gateway.catch_up"

_CONCLUDED = frozenset({TicketStatus.PLANNED.value, TicketStatus.REFUSED.value})


class CatchUp:
    """Queue of later walks for tickets with which nobody has worked since."""

    def __init__(self, database: Database, outbox: Outbox, settings: GatewaySettings) -> None:
        self._database = database
        self._outbox = outbox
        self._after_s = settings.catch_up_after_s
        self._most = settings.catch_up_most

    def put(self, session: Session, ticket_id: str, walk: int) -> None:
        """Queue a later walk in the transaction that concludes this one, up to the most allowed."""
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
            is_untouched = row and is_latest(row, walk, _CONCLUDED)
            if is_untouched and not has_human_activity(session, ticket_id, since):
                add_events(session, ticket_id, [Note("caught_up")])
                walk_again(session, self._outbox, ticket_id, priority=NORMAL)
            self._outbox.finish(session)
