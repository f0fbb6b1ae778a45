"""A ticket walked again: with an answer, or because its walk broke."""

import time
from collections.abc import Collection
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.gateway.intake.accepting import WALK_TASK
from services.gateway.tables import TicketRow
from services.gateway.ticket.events import Note, add_events, latest_change
from services.gateway.ticket.queries import TicketNotFoundError
from services.kit.errors import ConflictError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

RETRIED = "retried"

SOMEBODY_WAITS = 0
"""The priority of a walk that an engineer has asked for."""

_FAILED = (TicketStatus.FAILED.value,)
_NOT_HANDED_OVER = tuple(
    status.value for status in TicketStatus if status is not TicketStatus.HANDED_OVER
)
_OVER = tuple(status.value for status in TicketStatus if status.is_final)


class TicketNotFailedError(ConflictError):
    """The ticket's walk did not fail: there is nothing to try again."""


class Retrying:
    """Puts back to work what broke, each once, however many ask at the same moment."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def ticket(self, ticket_id: str) -> None:
        """Queue the walk of a failed ticket again; nothing where that is under way already.

        Raises:
            TicketNotFoundError: No such ticket.
            TicketNotFailedError: Its walk is not over, or ended well.
        """
        with self._database.session() as session:
            walk = _reopen(session, ticket_id, _FAILED)
            if walk is None:
                _check_retried(session, ticket_id)
                return
            key = walk_key(ticket_id, walk)
            # Given up by the queue, the task is there still; ended by the walk itself, it is not.
            if not self._outbox.retry(session, key):
                self._outbox.put(session, WALK_TASK, {"ticket_id": ticket_id}, key)

    def walk(self, session: Session, ticket_id: str, key: str) -> None:
        """Open the ticket of a walk that is back at work, unless it was walked otherwise since."""
        walks = session.scalar(select(TicketRow.walks).where(TicketRow.id == ticket_id))
        if walks is not None and walk_key(ticket_id, walks) == key:
            _reopen(session, ticket_id, _OVER)


def walk_key(ticket_id: str, walk: int) -> str:
    """Names the task of one walk of a ticket."""
    return f"{WALK_TASK}:{ticket_id}" if walk == 1 else f"{WALK_TASK}:{ticket_id}:{walk}"


def walk_again(
    session: Session, outbox: Outbox, ticket_id: str, *, priority: int = SOMEBODY_WAITS
) -> bool:
    """Queue another walk, in the caller's transaction; until it is over the workflow stays.

    A ticket that was handed over stays so: then it is False.
    """
    values = {"status": TicketStatus.PLANNING.value, "walks": TicketRow.walks + 1}
    walk = _begin(session, ticket_id, values, _NOT_HANDED_OVER)
    if walk is not None:
        key, task = walk_key(ticket_id, walk), {"ticket_id": ticket_id}
        outbox.put(session, WALK_TASK, task, key, priority=priority)
    return walk is not None


def _reopen(session: Session, ticket_id: str, from_: Collection[str]) -> int | None:
    """The number of its walk; None, and nothing is done, where it stands otherwise."""
    values = {"status": TicketStatus.RECEIVED.value, "reason": ""}
    walk = _begin(session, ticket_id, values, from_)
    if walk is not None:
        add_events(session, ticket_id, [Note(RETRIED)])
    return walk


def _begin(
    session: Session, ticket_id: str, values: dict[str, Any], from_: Collection[str]
) -> int | None:
    now = time.time()
    is_from = TicketRow.status.in_(from_)
    statement = update(TicketRow).where(TicketRow.id == ticket_id, is_from)
    changed = statement.values(**values, began_at=now, updated_at=now)
    return session.scalar(changed.returning(TicketRow.walks))


def _check_retried(session: Session, ticket_id: str) -> None:
    """That the ticket is under way since somebody else asked for the same."""
    row = session.get(TicketRow, ticket_id)
    if row is None:
        raise TicketNotFoundError(f"no ticket has the id {ticket_id[:60]!r}")
    if TicketStatus(row.status).is_final or latest_change(session, ticket_id) != RETRIED:
        raise TicketNotFailedError(f"expected a ticket that failed, and this one is {row.status}")
