"""Comments on tickets: told from the platform's own notes, and kept once, so many of one ticket."""

import time
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.gateway import TicketComment
from services.gateway.tables import CommentRow, moment
from services.kit.sql.database import insert_of

MOST = 200
"""Comments of one ticket; a longer discussion is read in its own system."""

OPENING = "FlowXpert: "
"""Every note begins so."""
MARK = "— written by FlowXpert"
"""And has this line near its end: a system may put its own words before a note."""


@dataclass(frozen=True)
class Comment:
    """What somebody said about a ticket in its own system."""

    source: str
    external_id: str
    """Of the ticket."""
    text: str
    author: str
    """As the system calls them; may be empty."""
    id: str
    """The same comment has the same."""


def is_ours(text: str) -> bool:
    """Whether the platform has written this; what somebody quotes of it is not looked at."""
    own = [line.strip() for line in text.splitlines() if not line.lstrip().startswith(">")]
    return MARK in own or any(line.startswith(OPENING) for line in own)


def add_comment(session: Session, ticket_id: str, said: Comment) -> bool:
    """Keep the comment; False where it is known, or the ticket has as many as are kept."""
    count = select(func.count()).where(CommentRow.ticket_id == ticket_id)
    if (session.scalar(count) or 0) >= MOST:
        return False
    insert = insert_of(session)
    statement = (
        insert(CommentRow)
        .values(
            ticket_id=ticket_id,
            id=said.id,
            source=said.source,
            author=said.author,
            text=said.text,
            at=time.time(),
        )
        .on_conflict_do_nothing()
        .returning(CommentRow.id)
    )
    return session.scalar(statement) is not None


def comments_of(session: Session, ticket_id: str) -> tuple[TicketComment, ...]:
    """What was said about a ticket, in the order in which it came."""
    of_ticket = select(CommentRow).where(CommentRow.ticket_id == ticket_id)
    ordered = of_ticket.order_by(CommentRow.at, CommentRow.id)
    return tuple(_told(row) for row in session.scalars(ordered))


def _told(row: CommentRow) -> TicketComment:
    return TicketComment(
        id=row.id,
        source=row.source,
        author=row.author,
        text=row.text,
        at=moment(row.at),
        turn=row.turn,
    )
