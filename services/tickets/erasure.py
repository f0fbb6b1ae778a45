"""Erasure: what other rooms and stores keep of purged tickets is deleted by a task.

It runs at once, and again when whatever was under way with the tickets is over: a run, a walk or
another task that had read a ticket before may write its words once more.
"""

from collections.abc import Callable, Collection, Sequence

from sqlalchemy import Text, cast, delete, or_
from sqlalchemy.orm import Session

from services.contracts.ingestion import Ingestion
from services.contracts.summaries import Summaries
from services.contracts.ticket import PurgedTickets
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.tables import OutboxRow
from services.tickets.triage.team_router import TeamRouter

ERASE_TASK = "gateway.erase_tickets"
AGAIN_AFTER_S = 3600.0
"""Seconds after which nothing is under way that had begun before the purge."""


def put_erasure(session: Session, outbox: Outbox, ticket_ids: Collection[str]) -> None:
    """Queue the erasure of these tickets in the transaction that deletes them."""
    if not ticket_ids:
        return
    arguments, key = {"ticket_ids": sorted(ticket_ids)}, f"{ERASE_TASK}:{time_ordered_id()}"
    outbox.put(session, ERASE_TASK, arguments, key)
    outbox.put_later(session, ERASE_TASK, arguments, f"{key}:again", after_s=AGAIN_AFTER_S)


class TicketErasure:
    """Erasure of purged tickets; erasing them again changes nothing."""

    def __init__(
        self,
        database: Database,
        ingestion: Ingestion,
        team_router: TeamRouter,
        summaries: Callable[[], Summaries] | None,
    ) -> None:
        """Wire it; `summaries` is the executor's, None where there is no executor."""
        self._database = database
        self._ingestion = ingestion
        self._team_router = team_router
        self._summaries = summaries

    def run(self, ticket_ids: Sequence[str]) -> None:
        """Erase what is kept of these tickets, and wipe what was deleted from the files.

        Raises:
            UnavailableError: A room did not answer, or is still at work on one of the tickets.
        """
        purged = PurgedTickets(ids=tuple(ticket_ids))
        self._team_router.forget_tickets(ticket_ids)
        self._ingestion.forget_tickets(purged)
        if self._summaries is not None:
            self._summaries().forget_tickets(purged)
        arguments = cast(OutboxRow.kwargs, Text)
        names_one = or_(*(arguments.contains(id_, autoescape=True) for id_ in ticket_ids))
        with self._database.session() as session:
            session.execute(delete(OutboxRow).where(OutboxRow.parked_at.is_not(None), names_one))
        self._database.wipe()
