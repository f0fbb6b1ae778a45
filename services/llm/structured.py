"""Ask a model for an object: strict, then tolerant, then one corrective turn."""

from typing import TypeVar

from pydantic import BaseModel

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    Usage,
)
from services.llm.parsing import parse_answer

Answer = TypeVar("Answer", bound=BaseModel)


def ask_for(model: ChatModel, request: ChatRequest, answer: type[Answer]) -> tuple[Answer, Usage]:
    """One object of type `answer` and what it cost.

    Raises:
        ModelAnswerError: Neither the first answer nor the corrected one could be read.
        ModelUnavailableError: See `ChatModel.complete`.
        ModelRefusedError: See `ChatModel.complete`.
    """
    schema = request.json_schema or answer.model_json_schema()
    request = request.model_copy(update={"n": 1, "json_schema": schema})
    response = model.complete(request)
    text = response.samples[0].text
    try:
        return parse_answer(text, answer), response.usage
    except ModelAnswerError as error:
        try:
            second = model.complete(_corrective(request, text, error))
        except ModelRefusedError as refusal:  # as a rule, the dialogue has become too long
            raise error from refusal
    return parse_answer(second.samples[0].text, answer), response.usage + second.usage


def _corrective(request: ChatRequest, text: str, error: ModelAnswerError) -> ChatRequest:
    turn = (
        Message(role="assistant", content=text),
        Message(role="user", content=f"That cannot be used: {error}. Answer with the JSON only."),
    )
    return request.model_copy(update={"messages": (*request.messages, *turn)})
