"""What the model is asked: the guide, one worked example as a turn that went before, the page."""

import json

from services.kit.value import Value
from services.llm.chat_model import JsonSchema, Message
from services.llm.prompts import load_prompt
from services.procedure.by_model.page import numbered
from services.procedure.by_model.worked_examples import most_similar
from services.procedure.model import Procedure

PROMPT = load_prompt("services.procedure.by_model", "read")


class Program(Value):
    """A whole answer."""

    procedures: tuple[Procedure, ...]


def messages(text: str) -> tuple[Message, ...]:
    """The dialogue that ends with this page."""
    rules, task = PROMPT.render({"page": numbered(text)})
    example = most_similar(text)
    if example is None:
        return (rules, task)
    shown = PROMPT.render({"page": numbered(example.text)})[-1]
    answer = Message(role="assistant", content=json.dumps(example.program, ensure_ascii=False))
    return (rules, shown, answer, task)


def schema() -> JsonSchema:
    """What the server enforces, recursive as programs are."""
    return Program.model_json_schema(by_alias=True)
