"""Task that lets a model choose and word an open question; without it the page's words stay."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.clarification import ClarificationState
from services.contracts.screened_ticket import ScreenedTicket
from services.kit.errors import FlowXpertError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.screening.screening import screen_message
from services.language.question_quality import is_for_a_person
from services.language.words import tokenise
from services.llm.chat_model import ChatModel, ChatRequest, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for
from services.tickets.clarify.dialogue import text_of
from services.tickets.tables import ClarificationRow, TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.queries import TICKET_COLUMNS, ticket_of_row
from services.tickets.ticket.question import ClarifyingQuestion, QuestionTopic
from services.tickets.ticket.queue import Announcer

_log = structlog.get_logger()
_PROMPT = load_prompt("services.tickets.clarify", "ask")
_MOST_TOKENS = 400
_MOST_TERMS = 8
_LONGEST = 300
"""Characters of a question that a person can read at a glance."""
_SHOWN = 6000
"""Characters of the ticket that the model is shown."""
_KEPT_WORDS = 0.5
"""Share of a question's words that another wording of it must keep."""


class _WordingAnswer(BaseModel):
    model_config = ConfigDict(title="_Answer", extra="ignore")

    terms: list[str] = Field(default_factory=list, max_length=50)
    question: int
    wording: str = Field(max_length=2000)


class WordingChoice(BaseModel):
    """A model's choice among the questions, and its wording."""

    model_config = ConfigDict(frozen=True)

    place: int
    """Index of the chosen question."""
    wording: str
    terms: tuple[str, ...]
    """Domain terms, each as the ticket writes it."""


class QuestionWriter:
    """Writer of questions, one at a time; one that is answered meanwhile stays as it was."""

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
        """Create the writer.

        `within_s` is the model's time in seconds; it must start within `wanted_s` of the question.
        """
        self._database = database
        self._outbox = outbox
        self._model = model
        self._announcer = announcer
        self._within_s = within_s
        self._wanted_s = wanted_s

    def run(self, clarification_id: str) -> None:
        """Let the model word an open question, then announce it to the ticket's system."""
        with self._database.session() as session:
            row = session.get(ClarificationRow, clarification_id)
            columns = select(*TICKET_COLUMNS).where(TicketRow.id == row.ticket_id) if row else None
            ticket_row = session.execute(columns).one_or_none() if columns is not None else None
        if row is None or ticket_row is None:
            return
        questions = [
            ClarifyingQuestion.model_validate(each) for each in (row.question, *row.others)
        ]
        # Pages are chosen by their cards, whatever else may be asked.
        offered = questions[:1] if questions[0].cards else questions
        # Late questions keep the page's words.
        is_in_time = time.time() - row.asked_at < self._wanted_s
        is_open = row.state == ClarificationState.OPEN.value
        wording = None
        if is_open and is_in_time:
            ticket = ticket_of_row(ticket_row)
            try:
                wording = word_question(self._model, ticket, offered, within_s=self._within_s)
            except FlowXpertError as error:
                _log.warning("gateway.question_not_worded", reason=str(error))
        with self._database.session() as session:
            if wording is not None:
                self._store(session, row, questions, wording)
            self._announcer.put(session, row.ticket_id)
            self._outbox.finish(session)

    def park(self, session: Session, arguments: Mapping[str, Any], _reason: str) -> None:
        """Announce the question in the page's words, after the last failed attempt."""
        row = session.get(ClarificationRow, arguments["clarification_id"])
        if row is not None:
            self._announcer.put(session, row.ticket_id)

    def _store(
        self,
        session: Session,
        row: ClarificationRow,
        questions: list[ClarifyingQuestion],
        wording: WordingChoice,
    ) -> None:
        chosen = questions.pop(wording.place)
        statement = (
            update(ClarificationRow)
            .where(
                ClarificationRow.id == row.id,
                ClarificationRow.state == ClarificationState.OPEN.value,
            )
            .values(
                wording=wording.wording,
                worded_by=self._model.name,
                terms=list(wording.terms),
                question=chosen.model_dump(mode="json"),
                others=[other.model_dump(mode="json") for other in questions],
            )
            .returning(ClarificationRow.id)
        )
        if session.scalar(statement) is not None:
            note = Note("asked", {"turn": row.turn, "question": wording.wording})
            add_events(session, row.ticket_id, [note])


def word_question(
    model: ChatModel,
    ticket: ScreenedTicket,
    questions: Sequence[ClarifyingQuestion],
    *,
    within_s: float,
) -> WordingChoice:
    """Let the model choose a question; its wording is used only if it asks the same.

    Raises:
        ModelUnavailableError: Down, slow or overloaded.
        ModelRefusedError: The server will not serve this.
        ModelAnswerError: The answer cannot be read, or names no question.
    """
    text = text_of(ticket.for_model())[:_SHOWN]
    lines = []
    for number, question in enumerate(questions, start=1):
        answers = " | ".join(choice.text for choice in question.choices)
        lines.append(f"{number}. {screen_message(f'{question.text} Answers: {answers}').text}")
    request = ChatRequest(
        messages=_PROMPT.render({"ticket": text, "questions": "\n".join(lines)}),
        temperature=0.0,
        max_tokens=_MOST_TOKENS,
        prompt=_PROMPT.label,
        timeout_s=within_s,
    )
    answer, _ = ask_for(model, request, _WordingAnswer)
    if not 1 <= answer.question <= len(questions):
        raise ModelAnswerError(f"expected a question from 1 to {len(questions)}")
    place = answer.question - 1
    candidates = (" ".join(term.split()) for term in answer.terms)
    present = [term for term in candidates if term and term.casefold() in text.casefold()]
    return WordingChoice(
        place=place,
        wording=_usable_wording(answer.wording, questions[place]),
        terms=tuple(dict.fromkeys(present))[:_MOST_TERMS],
    )


def _usable_wording(wording: str, question: ClarifyingQuestion) -> str:
    """Return the wording if it asks the same in one sentence, else the question's own text.

    A question among alternatives may be framed freely.
    """
    line = " ".join(wording.split())
    if (
        not line.endswith("?")
        or len(line) > _LONGEST
        or screen_message(line).dropped
        or is_for_a_person(line)
    ):
        return question.text
    is_framed = question.about is QuestionTopic.PAGES or len(question.decisions) > 1
    asks = set(tokenise(question.text))
    kept = is_framed or len(asks.intersection(tokenise(line))) >= _KEPT_WORDS * len(asks)
    return line if kept else question.text
