"""Tasks that follow from what happens to a ticket, queued in the transaction that stores it."""

from collections.abc import Collection
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.kit.batches import batches
from services.kit.ids import time_ordered_id
from services.kit.observability import tracing
from services.kit.queue.outbox import NORMAL, NewTask, Outbox
from services.tickets.tables import EventRow

WALK_TASK = "gateway.walk_ticket"
LEARN_TICKET_TASK = "gateway.learn_ticket"
READ_COMMENT_TASK = "gateway.read_comment"
ARCHIVE_TASK = "gateway.archive_ticket"
FORGET_CASES_TASK = "gateway.forget_cases"
CHOOSE_PAGE_TASK = "gateway_model.choose_page"
LOOK_TASK = "gateway.look_at_once"
SEARCH_TASK = "gateway.search_at_once"

SOMEBODY_WAITS = 0
"""Priority of a walk that an engineer has asked for."""


class Announcer(Protocol):
    """Queue of ticket news for the systems that follow the ticket."""

    def put(self, session: Session, ticket_id: str) -> None:
        """Queue the announcement in the caller's transaction."""
        ...


def walk_key(ticket_id: str, walk: int) -> str:
    """Return the key of the task that is one walk of a ticket."""
    return f"{WALK_TASK}:{ticket_id}" if walk == 1 else f"{WALK_TASK}:{ticket_id}:{walk}"


def put_walk(
    session: Session, outbox: Outbox, ticket_id: str, walk: int = 1, *, priority: int = NORMAL
) -> None:
    """Queue a walk of the ticket."""
    key = walk_key(ticket_id, walk)
    outbox.put(session, WALK_TASK, {"ticket_id": ticket_id}, key, priority=priority)


def first_walk(ticket_id: str, priority: int) -> NewTask:
    """Build the task of a new ticket's first walk, with the current trace."""
    key = walk_key(ticket_id, 1)
    return NewTask({"ticket_id": ticket_id}, key, priority, str(tracing.current_context()))


def put_search(session: Session, outbox: Outbox, ticket_id: str) -> None:
    """Queue the start of a search for the cause, if the executor's policy allows it by itself.

    Each time under a key of its own: it is asked again when the ticket is rejected later.
    """
    key = f"{SEARCH_TASK}:{ticket_id}:{time_ordered_id()}"
    outbox.put(session, SEARCH_TASK, {"ticket_id": ticket_id}, key, priority=9)


def put_forgetting(session: Session, outbox: Outbox, ticket_ids: Collection[str]) -> None:
    """Queue the removal of these tickets' cases: reopened, rejected, or their teaching is back."""
    tasks = [
        NewTask(
            {"ticket_ids": [id_]},
            f"{FORGET_CASES_TASK}:{id_}",
            NORMAL,
            str(tracing.current_context()),
        )
        for id_ in _tickets_with(session, "archived", ticket_ids)
    ]
    outbox.put_all(session, FORGET_CASES_TASK, tasks)


def put_archiving(session: Session, outbox: Outbox, ticket_ids: Collection[str]) -> None:
    """Queue these tickets, as far as they were typical cases before, to become such again."""
    for id_ in _tickets_with(session, "archived", ticket_ids):
        key = f"{ARCHIVE_TASK}:{id_}"
        outbox.put(session, ARCHIVE_TASK, {"ticket_id": id_}, key)


def _tickets_with(session: Session, kind: str, ticket_ids: Collection[str]) -> list[str]:
    ids = set[str]()
    for some in batches(sorted(ticket_ids)):
        has_event = (EventRow.ticket_id.in_(some), EventRow.kind == kind)
        ids.update(session.scalars(select(EventRow.ticket_id).where(*has_event)))
    return sorted(ids)
