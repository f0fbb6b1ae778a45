"""Form of a step, and its conversion to operations on the step's procedure."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.runbook.editing.errors import UnusableOperationError
from services.runbook.editing.operations import Operation, parse_operations
from services.runbook.editing.outline import Location, Outline
from services.runbook.model import (
    All,
    Arm,
    Choice,
    Do,
    End,
    Guard,
    LineRange,
    Loop,
    Node,
    Not,
    Outcome,
    Some,
    State,
)

MOST_TEXT = 4_000
_RANGE = re.compile(r"(\d{1,7})(?:\s*[-–]\s*(\d{1,7}))?")


class StepFormAction(StrEnum):
    """Action on a step, as a form sends it."""

    SAY = "say"
    ADD = "add"
    MOVE = "move"
    DELETE = "delete"
    PUT = "put"
    """Put the step under a condition."""
    CHANGE = "change"
    NEGATE = "negate"
    REMOVE = "remove"
    """Remove the condition, so that the step is always done."""
    OTHERWISE = "otherwise"
    PARAMETER = "parameter"


class StepForm(BaseModel):
    """All fields that a form of a step may have; each form has some of them."""

    model_config = ConfigDict(frozen=True)

    procedure: int = Field(default=0, ge=0)
    revision: str = Field(default="", max_length=64)
    """The revision that the person saw."""
    node: str = Field(default="", max_length=200)
    act: StepFormAction = StepFormAction.SAY
    text: str = Field(default="", max_length=MOST_TEXT)
    commands: str = Field(default="", max_length=50 * MOST_TEXT)
    """Commands, one a line."""
    expected: str = Field(default="", max_length=MOST_TEXT)
    core: bool = False
    end: str = Field(default="", max_length=40)
    goto: str = Field(default="", max_length=200)
    lines: str = Field(default="", max_length=400)
    """Ranges of lines, such as `12-14, 20`."""
    kind: str = Field(default="do", max_length=20)
    """Kind of the node that is added."""
    place: str = Field(default="", max_length=220)
    """Place that it goes to: `after n4`, `first_in n6`."""
    when: str = Field(default="", max_length=MOST_TEXT)
    """Questions of a condition, one a line."""
    joined: str = Field(default="all", max_length=10)
    """Connective of the questions: `all` or `some` of them must hold."""
    is_outcome: bool = False
    is_no: bool = False
    """True if the condition holds when the answer is No."""
    through: str = Field(default="", max_length=200)
    """The last of the steps that go under a condition."""
    otherwise: str = Field(default="", max_length=40)
    """Continuation after No: `go_on`, `unsaid`, `goto`, or a kind of end."""
    keep_below: bool = False
    jumps_to: str = Field(default="", max_length=200)
    name: str = Field(default="", max_length=64)
    literal: str = Field(default="", max_length=200)
    is_everywhere: bool = False

    @model_validator(mode="before")
    @classmethod
    def _split_act_and_place(cls, values: object) -> object:
        """Split a button's value into action and place: `move before n3`."""
        if not isinstance(values, Mapping) or not isinstance(values.get("act"), str):
            return values
        act, _, place = values["act"].partition(" ")
        return {**values, "act": act, **({"place": place} if place else {})}

    @property
    def fields(self) -> dict[str, str]:
        """The fields that were filled in, to be sent again."""
        values = self.model_dump(mode="json", exclude_defaults=True) | {"act": self.act.value}
        return {name: "1" if value is True else str(value) for name, value in values.items()}


def build_operations(form: StepForm, outline: Outline) -> tuple[Operation, ...]:
    """Build the operations that a form asks for.

    Raises:
        UnusableOperationError: A field is missing or cannot be used.
    """
    target = (
        {}
        if form.act in {StepFormAction.ADD, StepFormAction.PUT, StepFormAction.PARAMETER}
        else {"node": form.node}
    )
    operation = {"op": form.act.value, **target, **_OPERATION_BUILDERS[form.act](form, outline)}
    return parse_operations([operation])


