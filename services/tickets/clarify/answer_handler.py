"""Answers to questions: each is taken once, and what was learned starts a new walk.

The question which page applies may be answered anew: the cards of the other pages stay in reach.
"""

import time
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.clarification import (
    Clarification,
    ClarificationAnswer,
    ClarificationState,
)
from services.contracts.ticket import TicketStatus
from services.kit.access.caller import current_caller
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, execute_and_count
from services.kit.teaching.ledger import record_teaching, ticket_subject
from services.language.answers import answer_of, plain_answer
from services.tickets.clarify.question_policy import QuestionPolicy
from services.tickets.page_feedback import keep_feedback, withdraw_feedback
from services.tickets.tables import ClarificationRow, TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import stop_questions, walk_again
from services.tickets.ticket.queries import no_ticket
from services.tickets.ticket.question import (
    ClarifyingQuestion,
    QuestionTopic,
    current_questions,
    questions_of,
    to_clarification,
    why_closed,
    words,
)
from services.tickets.ticket.queue import Announcer

_OPEN = ClarificationState.OPEN.value
_HANDED_OVER = "a team has the ticket"
_ANSWERED = ClarificationState.ANSWERED.value
MOST_KEPT = 20
"""Answers in own words to one question that are kept: the latest."""


class ClarificationNotFoundError(NotFoundError):
    """The ticket was not asked a question of this id."""


class ClarificationAnsweredError(ConflictError):
    """The question was answered otherwise before, or needs no answer any more."""


class TicketHandedOverError(ConflictError):
    """A team has the ticket: an answer would make a workflow that nobody waits for."""


class NoSuchChoiceError(InvalidInputError):
    """The question has no choice of this number."""


class AnswerHandler:
    """Handler of answers; of two at one moment one counts, and repeating it changes nothing.

    Of two answers to a question about pages the later one counts.
    """

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        question_policy: QuestionPolicy,
        announcer: Announcer | None = None,
    ) -> None:
        """Create the handler; without `announcer` no ticket system learns of the next question."""
        self._announcer = announcer
        self._database = database
        self._outbox = outbox
        self._question_policy = question_policy

    def of_ticket(self, ticket_id: str) -> list[Clarification]:
        """List all questions about a ticket in their order; only the last may be open.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            _check_ticket(session, ticket_id)
            return list(current_questions(session, ticket_id))

    def answer(
        self,
        ticket_id: str,
        clarification_id: str,
        reply: ClarificationAnswer,
        *,
        is_anew: bool = True,
    ) -> Clarification:
        """Take the answer; if it settles the question, the ticket is walked again.

        Own words that are none of the choices settle nothing: they are kept with the ticket, the
        question stays open, and no workflow is made. After “not known” the next question is asked.
        A page replaces the one that was chosen before, and reopens a dismissed question, unless
        `is_anew` is False.

        Raises:
            ClarificationNotFoundError: No such question.
            ClarificationAnsweredError: It was answered otherwise or dismissed, and the answer is no
                page; or it is gone.
            NoSuchChoiceError: It has fewer choices.
            TicketHandedOverError: A team has the ticket by now.
        """
        with self._database.session() as session:
            self._database.lock(session, [ticket_id])
            row = session.get(ClarificationRow, clarification_id)
            if row is None or row.ticket_id != ticket_id:
                raise ClarificationNotFoundError(f"no such question: {clarification_id[:60]!r}")
            why = why_closed(session, row) if row.state == _OPEN else ""
            if why == _HANDED_OVER:
                raise _handed_over()
            if why:
                raise ClarificationAnsweredError(f"the question needs no answer any more: {why}")
            question = ClarifyingQuestion.model_validate(row.question)
            values = _row_values(reply, question)
            if question.choices and values["state"] == _ANSWERED and values["choice"] is None:
                _keep_own_words(session, row, reply.text)
            elif self._close_with(session, row, question, values, is_anew=is_anew):
                self._continue_with(session, row)
            else:
                session.refresh(row)
                _check_same(row, values)
            return to_clarification(row)

    def dismiss(self, ticket_id: str) -> list[Clarification]:
        """Ask no more about the ticket: its engineer goes on with what is known.

        This may happen at any time; a walk under way asks nothing when it ends.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        values: dict[str, Any] = {"state": ClarificationState.DISMISSED.value}
        with self._database.session() as session:
            self._database.lock(session, [ticket_id])
            _check_ticket(session, ticket_id)
            if stop_questions(session, ticket_id):
                turns = questions_of(session, ticket_id)
                for row in (each for each in turns if each.state == _OPEN):
                    _close(session, row.id, values)
                add_events(session, ticket_id, [Note("went_on", {"turn": len(turns)})])
        return self.of_ticket(ticket_id)

    def _close_with(
        self,
        session: Session,
        row: ClarificationRow,
        question: ClarifyingQuestion,
        values: dict[str, Any],
        *,
        is_anew: bool,
    ) -> bool:
        """Close the question and keep its verdict on the pages; return True if it was open.

        With `is_anew`, choosing another page counts too.
        """
        before = row.choice if row.answered_by == _caller() else None
        place = values["choice"]
        is_page = question.about is QuestionTopic.PAGES and place is not None
        if not _close(session, row.id, values, is_anew=is_anew and is_page):
            return False
        session.refresh(row)
        record_teaching(session, ticket_subject(row.ticket_id))
        ticket = select(TicketRow.family).where(TicketRow.id == row.ticket_id)
        if is_page and (family := session.scalar(ticket)):
            if before is not None:
                withdraw_feedback(session, family, question, question.choices[before])
            keep_feedback(session, family, question, question.choices[place])
        return True

    def _continue_with(self, session: Session, row: ClarificationRow) -> None:
        """Walk the ticket again, or ask the next question if nothing was learned."""
        status = select(TicketRow.status).where(TicketRow.id == row.ticket_id)
        if session.scalar(status) == TicketStatus.HANDED_OVER.value:
            raise _handed_over()
        if row.state == ClarificationState.UNKNOWN.value:
            unknown = set(ClarifyingQuestion.model_validate(row.question).decisions)
            kept = map(ClarifyingQuestion.model_validate, row.others)
            notes_of_next = self._question_policy.ask(
                session,
                row.ticket_id,
                [other for other in kept if not unknown.intersection(other.decisions)],
            )
            notes = [Note("not_known", {"turn": row.turn}), *notes_of_next]
            if notes_of_next and self._announcer and not self._question_policy.is_worded:
                self._announcer.put(session, row.ticket_id)
        else:
            notes = [Note("answered", {"turn": row.turn, "answer": row.answer})]
            if not walk_again(session, self._outbox, row.ticket_id):
                raise _handed_over()
        add_events(session, row.ticket_id, notes)


