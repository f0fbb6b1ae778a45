"""What a scripted model answers, so that planner and scorer work as they would on a real one."""

import itertools
import json
import re
from typing import Any

from services.llm.chat_model import ChatRequest, JsonSchema

_STEPS = 10
_LINE = re.compile(r"^(\d+) \| (.{20,})$", re.MULTILINE)
"""A numbered line that says something."""
_WORDS = "as the passages say"


def scripted_answers(request: ChatRequest) -> list[str]:
    """One answer for each sample, each another one, made of the lines that the prompt shows."""
    return [_answer(request, number) for number in range(request.n)]


def _answer(request: ChatRequest, number: int) -> str:
    schema = request.json_schema
    if schema is None:
        return _WORDS
    if "procedures" not in schema.get("properties", {}):
        return json.dumps(_filled(schema))
    lines = _LINE.findall(request.messages[-1].content)
    replies = [turn.content for turn in request.messages if turn.role == "assistant"]
    if replies and not lines:  # it is shown its answer drawn, and finds nothing wrong
        return replies[-1]
    return json.dumps(_program(lines, number))


def _program(lines: list[tuple[str, str]], number: int) -> dict[str, object]:
    """Lines of the pages one after the other, from another one on in every sample."""
    texts = itertools.islice(itertools.cycle(lines), number, number + _STEPS)
    steps = [{"do": text, "at": [[int(line), int(line)]]} for line, text in texts]
    return {"procedures": [{"title": _WORDS, "steps": steps or [{"do": _WORDS}]}]}


def _filled(schema: JsonSchema) -> Any:  # noqa: ANN401 - whatever the schema asks for
    """The plainest value of a schema."""
    if "enum" in schema:
        return schema["enum"][len(schema["enum"]) // 2]
    if schema.get("type") == "object":
        return {name: _filled(of) for name, of in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_filled(schema["items"])]
    return _WORDS if schema.get("type") == "string" else 1
