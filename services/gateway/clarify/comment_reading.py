"""The task that reads a comment from a ticket's own system: an answer, or something to keep."""

import structlog
from sqlalchemy import update
from sqlalchemy.orm import Session

from services.contracts.clarification import Clarification, ClarificationState
from services.gateway.clarify.answering import Answering
from services.gateway.clarify.asking import clarification, rows_of
from services.gateway.clarify.comment_answers import answer_in
from services.gateway.tables import CommentRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.writeback.told import was_asked
from services.kit.access.caller import Caller, Kind, acting_as
from services.kit.errors import ConflictError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

SHOWN_CHARACTERS = 300
"""Of a comment in an event; the whole is kept with the ticket."""

_log = structlog.get_logger()


class CommentReader:
    """Reads each comment once. A comment that answers is bound to its question before it does.

    So a process that dies in between answers the same question again, and never the next one.
    """

    def __init__(self, database: Database, outbox: Outbox, answering: Answering) -> None:
        self._database = database
        self._outbox = outbox
        self._answering = answering

    def run(self, ticket_id: str, comment_id: str) -> None:
        """Take the comment as an answer where it is one, else note it on the ticket."""
        with self._database.session() as session:
            row = session.get(CommentRow, (ticket_id, comment_id))
            asked = self._bound(session, row) if row is not None else None
        if row is None:  # purged with its ticket
            return
        is_taken = asked is not None and self._answer(row, asked)
        with self._database.session() as session:
            if not is_taken:
                _bind(session, row, None)
                add_events(session, ticket_id, [_commented(row)])
            self._outbox.finish(session)

    def _bound(self, session: Session, row: CommentRow) -> Clarification | None:
        """The question that the comment answers."""
        questions = [clarification(each) for each in rows_of(session, row.ticket_id)]
        if row.turn is not None:
            return questions[row.turn - 1]
        asked = questions[-1] if questions else None
        if asked is None or asked.state is not ClarificationState.OPEN:
            return None
        told = was_asked(session, row.ticket_id, asked.id)
        if answer_in(row.text, asked, was_told=told) is None:
            return None
        _bind(session, row, asked.turn)
        return asked

    def _answer(self, row: CommentRow, asked: Clarification) -> bool:
        given = answer_in(row.text, asked, was_told=True)
        if given is None:
            return False
        try:
            with acting_as(_person(row)):
                self._answering.answer(row.ticket_id, asked.id, given)
        except ConflictError as error:  # somebody else was quicker
            _log.info("gateway.comment_came_late", ticket_id=row.ticket_id, reason=str(error)[:200])
            return False
        return True


def _bind(session: Session, row: CommentRow, turn: int | None) -> None:
    is_row = (CommentRow.ticket_id == row.ticket_id, CommentRow.id == row.id)
    session.execute(update(CommentRow).where(*is_row).values(turn=turn))


def _person(row: CommentRow) -> Caller:
    """Who commented, as their system calls them; the system stands for it."""
    name = f"{row.author or 'somebody'} ({row.source})"
    return Caller(name, Kind.SOURCE, f"{row.source}:{row.author}")


def _commented(row: CommentRow) -> Note:
    facts: dict[str, object] = {"author": row.author, "text": row.text[:SHOWN_CHARACTERS]}
    return Note("commented", {**facts, "source": row.source})
