"""Ask a model until its answer is valid: ask, validate, quote the error, ask again.

Answers are parsed tolerantly (FlowMind: hard JSON mode hurts small models): first the whole answer
as one JSON value, then each JSON object that stands somewhere in the text, the last one first.
"""

import json
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    Usage,
)

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ParsedT = TypeVar("ParsedT")
Turns = tuple[Message, ...]

MAX_ANSWER_CHARS = 200_000
"""Longest answer that is parsed; a longer one is a loop, and its rest is ignored."""
MAX_OBJECTS = 200
"""Limit on the JSON objects tried in one answer."""


def reply_turns(answer: str, reply: str) -> Turns:
    """Return the turns that follow a question: the model's answer and the reply to it."""
    return Message(role="assistant", content=answer), Message(role="user", content=reply)


def correction_turns(answer: str, error: object) -> Turns:
    """Return the turns that send an answer back with the reason why it cannot be used."""
    return reply_turns(answer, f"That cannot be used: {error}. Answer with the JSON only.")


def ask_until_valid(
    ask: Callable[[Turns], str],
    parse: Callable[[str], ParsedT],
    *,
    tries: int = 2,
    correct: Callable[[str, ModelAnswerError], Turns] = correction_turns,
) -> ParsedT:
    """Return the first answer that `parse` accepts.

    Args:
        ask: Call of the model, with the turns that follow the question; there are none at first.
        parse: Reader of an answer; its `ModelAnswerError` leads to the next call.
        tries: Limit on the calls.
        correct: Writer of the turns that quote the error to the model.

    Raises:
        ModelAnswerError: No answer was accepted; the error of the last one.
        ModelRefusedError: The question itself was refused.
    """
    turns: Turns = ()
    last = ModelAnswerError("the model was not called")
    for _ in range(tries):
        try:
            text = ask(turns)
        except ModelRefusedError as refusal:
            if not turns:
                raise
            raise last from refusal  # as a rule, the dialogue has become too long
        try:
            return parse(text)
        except ModelAnswerError as error:
            last, turns = error, (*turns, *correct(text, error))
    raise last


def ask_for(model: ChatModel, request: ChatRequest, answer: type[AnswerT]) -> tuple[AnswerT, Usage]:
    """Ask for one object of type `answer`, twice at most; return it and the usage.

    Raises:
        ModelAnswerError: Neither the first answer nor the corrected one could be read.
        ModelUnavailableError: See `ChatModel.complete`.
        ModelRefusedError: See `ChatModel.complete`.
    """
    schema = request.json_schema or answer.model_json_schema()
    usage = Usage()

    def ask(turns: Turns) -> str:
        nonlocal usage
        update = {"n": 1, "json_schema": schema, "messages": (*request.messages, *turns)}
        response = model.complete(request.model_copy(update=update))
        usage += response.usage
        return response.samples[0].text

    parsed = ask_until_valid(ask, lambda text: parse_answer(text, answer))
    return parsed, usage


def parse_answer(text: str, answer: type[AnswerT]) -> AnswerT:
    """Parse the object of type `answer` that the text contains.

    Raises:
        ModelAnswerError: None fits; the message says what is wrong with the best attempt, so that
            it can be sent back to the model.
    """
    title = answer.model_config.get("title") or answer.__name__
    complaint = "no JSON object was found"
    text = text[:MAX_ANSWER_CHARS]
    try:
        values: list[object] = [json.loads(text)]
    except (ValueError, RecursionError):
        values = [*reversed(json_objects(text))]
    for value in values:
        try:
            return answer.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the object"
            complaint = f"{where}: {first['msg']}"
    raise ModelAnswerError(f"expected one {title} as JSON, but {complaint}")


def json_objects(text: str) -> list[dict[str, object]]:
    """Return every outermost JSON object in the text, in order, whatever surrounds it."""
    decoder = json.JSONDecoder()
    objects: list[dict[str, object]] = []
    start = text.find("{")
    while start >= 0 and len(objects) < MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # also a number of too many digits
            end = start + 1
        else:
            objects.append(value)
        start = text.find("{", end)
    return objects
