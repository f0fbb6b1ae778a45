"""The two forms in which a model may write a workflow, each with its prompt and its reader."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Protocol

import yaml

from services.knowledge.model import Span
from services.llm.chat_model import JsonSchema, Message
from services.llm.parsing import parse_answer
from services.llm.prompts import Prompt, load_prompt
from services.planner.generation.chart import workflow_of_chart
from services.planner.generation.outline import Outline, schema, workflow_of
from services.workflow.model import Workflow

_PACKAGE = "services.planner"


class PlanForm(StrEnum):
    """How the model writes."""

    OUTLINE = "outline"
    """Typed steps by schema; Mermaid is rendered by code. Small models need it."""
    CHART = "chart"
    """Free Mermaid, the paper's way; for large models."""


class Form(Protocol):
    """One way to ask for a workflow and to read it."""

    @property
    def prompt(self) -> Prompt:
        """The prompt file; its variables are ticket, nodes and chunks."""

    def answer(self, example: Mapping[str, object]) -> str:
        """What the model should have answered in a worked example."""

    def schema(self, cites: Sequence[str], steps: int) -> JsonSchema | None:
        """What the server is to enforce, where the form has a schema."""

    def read(self, text: str, title: str, spans: Mapping[str, Span]) -> Workflow:
        """The workflow in an answer.

        Raises:
            ModelAnswerError: It is no answer of this form.
            InvalidInputError: It is one, and contradicts itself.
        """


class OutlineForm:
    """Steps by schema."""

    prompt = load_prompt(_PACKAGE, "plan")

    def answer(self, example: Mapping[str, object]) -> str:
        """See `Form.answer`."""
        return json.dumps(example["outline"])

    def schema(self, cites: Sequence[str], steps: int) -> JsonSchema | None:
        """See `Form.schema`."""
        return schema(cites, steps)

    def read(self, text: str, title: str, spans: Mapping[str, Span]) -> Workflow:
        """See `Form.read`."""
        return workflow_of(parse_answer(text, Outline), title, spans)


class ChartForm:
    """Free Mermaid."""

    prompt = load_prompt(_PACKAGE, "chart")

    def answer(self, example: Mapping[str, object]) -> str:
        """See `Form.answer`."""
        return str(example["chart"])

    def schema(self, _cites: Sequence[str], _steps: int) -> JsonSchema | None:
        """See `Form.schema`."""
        return None

    def read(self, text: str, title: str, spans: Mapping[str, Span]) -> Workflow:
        """See `Form.read`."""
        return workflow_of_chart(text, title, spans)


FORMS: Mapping[PlanForm, type[Form]] = {
    PlanForm.OUTLINE: OutlineForm,
    PlanForm.CHART: ChartForm,
}


def messages(form: Form, ticket: str, nodes: str, chunks: str) -> tuple[Message, ...]:
    """The rules, the worked examples as turns that went before, the task."""
    rules, task = form.prompt.render({"ticket": ticket, "nodes": nodes, "chunks": chunks})
    turns: list[Message] = []
    for example in _examples():
        given = {name: str(example[name]).strip() for name in form.prompt.variables}
        answer = Message(role="assistant", content=form.answer(example))
        turns += [form.prompt.render(given)[-1], answer]
    return (rules, *turns, task)


@cache
def _examples() -> Sequence[Mapping[str, object]]:
    path = files(_PACKAGE).joinpath("prompts", "examples.yaml")
    found: Sequence[Mapping[str, object]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found
