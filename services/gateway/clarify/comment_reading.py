"""The task that reads a comment from a ticket's own system: an answer, or something to keep.

A line that begins with `answer:` always does. Without it a comment does where its system was told
of the question, and it is nothing but the number or the words of a choice, or begins with a plain
yes or no and just one choice does.
"""

import re

import structlog
from sqlalchemy import update
from sqlalchemy.orm import Session

from services.contracts.clarification import Clarification, ClarificationAnswer, ClarificationState
from services.gateway.clarify.answering import Answering
from services.gateway.tables import CommentRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.question import is_shown_elsewhere, told_questions, words
from services.kit.access.caller import Caller, Kind, acting_as
from services.kit.errors import ConflictError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

SHOWN_CHARACTERS = 300
"""Of a comment in an event; the whole is kept with the ticket."""

_log = structlog.get_logger()

_MARKED = re.compile(r"[\s*_]*answer[\s*_]*:[\s*_]*(?P<said>.*)", re.IGNORECASE)
_NUMBER = re.compile(r"[(#]?\s{0,3}([0-9]{1,2})\s{0,3}[).]?")
_YES_OR_NO = re.compile(r"(?:yes|no)\s{0,3}(?:[,.;:!–—-].*)?", re.IGNORECASE | re.DOTALL)
_UNKNOWN = frozenset({"unknown", "not known", "i don t know", "i do not know", "don t know"})


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
        questions = told_questions(session, row.ticket_id)
        if row.turn is not None:
            return questions[row.turn - 1]
        asked = questions[-1] if questions else None
        if asked is None or asked.state is not ClarificationState.OPEN:
            return None
        told = is_shown_elsewhere(session, row.ticket_id, asked.id)
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
                self._answering.answer(row.ticket_id, asked.id, given, is_anew=False)
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


def answer_in(text: str, asked: Clarification, *, was_told: bool) -> ClarificationAnswer | None:
    """The answer; None where there is none. `was_told`: a system shows the question."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    for place, line in enumerate(lines):
        marked = _MARKED.fullmatch(line)
        if marked:
            said = marked["said"].strip() or " ".join(lines[place + 1 :]).strip()
            return _given(said, asked) if said else None
    whole = "\n".join(lines).strip()
    return _given(whole, asked) if was_told and _is_plain(whole, asked) else None


def _given(said: str, asked: Clarification) -> ClarificationAnswer:
    number = _NUMBER.fullmatch(said)
    if number and 1 <= int(number[1]) <= len(asked.choices):
        return ClarificationAnswer(choice=int(number[1]))
    if words(said) in _UNKNOWN:
        return ClarificationAnswer(unknown=True)
    return ClarificationAnswer(text=said)


def _is_plain(said: str, asked: Clarification) -> bool:
    number = _NUMBER.fullmatch(said)
    if number:
        return 1 <= int(number[1]) <= len(asked.choices)
    choices = [words(choice) for choice in asked.choices]
    if said and words(said) in choices:
        return True
    begins = said[:3].casefold().rstrip(" ,.;:!–—-")
    return bool(_YES_OR_NO.fullmatch(said)) and sum(c.split()[:1] == [begins] for c in choices) == 1
