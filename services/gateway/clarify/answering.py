"""Answers to questions: each is taken once, and the ticket is walked again with what it told.

Which page it is may be answered anew: the cards of the others stay in reach.
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
from services.gateway.clarify.asking import Asking
from services.gateway.page_words.store import keep_words, withdraw_words
from services.gateway.tables import ClarificationRow, TicketRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import end_questions, walk_again
from services.gateway.ticket.queries import no_ticket
from services.gateway.ticket.question import (
    About,
    Question,
    clarification,
    questions_of,
    told_questions,
    why_gone,
    words,
)
from services.gateway.ticket.queue import Announcer
from services.kit.access.caller import current_caller
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.sql.rows import changed
from services.language.answers import answer_of, plain_answer

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


class Answering:
    """Takes answers, each once: of two at one moment one counts, and the same again is no other.

    Of a question about pages the later one counts.
    """

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        asking: Asking,
        announcer: Announcer | None = None,
    ) -> None:
        """Without `announcer` no system is told of the next question."""
        self._announcer = announcer
        self._database = database
        self._outbox = outbox
        self._asking = asking

    def of_ticket(self, ticket_id: str) -> list[Clarification]:
        """All questions about a ticket in their order; only the last may be open.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            _check_ticket(session, ticket_id)
            return list(told_questions(session, ticket_id))

    def answer(
        self,
        ticket_id: str,
        clarification_id: str,
        given: ClarificationAnswer,
        *,
        is_anew: bool = True,
    ) -> Clarification:
        """Take the answer; the ticket is walked again where it settles the question.

        Own words that are none of the choices settle nothing: they are kept with the ticket, the
        question stays open, and nothing is made again. Who does not know is asked something else.
        A page takes the place of the one that was chosen before, unless `is_anew` is False.

        Raises:
            ClarificationNotFoundError: No such question.
            ClarificationAnsweredError: It was answered otherwise, dismissed, or is gone.
            NoSuchChoiceError: It has fewer choices.
            TicketHandedOverError: A team has the ticket by now.
        """
        with self._database.session() as session:
            self._database.take_turn(session, [ticket_id])
            row = session.get(ClarificationRow, clarification_id)
            if row is None or row.ticket_id != ticket_id:
                raise ClarificationNotFoundError(f"no such question: {clarification_id[:60]!r}")
            if row.state == _OPEN:
                _check_waits(session, row)
            question = Question.model_validate(row.question)
            values = _read(given, question)
            if question.choices and values["state"] == _ANSWERED and values["choice"] is None:
                _keep(session, row, given.text)
            elif self._close_with(session, row, question, values, is_anew=is_anew):
                self._go_on_with(session, row)
            else:
                session.refresh(row)
                _check_same(row, values)
            return clarification(row)

    def dismiss(self, ticket_id: str) -> list[Clarification]:
        """Ask no more about the ticket: its engineer goes on with what is known.

        It may be said at any time; a walk that is on its way asks nothing when it ends.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        values: dict[str, Any] = {"state": ClarificationState.DISMISSED.value}
        with self._database.session() as session:
            self._database.take_turn(session, [ticket_id])
            _check_ticket(session, ticket_id)
            if end_questions(session, ticket_id):
                turns = questions_of(session, ticket_id)
                for row in (each for each in turns if each.state == _OPEN):
                    _close(session, row.id, values)
                add_events(session, ticket_id, [Note("went_on", {"turn": len(turns)})])
        return self.of_ticket(ticket_id)

    def _close_with(
        self,
        session: Session,
        row: ClarificationRow,
        question: Question,
        values: dict[str, Any],
        *,
        is_anew: bool,
    ) -> bool:
        """Close the question, and keep what that says of its pages; whether this was new."""
        before = row.choice if row.answered_by == _caller() else None
        place = values["choice"]
        is_page = question.about is About.PAGES and place is not None
        if not _close(session, row.id, values, is_anew=is_anew and is_page):
            return False
        session.refresh(row)
        ticket = select(TicketRow.family).where(TicketRow.id == row.ticket_id)
        if is_page and (family := session.scalar(ticket)):
            if before is not None:
                withdraw_words(session, family, question, question.choices[before])
            keep_words(session, family, question, question.choices[place])
        return True

    def _go_on_with(self, session: Session, row: ClarificationRow) -> None:
        """Walk the ticket again, or ask the next question where nothing was learned."""
        status = select(TicketRow.status).where(TicketRow.id == row.ticket_id)
        if session.scalar(status) == TicketStatus.HANDED_OVER.value:
            raise _handed_over()
        if row.state == ClarificationState.UNKNOWN.value:
            asked = self._asking.ask(session, row.ticket_id, _others(row))
            notes = [Note("not_known", {"turn": row.turn}), *asked]
            if asked and self._announcer and not self._asking.is_worded:
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


def _read(given: ClarificationAnswer, question: Question) -> dict[str, Any]:
    """What is stored of an answer; own words that are one of the choices are that choice."""
    if given.unknown:
        return {"state": ClarificationState.UNKNOWN.value, "choice": None, "answer": ""}
    place = _place(given, question)
    answer = given.text if place is None else question.choices[place].text
    return {"state": ClarificationState.ANSWERED.value, "choice": place, "answer": answer}


def _place(given: ClarificationAnswer, question: Question) -> int | None:
    if given.choice is None:
        said = words(given.text)
        texts = [words(choice.text) for choice in question.choices]
        return texts.index(said) if said in texts else _yes_or_no(given.text, question)
    if given.choice > len(question.choices):
        raise NoSuchChoiceError(f"expected 1 to {len(question.choices)}, got {given.choice}")
    return given.choice - 1


def _yes_or_no(said: str, question: Question) -> int | None:
    """`Yes, it is down` is the choice `Yes`, where there is just one such choice."""
    told = plain_answer(said)
    places = [n for n, choice in enumerate(question.choices) if answer_of(choice.text) == told]
    return places[0] if told and len(places) == 1 else None


def _check_waits(session: Session, row: ClarificationRow) -> None:
    """Refuse to answer a question that nobody is asked any more."""
    why = why_gone(session, row)
    if why == _HANDED_OVER:
        raise _handed_over()
    if why:
        raise ClarificationAnsweredError(f"the question needs no answer any more: {why}")


def _keep(session: Session, row: ClarificationRow, text: str) -> None:
    """Keep own words that settle nothing; the same words again are kept once.

    Raises:
        ClarificationAnsweredError: It is not open any more.
    """
    if row.state != _OPEN:
        _check_same(row, {"answer": text})
    elif text not in row.said:
        row.said = [*row.said, text][-MOST_KEPT:]
        add_events(session, row.ticket_id, [Note("not_settled", {"turn": row.turn})])


def _close(session: Session, id_: str, values: dict[str, Any], *, is_anew: bool = False) -> bool:
    """Whether this was the one to close the question, or with `is_anew` to choose otherwise."""
    is_other = ClarificationRow.choice.is_distinct_from(values.get("choice"))
    statement = (
        update(ClarificationRow)
        .where(ClarificationRow.id == id_, is_other if is_anew else ClarificationRow.state == _OPEN)
        .values(**values, answered_at=time.time(), answered_by=_caller())
    )
    return changed(session, statement) == 1


def _caller() -> str:
    return current_caller().name[:200]


def _check_same(row: ClarificationRow, values: dict[str, Any]) -> None:
    """The same answer again is no conflict."""
    if any(getattr(row, name) != value for name, value in values.items()):
        said = row.answer or row.state
        raise ClarificationAnsweredError(f"the question was closed before: {said[:200]!r}")


def _others(row: ClarificationRow) -> list[Question]:
    """Kept questions that do not ask what is not known."""
    unknown = set(Question.model_validate(row.question).decisions)
    kept = map(Question.model_validate, row.others)
    return [other for other in kept if not unknown.intersection(other.decisions)]
