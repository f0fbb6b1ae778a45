"""Retries of walks that broke."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.kit.errors import ConflictError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import latest_change
from services.tickets.ticket.lifecycle import FAILED, FINAL, restart_walk
from services.tickets.ticket.queries import no_ticket
from services.tickets.ticket.queue import put_walk, walk_key


class TicketNotFailedError(ConflictError):
    """The ticket's walk did not fail: there is nothing to try again."""


class WalkRetry:
    """Retry of what broke, once, however many ask at the same moment."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def retry_ticket(self, ticket_id: str) -> None:
        """Queue the walk of a failed ticket again; do nothing if that is under way already.

        Raises:
            TicketNotFoundError: No such ticket.
            TicketNotFailedError: Its walk is not over, or ended well.
        """
        with self._database.session() as session:
            walk = restart_walk(session, ticket_id, FAILED)
            if walk is None:
                row = session.get(TicketRow, ticket_id)
                if row is None:
                    raise no_ticket(ticket_id)
                is_over = TicketStatus(row.status).is_final
                if is_over or latest_change(session, ticket_id) != "retried":
                    raise TicketNotFailedError(
                        f"expected a ticket that failed, and this one is {row.status}"
                    )
                return  # somebody else retried it
            # Given up by the queue, the task is there still; ended by the walk itself, it is not.
            if not self._outbox.retry(session, walk_key(ticket_id, walk)):
                put_walk(session, self._outbox, ticket_id, walk)

    def reopen_ticket(self, session: Session, ticket_id: str, key: str) -> None:
        """Open the ticket of a walk that is back at work, unless it was walked again since."""
        walk = session.scalar(select(TicketRow.walks).where(TicketRow.id == ticket_id))
        if walk is not None and walk_key(ticket_id, walk) == key:
            restart_walk(session, ticket_id, FINAL)
