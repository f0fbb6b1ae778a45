"""Tolerant parsing of a model's answer (FlowMind: hard JSON mode hurts small models).

First the whole answer as one JSON value, then each JSON object that stands somewhere in the text,
the last one that fits first. The corrective turn is `structured.ask_for`.
"""

import json
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from services.llm.chat_model import ModelAnswerError

Answer = TypeVar("Answer", bound=BaseModel)

MAX_ANSWER_CHARS = 200_000
"""A longer answer is a loop, not an answer; what stands beyond is not read."""
MAX_OBJECTS = 200
"""JSON objects that are tried in one answer."""


def parse_answer(text: str, answer: type[Answer]) -> Answer:
    """The object of type `answer` that the text holds.

    Raises:
        ModelAnswerError: None fits; the message says what is wrong with the best attempt, so that
            it can be sent back to the model.
    """
    complaint = "no JSON object was found"
    for value in _values(text[:MAX_ANSWER_CHARS]):
        try:
            return answer.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the object"
            complaint = f"{where}: {first['msg']}"
    raise ModelAnswerError(f"expected one {answer.__name__} as JSON, but {complaint}")


def json_objects(text: str) -> list[dict[str, object]]:
    """Every outermost JSON object in the text, in order, whatever stands around them."""
    decoder = json.JSONDecoder()
    found: list[dict[str, object]] = []
    start = text.find("{")
    while start >= 0 and len(found) < MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # also a number of too many digits
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return found


def _values(text: str) -> Iterator[object]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        yield from reversed(json_objects(text))
