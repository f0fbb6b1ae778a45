"""What the model writes by schema: typed steps with ids; the graph is made of it by code.

One schema per step type, ids and citations as enumerations and everything bounded: with that a
model of half a billion parameters writes a sound graph most of the time, with lists of steps and
edges apart it never did.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from services.kit.errors import InvalidInputError
from services.knowledge.model import Span
from services.llm.chat_model import JsonSchema
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow
from services.workflow.plain import plain

LONGEST_TEXT = 240
LONGEST_COMMAND = 400
MOST_STEPS = 60
"""More is a loop, not a plan; the extractive planner stops there too."""


class OutlineError(InvalidInputError):
    """Steps that make no graph; the message is fit to be sent back to the model."""


class _Planned(BaseModel):
    id: str
    text: str = Field(min_length=1)
    cites: list[str] = []
    command: str = ""


class PlannedAction(_Planned):
    """Something to do, and what comes next."""

    kind: Literal["process"]
    next: str


class PlannedDecision(_Planned):
    """A question, and where its answers lead."""

    kind: Literal["decision"]
    yes: str
    no: str


class PlannedEnd(_Planned):
    """Where a path ends."""

    kind: Literal["terminal"]


PlannedStep = Annotated[PlannedAction | PlannedDecision | PlannedEnd, Field(discriminator="kind")]


class Outline(BaseModel):
    """A whole answer."""

    steps: list[PlannedStep] = Field(min_length=1, max_length=MOST_STEPS)


def schema(cites: Sequence[str], steps: int) -> JsonSchema:
    """What the server enforces: at most `steps` steps that cite only what was shown."""
    ids = [f"s{number}" for number in range(1, steps + 1)]
    target = {"enum": ids}
    kinds = (
        _step_schema("process", ids, cites, {"next": target}),
        _step_schema("decision", ids, cites, {"yes": target, "no": target}),
        _step_schema("terminal", ids, cites, {}),
    )
    listed = {"type": "array", "minItems": 2, "maxItems": steps, "items": {"anyOf": list(kinds)}}
    return _object({"steps": listed})


def _step_schema(
    kind: str, ids: Sequence[str], cites: Sequence[str], targets: dict[str, Any]
) -> JsonSchema:
    properties: dict[str, Any] = {
        "id": {"enum": list(ids)},
        "kind": {"const": kind},
        "text": {"type": "string", "minLength": 8, "maxLength": LONGEST_TEXT},
    }
    if cites:
        cited = {"enum": list(cites)}
        properties["cites"] = {"type": "array", "items": cited, "minItems": 1, "maxItems": 2}
    found = _object(properties | targets)
    found["properties"]["command"] = {"type": "string", "maxLength": LONGEST_COMMAND}
    return found


def _object(properties: dict[str, Any]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def workflow_of(outline: Outline, title: str, spans: Mapping[str, Span]) -> Workflow:
    """The graph, its steps numbered anew in the order they were written.

    A step claims the whole passages that it cites; ids that were not shown are not there.

    Raises:
        OutlineError: Two steps have one id, or a step leads to one that is not there.
    """
    numbers: dict[str, str] = {}
    for place, planned in enumerate(outline.steps, start=1):
        if planned.id in numbers:
            raise OutlineError(f"two steps have the id {planned.id!r}; each step needs its own")
        numbers[planned.id] = f"s{place}"
    return Workflow(
        title=title,
        steps=tuple(_step(planned, numbers[planned.id], spans) for planned in outline.steps),
        transitions=tuple(
            Transition(
                source=numbers[planned.id],
                target=_known(planned.id, target, numbers),
                condition=condition,
            )
            for planned in outline.steps
            for condition, target in _targets(planned)
        ),
    )


def _targets(planned: PlannedStep) -> Iterable[tuple[str, str]]:
    if isinstance(planned, PlannedAction):
        yield "", planned.next
    elif isinstance(planned, PlannedDecision) and planned.yes == planned.no:
        yield "", planned.yes
    elif isinstance(planned, PlannedDecision):
        yield from (("Yes", planned.yes), ("No", planned.no))


def _known(source: str, target: str, numbers: dict[str, str]) -> str:
    if target not in numbers:
        raise OutlineError(f"step {source!r} leads to {target!r}, which you did not write")
    return numbers[target]


def claims(cites: Iterable[str], spans: Mapping[str, Span]) -> tuple[Citation, ...]:
    """The passages of these ids as citations, none twice."""
    cited = dict.fromkeys(name for name in cites if name in spans)
    return tuple(Citation(**spans[name].model_dump()) for name in cited)


def _step(planned: PlannedStep, step_id: str, spans: Mapping[str, Span]) -> Step:
    is_choice = isinstance(planned, PlannedDecision) and planned.yes != planned.no
    kind = StepKind(planned.kind)
    if kind is StepKind.DECISION and not is_choice:
        kind = StepKind.PROCESS
    command = planned.command.strip()[:LONGEST_COMMAND]
    return Step(
        id=step_id,
        kind=kind,
        text=plain(planned.text)[:LONGEST_TEXT],
        commands=(command,) if command else (),
        citations=claims(planned.cites, spans),
    )
