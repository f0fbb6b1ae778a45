"""An engineer's word that a fault is over, where its source says none."""

import time

from sqlalchemy import update

from services.gateway.tables import AlertRow, TicketRow
from services.gateway.ticket.queries import TicketNotFoundError
from services.gateway.ticket.updates import Told
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database


class Resolving:
    """Resolves tickets. Doing it again changes nothing; an alert that comes anew opens it again."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def ticket(self, ticket_id: str) -> None:
        """End all alerts of the ticket, and with them the ticket.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        still_open = (AlertRow.ticket_id == ticket_id, AlertRow.over_at.is_(None))
        with self._database.session() as session:
            session.execute(update(AlertRow).where(*still_open).values(over_at=time.time()))
            if session.get(TicketRow, ticket_id) is None:
                raise TicketNotFoundError(f"no ticket has the id {ticket_id[:60]!r}")
            told = Told()
            told.end(ticket_id)
            told.write(session, self._outbox)
