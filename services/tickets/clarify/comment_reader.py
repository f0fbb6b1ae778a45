"""Reader of comments from a ticket's own system: each is an answer or is noted on the ticket.

A line that begins with `answer:` is always an answer. Without that mark a comment is one only if
its system was shown the question, and it is just the number or the words of a choice, or begins
with a plain yes or no that just one choice begins with too.
"""

import re

import structlog
from sqlalchemy import update
from sqlalchemy.orm import Session

from services.contracts.clarification import Clarification, ClarificationAnswer, ClarificationState
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.errors import ConflictError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.recorded_callers import caller_of_id
from services.tickets.clarify.answer_handler import AnswerHandler
from services.tickets.tables import CommentRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.question import current_questions, is_shown_elsewhere, words

SHOWN_CHARACTERS = 300
"""Characters of a comment in an event; the ticket keeps the whole."""

_log = structlog.get_logger()

_MARKED = re.compile(r"[\s*_]*answer[\s*_]*:[\s*_]*(?P<said>.*)", re.IGNORECASE)
_NUMBER = re.compile(r"[(#]?\s{0,3}([0-9]{1,2})\s{0,3}[).]?")
_YES_OR_NO = re.compile(r"(?:yes|no)\s{0,3}(?:[,.;:!–—-].*)?", re.IGNORECASE | re.DOTALL)
_UNKNOWN = frozenset({"unknown", "not known", "i don t know", "i do not know", "don t know"})


class CommentReader:
    """Reader of comments, each once. One that answers is bound to its question first.

    So a process that dies in between answers the same question again, and never the next one.
    """

    def __init__(self, database: Database, outbox: Outbox, answer_handler: AnswerHandler) -> None:
        self._database = database
        self._outbox = outbox
        self._answer_handler = answer_handler

    def run(self, ticket_id: str, comment_id: str) -> None:
        """Take the comment as an answer if it is one, else note it on the ticket."""
        with self._database.session() as session:
            row = session.get(CommentRow, (ticket_id, comment_id))
            question = self._question_of(session, row) if row is not None else None
        if row is None:  # purged with its ticket
            return
        is_taken = question is not None and self._answer(row, question)
        with self._database.session() as session:
            if not is_taken:
                _bind(session, row, None)
                text = row.text[:SHOWN_CHARACTERS]
                facts: dict[str, object] = {"author": row.author, "text": text}
                facts["source"] = row.source
                add_events(session, ticket_id, [Note("commented", facts)])
            self._outbox.finish(session)

    def _question_of(self, session: Session, row: CommentRow) -> Clarification | None:
        """Return the question that the comment answers, bound to it; None if it answers none."""
        questions = current_questions(session, row.ticket_id)
        if row.turn is not None:
            return questions[row.turn - 1]
        question = questions[-1] if questions else None
        if question is None or question.state is not ClarificationState.OPEN:
            return None
        is_shown = is_shown_elsewhere(session, row.ticket_id, question.id)
        if parse_comment(row.text, question, is_question_shown=is_shown) is None:
            return None
        _bind(session, row, question.turn)
        return question

    def _answer(self, row: CommentRow, question: Clarification) -> bool:
        answer = parse_comment(row.text, question, is_question_shown=True)
        if answer is None:
            return False
        with self._database.session() as session:
            author = _author_of(session, row)
        try:
            with acting_as(author):
                self._answer_handler.answer(row.ticket_id, question.id, answer, is_anew=False)
        except ConflictError as error:  # somebody else was quicker
            _log.info("gateway.comment_came_late", ticket_id=row.ticket_id, reason=str(error)[:200])
            return False
        return True


def _author_of(session: Session, row: CommentRow) -> Caller:
    """Return whose words a comment is: the source's if it signed them, else who brought them.

    Where nobody signs in, whoever delivers is nobody else than the machine's user.
    """
    kind = CallerKind(row.caller_kind or CallerKind.SOURCE)
    if kind in {CallerKind.SOURCE, CallerKind.LOCAL}:
        name = f"{row.author or 'somebody'} ({row.source})"
        return Caller(name, CallerKind.SOURCE, f"{row.source}:{row.author}")
    return caller_of_id(session, row.caller_id, row.caller, kind)


def _bind(session: Session, row: CommentRow, turn: int | None) -> None:
    is_row = (CommentRow.ticket_id == row.ticket_id, CommentRow.id == row.id)
    session.execute(update(CommentRow).where(*is_row).values(turn=turn))


def parse_comment(
    text: str, question: Clarification, *, is_question_shown: bool
) -> ClarificationAnswer | None:
    """Parse the answer in a comment; None if there is none.

    `is_question_shown` says that the ticket's system shows the question.
    """
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    for place, line in enumerate(lines):
        marked = _MARKED.fullmatch(line)
        if marked:
            text_after_mark = marked["said"].strip() or " ".join(lines[place + 1 :]).strip()
            return _parse_reply(text_after_mark, question) if text_after_mark else None
    whole = "\n".join(lines).strip()
    return (
        _parse_reply(whole, question)
        if is_question_shown and _is_plain_reply(whole, question)
        else None
    )


def _parse_reply(reply: str, question: Clarification) -> ClarificationAnswer:
    number = _NUMBER.fullmatch(reply)
    if number and 1 <= int(number[1]) <= len(question.choices):
        return ClarificationAnswer(choice=int(number[1]))
    if words(reply) in _UNKNOWN:
        return ClarificationAnswer(unknown=True)
    return ClarificationAnswer(text=reply)


def _is_plain_reply(reply: str, question: Clarification) -> bool:
    number = _NUMBER.fullmatch(reply)
    if number:
        return 1 <= int(number[1]) <= len(question.choices)
    choices = [words(choice) for choice in question.choices]
    if reply and words(reply) in choices:
        return True
    begins = reply[:3].casefold().rstrip(" ,.;:!–—-")
    return (
        bool(_YES_OR_NO.fullmatch(reply)) and sum(c.split()[:1] == [begins] for c in choices) == 1
    )
