"""What people write who have the fault of a page, told by a model that read the page."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from services.kit.observability.redaction import redacted
from services.knowledge.screening.screening import screen_message
from services.llm.chat_model import ChatModel, ChatRequest, Message
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for

SAID_PROMPT = load_prompt("services.procedure.by_model", "said")
MOST_SAID = 5
LONGEST_SAID = 300
"""Characters of one; a longer one is cut."""
_SHOWN = 6_000
"""Characters of the page: what it treats is told in its beginning."""
SAID_TOKENS = 700


class _Ticket(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = Field(max_length=20_000)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tickets: list[_Ticket] = Field(max_length=100)


def messages(text: str) -> tuple[Message, ...]:
    """What the model is asked about a page."""
    return SAID_PROMPT.render({"page": redacted(text)[:_SHOWN]})


def said_of(model: ChatModel, text: str) -> tuple[str, ...]:
    """At most five short texts, none that speaks to a model; none where nothing is treated.

    Raises:
        ModelAnswerError: It gave no answer that can be used.
        ModelUnavailableError: See `ChatModel.complete`.
        ModelRefusedError: See `ChatModel.complete`.
    """
    request = ChatRequest(
        messages=messages(text), temperature=0.7, max_tokens=SAID_TOKENS, prompt=SAID_PROMPT.label
    )
    answer, _ = ask_for(model, request, _Answer)
    return usable(ticket.text for ticket in answer.tickets)


def usable(texts: Iterable[str]) -> tuple[str, ...]:
    """The first five that say something, each on one line, screened and cut."""
    screened = (screen_message(" ".join(text.split())) for text in texts)
    kept = dict.fromkeys(each.text.strip()[:LONGEST_SAID] for each in screened if not each.dropped)
    return tuple(text for text in kept if text)[:MOST_SAID]
