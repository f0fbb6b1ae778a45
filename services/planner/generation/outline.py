"""What the model writes by schema: typed steps with ids; the graph is made of it by code.

One schema per step type, ids and citations as enumerations and everything bounded: with that a
model of half a billion parameters writes a sound graph most of the time, with lists of steps and
edges apart it never did.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
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
    properties: dict[str, Any] = {"id": {"enum": list(ids)}, "kind": {"const": kind}}
    if cites:  # before the text, so that the model chooses a passage first
        cited = {"enum": list(cites)}
        properties["cites"] = {"type": "array", "items": cited, "minItems": 1, "maxItems": 2}
    properties["text"] = {"type": "string", "minLength": 8, "maxLength": LONGEST_TEXT}
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

    A step claims the whole passages that it cites; ids that were not shown are not there. Where the
    order they were written in leaves one reading, it settles what the model left open: an action
    that leads to itself or to nothing goes on to the step after it, an end goes on to it where
    nothing else leads there, and the last step is an end.

    Raises:
        OutlineError: Two steps have one id, or an answer leads to a step that is not there.
    """
    numbers: dict[str, str] = {}
    for place, planned in enumerate(outline.steps, start=1):
        if planned.id in numbers:
            raise OutlineError(f"two steps have the id {planned.id!r}; each step needs its own")
        numbers[planned.id] = f"s{place}"
    arrows = list(_arrows(outline.steps))
    return Workflow(
        title=title,
        steps=tuple(
            _step(planned, numbers[planned.id], _kind(planned, arrows), spans)
            for planned in outline.steps
        ),
        transitions=tuple(
            Transition(source=numbers[source], target=numbers[target], condition=condition)
            for source, condition, target in arrows
        ),
    )


_Arrow = tuple[str, str, str]
"""Source, condition, target."""


def _arrows(steps: Sequence[PlannedStep]) -> Iterator[_Arrow]:
    ids = {planned.id for planned in steps}
    led_to = {target for planned in steps for _, target in _targets(planned)}
    for planned, after in zip_longest(steps, steps[1:]):
        targets = _targets(planned)
        is_open = not targets or (len(targets) == 1 and targets[0][1] not in ids - {planned.id})
        if is_open:
            skips = isinstance(planned, PlannedEnd) and after and after.id in led_to
            targets = [] if after is None or skips else [("", after.id)]
        for condition, target in targets:
            if target not in ids:
                raise OutlineError(f"{planned.id!r} leads to {target!r}, which is not there")
            yield planned.id, condition, target


def _targets(planned: PlannedStep) -> list[tuple[str, str]]:
    if isinstance(planned, PlannedEnd):
        return []
    if isinstance(planned, PlannedAction):
        return [("", planned.next)]
    if planned.yes == planned.no:
        return [("", planned.yes)]
    return [("Yes", planned.yes), ("No", planned.no)]


def _kind(planned: PlannedStep, arrows: Sequence[_Arrow]) -> StepKind:
    exits = sum(source == planned.id for source, _, _ in arrows)
    return (StepKind.TERMINAL, StepKind.PROCESS, StepKind.DECISION)[exits]


def claims(cites: Iterable[str], spans: Mapping[str, Span]) -> tuple[Citation, ...]:
    """The passages of these ids as citations, none twice."""
    cited = dict.fromkeys(name for name in cites if name in spans)
    return tuple(Citation(**spans[name].model_dump()) for name in cited)


def _whole(text: str) -> str:
    """A text that hit the limit ends with its last whole sentence, where it has one."""
    if len(text) < LONGEST_TEXT - 1:
        return text
    cut = text[:LONGEST_TEXT]
    end = max(cut.rfind(mark) for mark in (". ", "? ", "! ", "; "))
    return cut[: end + 1] if end > 0 else cut


def _step(planned: PlannedStep, step_id: str, kind: StepKind, spans: Mapping[str, Span]) -> Step:
    text = _whole(plain(planned.text))
    if not text:
        raise OutlineError(f"{planned.id!r} says nothing")
    command = planned.command.strip()
    return Step(
        id=step_id,
        kind=kind,
        text=text,
        commands=(command,) if 0 < len(command) <= LONGEST_COMMAND else (),
        citations=claims(planned.cites, spans),
    )
