"""Synthetic tickets: texts that people with the fault of a page may write, made by a model."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from services.kit.observability.redaction import redact
from services.knowledge.screening.screening import screen_message
from services.llm.chat_model import ChatModel, ChatRequest, Message
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for

TICKETS_PROMPT = load_prompt("services.runbook.by_model", "said")
MOST_TICKETS = 5
LONGEST_TICKET = 300
"""Characters of one ticket; a longer one is cut."""
_PAGE_CHARACTERS = 6_000
"""Characters of the page that the model sees: its beginning says what it treats."""
TICKETS_TOKENS = 700


class _SyntheticTicket(BaseModel):
    model_config = ConfigDict(title="_Ticket", extra="ignore")

    text: str = Field(max_length=20_000)


class _TicketsAnswer(BaseModel):
    model_config = ConfigDict(title="_Answer", extra="ignore")

    tickets: list[_SyntheticTicket] = Field(max_length=100)


def messages(text: str) -> tuple[Message, ...]:
    """Return the prompt about a page."""
    return TICKETS_PROMPT.render({"page": redact(text)[:_PAGE_CHARACTERS]})


def write_tickets(model: ChatModel, text: str) -> tuple[str, ...]:
    """Return at most five short tickets; none if the page treats no fault.

    None of them addresses a model.

    Raises:
        ModelAnswerError: It gave no answer that can be used.
        ModelUnavailableError: See `ChatModel.complete`.
        ModelRefusedError: See `ChatModel.complete`.
    """
    request = ChatRequest(
        messages=messages(text),
        temperature=0.7,
        max_tokens=TICKETS_TOKENS,
        prompt=TICKETS_PROMPT.label,
    )
    answer, _ = ask_for(model, request, _TicketsAnswer)
    return usable_tickets(ticket.text for ticket in answer.tickets)


def usable_tickets(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first five texts that are not empty, each on one line, screened and cut."""
    screened = (screen_message(" ".join(text.split())) for text in texts)
    kept = dict.fromkeys(
        each.text.strip()[:LONGEST_TICKET] for each in screened if not each.dropped
    )
    return tuple(text for text in kept if text)[:MOST_TICKETS]
