"""A language model chooses the page that treats a ticket's fault, or none of them."""

from pydantic import BaseModel, ConfigDict, Field

from services.kit.value import Value
from services.llm.chat_model import ChatModel, ChatRequest, JsonSchema, Message, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for
from services.tickets.page_choice.shown_pages import ShownPages

PROMPT = load_prompt("services.tickets.page_choice", "page")
_NONE = "0"
_TOKENS = 50


class ModelChoice(Value):
    """Answer of a model to which of the pages shown treats the fault."""

    page: str | None
    """The id of a document; None where none of them treats the fault."""
    stated: float = Field(ge=0, le=1)
    """Probability that its choice is right, as the model states it."""
    place: int = Field(ge=0)
    """Position of the page among those shown, from 1; 0 for none."""


class _PageAnswer(BaseModel):
    model_config = ConfigDict(title="_Answer", coerce_numbers_to_str=True)

    page: str = Field(max_length=8)
    chance: float = Field(ge=0, le=100)


def messages(shown: ShownPages) -> tuple[Message, ...]:
    """Build the messages by which the model is asked."""
    pages = "\n\n".join(f"{n}.\n{text}" for n, text in enumerate(shown.texts, start=1))
    return PROMPT.render({"ticket": shown.ticket, "pages": pages})


def choose(model: ChatModel, shown: ShownPages, *, within_s: float) -> ModelChoice:
    """Ask the model for a page, in one call, or two if the first answer cannot be read.

    Raises:
        ModelAnswerError: It names a page that was not shown, or cannot be read.
        ModelUnavailableError: See `ChatModel.complete`.
        ModelRefusedError: See `ChatModel.complete`.
    """
    numbers = [_NONE, *map(str, range(1, len(shown.pages) + 1))]
    schema: JsonSchema = {
        "type": "object",
        "properties": {
            "page": {"type": "string", "enum": numbers},
            "chance": {"type": "number", "minimum": 0, "maximum": 100},
        },
        "required": ["page", "chance"],
        "additionalProperties": False,
    }
    request = ChatRequest(
        messages=messages(shown),
        temperature=0,
        max_tokens=_TOKENS,
        json_schema=schema,
        prompt=PROMPT.label,
        timeout_s=within_s,
    )
    answer, _ = ask_for(model, request, _PageAnswer)
    if answer.page not in numbers:
        raise ModelAnswerError(f"expected one of {numbers}, got {answer.page!r}")
    place = int(answer.page)
    page = shown.pages[place - 1].document_id if place else None
    return ModelChoice(page=page, stated=answer.chance / 100, place=place)