def condition_of(outline: Outline, location: Location) -> Arm | Loop | None:
    """Return the arm or loop whose condition a node's forms change: its own, or its parent's."""
    thing = location.thing
    if isinstance(thing, Arm | Loop):
        return thing
    if isinstance(thing, Choice):
        return thing.arms[0] if len(thing.arms) == 1 else None
    parent = outline.locations.get(location.body)
    return parent.thing if parent is not None and isinstance(parent.thing, Arm) else None


def parse_guard(form: StepForm) -> Guard | None:
    """Return the condition that was typed; None if none was."""
    texts = [" ".join(line.split()) for line in form.when.splitlines() if line.strip()]
    kind = Outcome if form.is_outcome else State
    questions = tuple(kind(text=each) for each in texts)
    if not questions:
        return None
    guard: Guard = questions[0]
    if len(questions) > 1:
        guard = Some(guards=questions) if form.joined == "some" else All(guards=questions)
    return Not(guard=guard) if form.is_no else guard


def guard_fields(guard: Guard | None) -> dict[str, Any] | None:
    """Return the form fields of a condition; None if the form cannot express it."""
    if guard is None:
        return {}
    is_no = isinstance(guard, Not)
    inner = guard.guard if isinstance(guard, Not) else guard
    questions = inner.guards if isinstance(inner, All | Some) else (inner,)
    kinds = {type(each) for each in questions}
    if len(kinds) > 1 or not kinds <= {State, Outcome}:
        return None
    return {
        "when": "\n".join(each.text for each in questions if isinstance(each, State | Outcome)),
        "joined": "some" if isinstance(inner, Some) else "all",
        "is_outcome": kinds == {Outcome},
        "is_no": is_no,
    }


def format_ranges(lines: tuple[LineRange, ...]) -> str:
    """Format ranges of lines as a person types them."""
    return ", ".join(f"{a}-{b}" if a < b else str(a) for a, b in lines)


