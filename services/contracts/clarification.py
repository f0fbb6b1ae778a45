"""Clarification: what is asked about a ticket, and what was answered."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from services.kit.text import clean_text
from services.kit.value import Value

MAX_ANSWER_CHARACTERS = 4000


class ClarificationState(StrEnum):
    """Where a question stands."""

    OPEN = "open"
    ANSWERED = "answered"
    UNKNOWN = "unknown"
    """The engineer does not know; something else is asked."""
    DISMISSED = "dismissed"
    """The engineer goes on without an answer; nothing more is asked about the ticket."""
    CLOSED = "closed"
    """It needs no answer at present; `Clarification.closed` says why."""


class PageCard(Value):
    """A page that a question about pages chooses among, with its lines that came nearest."""

    document_id: str
    title: str
    heading_path: tuple[str, ...] = ()
    """From the page's title down to the section of these lines."""
    start_line: int
    end_line: int
    excerpt: str = ""
    """The first of these lines."""
    text_hash: str = ""
    """Of the page's text at that time."""
    refused_by: tuple[str, ...] = ()
    """People by whose word, on tickets of the same family, it is no longer among the nearest."""

    @property
    def section(self) -> tuple[str, ...]:
        """The heading path below the page's title."""
        has_title = self.heading_path[:1] == (self.title,)
        return self.heading_path[1:] if has_title else self.heading_path


class Clarification(Value):
    """One question about a ticket, with its likely answers and the one that was given."""

    id: str
    ticket_id: str
    turn: int
    """1 is the first question of the ticket."""
    state: ClarificationState
    question: str
    choices: tuple[str, ...]
    """Likely answers; other words are an answer too."""
    cards: tuple[PageCard, ...] = ()
    """Of a question about pages: those of its choices, in their order. The choice behind the last
    of them is that none of these pages is it. Another choice may be taken after an answer."""
    about: str
    """`steps`: a branch of the procedure; `pages`: which of several pages is meant; `ticket`: what
    exactly is seen, where the ticket says too little."""
    decisions: tuple[str, ...] = ()
    """What the answer settles: decisions of the procedure in their words, or documents."""
    gain: float
    """Steps that an answer is expected to spare."""
    worded_by: str = ""
    """The model that chose and worded the question; empty where the page's own words are asked."""
    answer: str = ""
    answered_by: str = ""
    said: tuple[str, ...] = ()
    """Answers in own words that did not settle it; they are kept with the ticket."""
    closed: str = ""
    """Why it needs no answer at present, in words."""
    asked_at: datetime
    answered_at: datetime | None = None


class ClarificationAnswer(BaseModel):
    """An answer: one of the choices by its number, own words, or that it is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    choice: int | None = Field(default=None, ge=1, le=20, strict=True)
    """1 is the first of `Clarification.choices`."""
    text: str = Field(default="", max_length=MAX_ANSWER_CHARACTERS)
    unknown: bool = False

    @field_validator("text")
    @classmethod
    def _clean(cls, text: str) -> str:
        return clean_text(text).strip()

    @model_validator(mode="after")
    def _one_answer(self) -> "ClarificationAnswer":
        if sum((self.choice is not None, bool(self.text), self.unknown)) != 1:
            raise ValueError("expected exactly one of `choice`, `text` and `unknown`")
        return self