def _handed_over() -> TicketHandedOverError:
    return TicketHandedOverError("the ticket was handed over: no more is made of an answer to it")


def _check_ticket(session: Session, ticket_id: str) -> None:
    if session.get(TicketRow, ticket_id) is None:
        raise no_ticket(ticket_id)


def _row_values(reply: ClarificationAnswer, question: ClarifyingQuestion) -> dict[str, Any]:
    """Return the columns of an answer; own words equal to a choice count as that choice."""
    if reply.unknown:
        return {"state": ClarificationState.UNKNOWN.value, "choice": None, "answer": ""}
    place = _choice_index(reply, question)
    answer = reply.text if place is None else question.choices[place].text
    return {"state": ClarificationState.ANSWERED.value, "choice": place, "answer": answer}


def _choice_index(reply: ClarificationAnswer, question: ClarifyingQuestion) -> int | None:
    if reply.choice is None:
        spoken = words(reply.text)
        texts = [words(choice.text) for choice in question.choices]
        if spoken in texts:
            return texts.index(spoken)
        # The one choice of the same meaning: `Yes, it is down` is the choice `Yes`.
        polarity = plain_answer(reply.text)
        alike = [n for n, each in enumerate(question.choices) if answer_of(each.text) == polarity]
        return alike[0] if polarity and len(alike) == 1 else None
    if reply.choice > len(question.choices):
        raise NoSuchChoiceError(f"expected 1 to {len(question.choices)}, got {reply.choice}")
    return reply.choice - 1


def _keep_own_words(session: Session, row: ClarificationRow, text: str) -> None:
    """Keep own words that settle nothing; the same words again are kept once.

    Raises:
        ClarificationAnsweredError: The question is not open any more.
    """
    if row.state != _OPEN:
        _check_same(row, {"answer": text})
    elif text not in row.said:
        row.said = [*row.said, text][-MOST_KEPT:]
        add_events(session, row.ticket_id, [Note("not_settled", {"turn": row.turn})])


def _close(session: Session, id_: str, values: dict[str, Any], *, is_anew: bool = False) -> bool:
    """Close an open question, or with `is_anew` change its choice; return True if it did."""
    is_other = ClarificationRow.choice.is_distinct_from(values.get("choice"))
    statement = (
        update(ClarificationRow)
        .where(ClarificationRow.id == id_, is_other if is_anew else ClarificationRow.state == _OPEN)
        .values(**values, answered_at=time.time(), answered_by=_caller())
    )
    return execute_and_count(session, statement) == 1


def _caller() -> str:
    return current_caller().name[:200]


def _check_same(row: ClarificationRow, values: dict[str, Any]) -> None:
    """Raise `ClarificationAnsweredError` unless the row holds the same answer."""
    if any(getattr(row, name) != value for name, value in values.items()):
        previous = row.answer or row.state
        raise ClarificationAnsweredError(f"the question was closed before: {previous[:200]!r}")