def _parse_ranges(form: StepForm) -> list[LineRange]:
    ranges = []
    for part in filter(None, (each.strip() for each in form.lines.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise UnusableOperationError(f"lines: expected such as 12-14, 20, got {part!r}")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return ranges


def _normalize_newlines(text: str) -> str:
    """Undo the CRLF line ends that a browser sends."""
    return text.replace("\r\n", "\n")


def _parse_commands(form: StepForm) -> list[str]:
    return [line.strip() for line in form.commands.splitlines() if line.strip()]


def _cited_lines(form: StepForm) -> dict[str, Any]:
    """Return the lines that a new text comes from, if the form names any."""
    lines = _parse_ranges(form)
    return {"at": lines} if lines else {}


def _parse_place(form: StepForm) -> dict[str, str]:
    where, _, ref = form.place.partition(" ")
    if where not in {"before", "after", "first_in", "last_in"} or not ref:
        raise UnusableOperationError("say where it goes")
    return {where: ref}


def _jumps_to(form: StepForm) -> dict[str, str]:
    return {"jumps_to": form.jumps_to} if form.jumps_to else {}


def _replace(form: StepForm, outline: Outline) -> dict[str, Any]:
    """Return the fields that changed; commands of several lines stay whole if unchanged."""
    thing = outline[form.node].thing
    changes: dict[str, Any] = {"text": _normalize_newlines(form.text)} if form.text.strip() else {}
    if form.goto:
        changes = {"goto": form.goto}
    if isinstance(thing, Do | End) and _normalize_newlines(form.commands).strip() != "\n".join(
        thing.commands
    ):
        changes["commands"] = _parse_commands(form)
    if isinstance(thing, Do):
        changes["core"] = form.core
        if _normalize_newlines(form.expected).strip() != thing.expected.strip():
            changes["expected"] = _normalize_newlines(form.expected)
    if isinstance(thing, End):
        changes["end"] = form.end or thing.kind
    if form.lines.strip() != format_ranges(thing.lines):
        changes["at"] = _parse_ranges(form)
    return {"op": "replace", **changes}


def _add(form: StepForm, _outline: Outline) -> dict[str, Any]:
    new: dict[str, Any] = {"do": form.text, "commands": _parse_commands(form)}
    if form.kind == "note":
        new = {"note": form.text}
    elif form.kind == "goto":
        new = {"goto": form.goto or "start"}
    elif form.kind == "end":
        new = {"end": form.end or "resolved", "text": form.text, "commands": _parse_commands(form)}
    elif form.kind == "condition":
        arm = {"when": form.text, **_cited_lines(form)}
        new = {"choice": "exclusive", "arms": [arm]}
    if form.kind in {"do", "note", "condition"} and not form.text.strip():
        raise UnusableOperationError("say in words what is to be added")
    return {"op": "insert", "node": {**new, **_cited_lines(form)}, **_parse_place(form)}


def _put(form: StepForm, outline: Outline) -> dict[str, Any]:
    guard = parse_guard(form)
    if guard is None:
        raise UnusableOperationError("say under which condition it is done")
    first = outline.node(form.node)
    last = outline.node(form.through) if form.through else first
    body = outline.bodies[first.body]
    nodes = [node.id for node in body[first.at : last.at + 1]] or [first.thing.id]
    operation: dict[str, Any] = {"op": "guard", "how": "put", "nodes": nodes, "when": guard}
    if form.otherwise and form.otherwise != "unsaid":
        operation["otherwise"] = _body_otherwise(form)
    return operation | _cited_lines(form)


def _change(form: StepForm, outline: Outline) -> dict[str, Any]:
    guard = parse_guard(form)
    if guard is None:
        raise UnusableOperationError("say under which condition it is done")
    operation: dict[str, Any] = {"op": "guard", "how": "change", "when": guard}
    conditional = condition_of(outline, outline[form.node])
    if conditional is not None and form.lines.strip() != format_ranges(conditional.lines):
        operation["at"] = _parse_ranges(form)
    return operation


def _otherwise(form: StepForm, outline: Outline) -> dict[str, Any]:
    conditional = condition_of(outline, outline[form.node])
    operation: dict[str, Any] = {
        "node": conditional.id if conditional else form.node,
        **_jumps_to(form),
    }
    if form.otherwise in {"go_on", "unsaid"}:
        return {**operation, form.otherwise: True}
    if form.otherwise == "":
        raise UnusableOperationError("say what is done when it does not hold")
    return {**operation, "steps": _body_otherwise(form)}


def _body_otherwise(form: StepForm) -> list[dict[str, Any]]:
    if form.otherwise == "go_on":
        return []
    if form.otherwise == "goto":
        return [{"goto": form.goto or "start"}]
    if form.otherwise == "do":
        return [{"do": form.text}]
    return [{"end": form.otherwise, "text": form.text}]


_OPERATION_BUILDERS: dict[StepFormAction, Callable[[StepForm, Outline], dict[str, Any]]] = {
    StepFormAction.SAY: _replace,
    StepFormAction.ADD: _add,
    StepFormAction.MOVE: lambda form, _: {**_parse_place(form), **_jumps_to(form)},
    StepFormAction.DELETE: lambda form, _: {"keep_below": form.keep_below, **_jumps_to(form)},
    StepFormAction.PUT: _put,
    StepFormAction.CHANGE: _change,
    StepFormAction.NEGATE: lambda _form, _: {"op": "guard", "how": "negate"},
    StepFormAction.REMOVE: lambda _form, _: {"op": "guard", "how": "remove"},
    StepFormAction.OTHERWISE: _otherwise,
    StepFormAction.PARAMETER: lambda form, _: {
        "name": form.name,
        "literal": form.literal,
        **({} if form.is_everywhere else {"nodes": [form.node]}),
    },
}


def node_fields(thing: Node | Arm) -> dict[str, Any]:
    """Return the form fields of a node's own content."""
    fields: dict[str, Any] = {"lines": format_ranges(thing.lines)}
    for name, field in (("text", "text"), ("expected", "expected"), ("question", "text")):
        if value := getattr(thing, name, ""):
            fields[field] = value
    if isinstance(thing, Do | End):
        fields["commands"] = "\n".join(thing.commands)
    if isinstance(thing, Do):
        fields["core"] = thing.core
    if isinstance(thing, End):
        fields["end"] = thing.kind.value
    return fields | ({"goto": target} if (target := getattr(thing, "target", "")) else {})
