"""The task that lets a model choose and word an open question; without it the page's words stay."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.clarification import ClarificationState
from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.gateway.clarify.dialogue import text_of
from services.gateway.tables import ClarificationRow, TicketRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.question import About, Question
from services.gateway.ticket.queue import Announcer
from services.kit.errors import FlowXpertError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.screening.screening import screen_message
from services.language.asking import is_for_a_person
from services.language.words import tokenise
from services.llm.chat_model import ChatModel, ChatRequest, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for

_log = structlog.get_logger()
_PROMPT = load_prompt("services.gateway.clarify", "ask")
_MOST_TOKENS = 400
_MOST_TERMS = 8
_LONGEST = 300
"""Characters of a question that a person reads at a glance."""
_SHOWN = 6000
"""Characters of the ticket that are shown."""
_KEPT_WORDS = 0.5
"""Share of a question's words that another wording of it must keep."""
_DRAFT = tuple(getattr(TicketRow, name) for name in TicketDraft.model_fields)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    terms: list[str] = Field(default_factory=list, max_length=50)
    question: int
    wording: str = Field(max_length=2000)


class Worded(BaseModel):
    """What a model made of the questions."""

    model_config = ConfigDict(frozen=True)

    place: int
    """Of the chosen question."""
    wording: str
    terms: tuple[str, ...]
    """Domain terms, each as the ticket writes it."""


class Wording:
    """Words one question at a time; a question that is answered meanwhile stays as it was."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        model: ChatModel,
        announcer: Announcer,
        *,
        within_s: float,
        wanted_s: float,
    ) -> None:
        """The model may take `within_s` seconds, and begin `wanted_s` after the question came."""
        self._database = database
        self._outbox = outbox
        self._model = model
        self._announcer = announcer
        self._within_s = within_s
        self._wanted_s = wanted_s

    def run(self, clarification_id: str) -> None:
        """Word the question where it is open and the model helps, and let its system be told."""
        with self._database.session() as session:
            row = session.get(ClarificationRow, clarification_id)
            ticket = _ticket_of(session, row) if row else None
        if row is None or ticket is None:
            return
        questions = [Question.model_validate(each) for each in (row.question, *row.others)]
        # Pages are chosen by their cards, whatever else may be asked.
        offered = questions[:1] if questions[0].cards else questions
        found = self._worded(ticket, offered) if self._is_in_time(row) else None
        with self._database.session() as session:
            if found is not None:
                self._store(session, row, questions, found)
            self._announcer.put(session, row.ticket_id)
            self._outbox.finish(session)

    def park(self, session: Session, arguments: Mapping[str, Any], _reason: str) -> None:
        """The question stays in the page's words, and is told so."""
        row = session.get(ClarificationRow, arguments["clarification_id"])
        if row is not None:
            self._announcer.put(session, row.ticket_id)

    def _worded(self, ticket: TicketDraft, questions: Sequence[Question]) -> Worded | None:
        try:
            return word_question(self._model, ticket, questions, within_s=self._within_s)
        except FlowXpertError as error:
            _log.warning("gateway.question_not_worded", reason=str(error))
            return None

    def _is_in_time(self, row: ClarificationRow) -> bool:
        """In a storm of tickets the questions stay in the page's words."""
        waited = time.time() - row.asked_at
        return row.state == ClarificationState.OPEN.value and waited < self._wanted_s

    def _store(
        self,
        session: Session,
        row: ClarificationRow,
        questions: list[Question],
        found: Worded,
    ) -> None:
        chosen = questions.pop(found.place)
        statement = (
            update(ClarificationRow)
            .where(
                ClarificationRow.id == row.id,
                ClarificationRow.state == ClarificationState.OPEN.value,
            )
            .values(
                wording=found.wording,
                worded_by=self._model.name,
                terms=list(found.terms),
                question=chosen.model_dump(mode="json"),
                others=[other.model_dump(mode="json") for other in questions],
            )
            .returning(ClarificationRow.id)
        )
        if session.scalar(statement) is not None:
            note = Note("asked", {"turn": row.turn, "question": found.wording})
            add_events(session, row.ticket_id, [note])


def _ticket_of(session: Session, row: ClarificationRow) -> TicketDraft | None:
    found = session.execute(select(*_DRAFT).where(TicketRow.id == row.ticket_id)).one_or_none()
    return TicketDraft.model_construct(**found._mapping) if found else None


def word_question(
    model: ChatModel, ticket: TicketDraft, questions: Sequence[Question], *, within_s: float
) -> Worded:
    """The model's choice; its wording only where it asks the same, else the question's own.

    Raises:
        ModelUnavailableError: Down, slow or overloaded.
        ModelRefusedError: The server will not serve this.
        ModelAnswerError: The answer cannot be read, or names no question.
    """
    text = text_of(screened(ticket).ticket)[:_SHOWN]
    request = ChatRequest(
        messages=_PROMPT.render({"ticket": text, "questions": _listed(questions)}),
        temperature=0.0,
        max_tokens=_MOST_TOKENS,
        prompt=_PROMPT.label,
        timeout_s=within_s,
    )
    answer, _ = ask_for(model, request, _Answer)
    if not 1 <= answer.question <= len(questions):
        raise ModelAnswerError(f"expected a question from 1 to {len(questions)}")
    place = answer.question - 1
    return Worded(
        place=place,
        wording=_checked(answer.wording, questions[place]),
        terms=tuple(_said(answer.terms, text)),
    )


def _listed(questions: Sequence[Question]) -> str:
    """Numbered, with their answers; what speaks to a model is left out."""
    lines = []
    for number, question in enumerate(questions, start=1):
        answers = " | ".join(choice.text for choice in question.choices)
        lines.append(f"{number}. {screen_message(f'{question.text} Answers: {answers}').text}")
    return "\n".join(lines)


def _checked(wording: str, question: Question) -> str:
    """One sentence that keeps what it asks for; of alternatives the frame is free."""
    said = " ".join(wording.split())
    if (
        not said.endswith("?")
        or len(said) > _LONGEST
        or screen_message(said).dropped
        or is_for_a_person(said)
    ):
        return question.text
    is_framed = question.about is About.PAGES or len(question.decisions) > 1
    asks = set(tokenise(question.text))
    kept = is_framed or len(asks.intersection(tokenise(said))) >= _KEPT_WORDS * len(asks)
    return said if kept else question.text


def _said(terms: Sequence[str], text: str) -> list[str]:
    """Those that the ticket writes; a model's own words are no words to search by."""
    found = (" ".join(term.split()) for term in terms)
    known = [term for term in found if term and term.casefold() in text.casefold()]
    return list(dict.fromkeys(known))[:_MOST_TERMS]
