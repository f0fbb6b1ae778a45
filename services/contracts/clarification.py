"""Clarification: questions about a ticket and their answers."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from services.kit.text import clean_text
from services.kit.value import Value

MAX_ANSWER_CHARACTERS = 4000


class ClarificationState(StrEnum):
    """State of a question."""

    OPEN = "open"
    ANSWERED = "answered"
    UNKNOWN = "unknown"
    """The engineer does not know; another question is asked."""
    DISMISSED = "dismissed"
    """The engineer goes on without an answer; nothing more is asked about the ticket."""
    CLOSED = "closed"
    """No answer is needed at present; `Clarification.closed` says why."""


class PageCard(Value):
    """A page offered as a choice of a question about pages, with its closest lines."""

    document_id: str
    title: str
    heading_path: tuple[str, ...] = ()
    """Headings from the page's title down to the section of these lines."""
    start_line: int
    end_line: int
    excerpt: str = ""
    """The first of these lines, as text."""
    text_hash: str = ""
    """Hash of the page's text at that time."""
    refused_by: tuple[str, ...] = ()
    """People whose feedback, on tickets of the same family, ruled the page out as the nearest."""

    @property
    def section(self) -> tuple[str, ...]:
        """The heading path below the page's title."""
        has_title = self.heading_path[:1] == (self.title,)
        return self.heading_path[1:] if has_title else self.heading_path


class Clarification(Value):
    """One question about a ticket, with its likely answers and the answer given."""

    id: str
    ticket_id: str
    turn: int
    """Number of the question; 1 is the first question of the ticket."""
    state: ClarificationState
    question: str
    choices: tuple[str, ...]
    """Likely answers; free text is an answer too."""
    cards: tuple[PageCard, ...] = ()
    """Cards of the choices of a question about pages, in the same order. The choice after the last
    card means that none of these pages is right. Another choice may be taken after an answer.
    """
    about: str
    """Subject of the question: `steps`: a branch of the procedure; `pages`: which of several pages
    is meant; `ticket`: the exact symptom, if the ticket says too little.
    """
    decisions: tuple[str, ...] = ()
    """Decisions of the procedure, in its words, or documents that the answer settles."""
    gain: float
    """Expected number of steps that an answer saves."""
    worded_by: str = ""
    """Model that chose and worded the question; empty if the page's own words are used."""
    answer: str = ""
    answered_by: str = ""
    said: tuple[str, ...] = ()
    """Free-text answers that did not settle the question; they are kept with the ticket."""
    closed: str = ""
    """Reason, in words, why no answer is needed at present."""
    asked_at: datetime
    answered_at: datetime | None = None


class ClarificationAnswer(BaseModel):
    """An answer: the number of a choice, free text, or that it is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    choice: int | None = Field(default=None, ge=1, le=20, strict=True)
    """Number of a choice; 1 is the first of `Clarification.choices`."""
    text: Annotated[
        str,
        Field(max_length=MAX_ANSWER_CHARACTERS),
        AfterValidator(lambda text: clean_text(text).strip()),
    ] = ""
    unknown: bool = False

    @model_validator(mode="after")
    def _one_answer(self) -> "ClarificationAnswer":
        if sum((self.choice is not None, bool(self.text), self.unknown)) != 1:
            raise ValueError("expected exactly one of `choice`, `text` and `unknown`")
        return self
