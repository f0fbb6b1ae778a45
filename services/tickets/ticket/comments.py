"""Comments from ticket systems, each kept once; the platform's own notes are recognised."""

import time
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.gateway import TicketComment
from services.kit.access.caller import current_caller
from services.kit.sql.database import insert_of
from services.tickets.tables import CommentRow, to_datetime

MOST = 200
"""Comments of one ticket; a longer discussion is read in its own system."""

OPENING = "FlowXpert: "
"""First words of every note that the platform writes."""
MARK = "— written by FlowXpert"
"""Line near the end of every note: a system may put its own words before a note."""


@dataclass(frozen=True)
class Comment:
    """Comment that somebody wrote on a ticket in its own system."""

    source: str
    external_id: str
    """Id of the ticket in its own system."""
    text: str
    author: str
    """Name as the system gives it; may be empty."""
    id: str
    """Id of the comment, the same in each of its deliveries."""


def is_ours(text: str) -> bool:
    """Return True if the platform wrote this; quoted lines are not looked at."""
    own = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(">")]
    return MARK in own or any(line.startswith(OPENING) for line in own)


def add_comment(session: Session, ticket_id: str, comment: Comment) -> bool:
    """Store the caller's comment; return False if it is stored or the ticket has `MOST`."""
    count = select(func.count()).where(CommentRow.ticket_id == ticket_id)
    if (session.scalar(count) or 0) >= MOST:
        return False
    insert, caller = insert_of(session), current_caller()
    statement = (
        insert(CommentRow)
        .values(
            ticket_id=ticket_id,
            id=comment.id,
            source=comment.source,
            author=comment.author,
            text=comment.text,
            at=time.time(),
            caller=caller.name[:200],
            caller_id=caller.lasting_id[:400],
            caller_kind=caller.kind.value,
        )
        .on_conflict_do_nothing()
        .returning(CommentRow.id)
    )
    return session.scalar(statement) is not None


def list_comments(session: Session, ticket_id: str) -> tuple[TicketComment, ...]:
    """Return the comments on a ticket, oldest first."""
    of_ticket = select(CommentRow).where(CommentRow.ticket_id == ticket_id)
    ordered = of_ticket.order_by(CommentRow.at, CommentRow.id)
    return tuple(
        TicketComment(
            id=row.id,
            source=row.source,
            author=row.author,
            text=row.text,
            at=to_datetime(row.at),
            turn=row.turn,
        )
        for row in session.scalars(ordered)
    )
