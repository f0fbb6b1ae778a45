"""What a scripted model answers, so that planner and scorer work as they would on a real one."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

from services.llm.chat_model import ChatRequest, JsonSchema

_STEPS = 10
_LEAST_CHARACTERS = 20
_WORDS = "as the passages say"


def scripted_answers(request: ChatRequest) -> list[str]:
    """One answer for each sample, each another one, made of the lines that the prompt shows."""
    return [_answer(request, number) for number in range(request.n)]


def _answer(request: ChatRequest, number: int) -> str:
    schema = request.json_schema
    if schema is None:  # a form without schema: the worked example is the last answer in the prompt
        examples = [turn.content for turn in request.messages if turn.role == "assistant"]
        return examples[-1] if examples else _WORDS
    if "steps" in schema.get("properties", {}):
        return json.dumps({"steps": _steps(request.messages[-1].content, schema, number)})
    return json.dumps(_filled(schema))


def _steps(prompt: str, schema: JsonSchema, number: int) -> list[dict[str, object]]:
    """Lines of the passages one after the other, from another one on in every sample."""
    lines = [line.strip() for line in prompt.splitlines() if len(line.strip()) > _LEAST_CHARACTERS]
    texts = list(itertools.islice(itertools.cycle(lines), number, number + _STEPS))
    cites = _cites(schema)
    steps: list[dict[str, object]] = [
        {"id": f"s{n}", "kind": "process", "text": text, "cites": cites, "next": f"s{n + 1}"}
        for n, text in enumerate(texts, start=1)
    ]
    end = {"id": f"s{_STEPS + 1}", "kind": "terminal", "text": "The fault is gone."}
    return [*steps, end | {"cites": cites}]


def _cites(schema: JsonSchema) -> Sequence[str]:
    """The first passage that may be cited, where there is one."""
    kinds = schema["properties"]["steps"]["items"]["anyOf"]
    cites = kinds[0]["properties"].get("cites")
    return cites["items"]["enum"][:1] if cites else []


def _filled(schema: JsonSchema) -> Any:  # noqa: ANN401 - whatever the schema asks for
    """The plainest value of a schema."""
    if "enum" in schema:
        return schema["enum"][len(schema["enum"]) // 2]
    if schema.get("type") == "object":
        return {name: _filled(of) for name, of in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_filled(schema["items"])]
    return _WORDS if schema.get("type") == "string" else 1
