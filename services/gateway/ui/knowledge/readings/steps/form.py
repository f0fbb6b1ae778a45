"""What the forms of a step send, as operations on its procedure."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.procedure.editing.errors import UnusableOperationError
from services.procedure.editing.operations import Operation, operations_given
from services.procedure.editing.program import Found, Outline
from services.procedure.model import (
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


class Act(StrEnum):
    """What is to be done about a step."""

    SAY = "say"
    ADD = "add"
    MOVE = "move"
    DELETE = "delete"
    PUT = "put"
    """Under a condition."""
    CHANGE = "change"
    NEGATE = "negate"
    REMOVE = "remove"
    """The condition, so that it is done always."""
    OTHERWISE = "otherwise"
    PARAMETER = "parameter"


class StepForm(BaseModel):
    """All fields that a form of a step may have; each form has some of them."""

    model_config = ConfigDict(frozen=True)

    procedure: int = Field(default=0, ge=0)
    revision: str = Field(default="", max_length=64)
    """What the person saw."""
    node: str = Field(default="", max_length=200)
    act: Act = Act.SAY
    text: str = Field(default="", max_length=MOST_TEXT)
    commands: str = Field(default="", max_length=50 * MOST_TEXT)
    """One a line."""
    expected: str = Field(default="", max_length=MOST_TEXT)
    core: bool = False
    end: str = Field(default="", max_length=40)
    goto: str = Field(default="", max_length=200)
    lines: str = Field(default="", max_length=400)
    """Such as `12-14, 20`."""
    kind: str = Field(default="do", max_length=20)
    """Of what is added."""
    place: str = Field(default="", max_length=220)
    """Where it goes: `after n4`, `first_in n6`."""
    when: str = Field(default="", max_length=MOST_TEXT)
    """Questions of a condition, one a line."""
    joined: str = Field(default="all", max_length=10)
    """Whether `all` of them or `some` must hold."""
    is_outcome: bool = False
    is_no: bool = False
    """Whether it holds when the answer is No."""
    through: str = Field(default="", max_length=200)
    """The last of the steps that go under a condition."""
    otherwise: str = Field(default="", max_length=40)
    """What No leads to: `go_on`, `unsaid`, `goto`, or a kind of end."""
    keep_below: bool = False
    jumps_to: str = Field(default="", max_length=200)
    name: str = Field(default="", max_length=64)
    literal: str = Field(default="", max_length=200)
    is_everywhere: bool = False

    @model_validator(mode="before")
    @classmethod
    def _act_with_place(cls, given: object) -> object:
        """A button says both what and where: `move before n3`."""
        if not isinstance(given, Mapping) or not isinstance(given.get("act"), str):
            return given
        act, _, place = given["act"].partition(" ")
        return {**given, "act": act, **({"place": place} if place else {})}

    @property
    def fields(self) -> dict[str, str]:
        """What was filled in, to be sent again."""
        told = self.model_dump(mode="json", exclude_defaults=True) | {"act": self.act.value}
        return {name: "1" if value is True else str(value) for name, value in told.items()}


def operations_of(form: StepForm, outline: Outline) -> tuple[Operation, ...]:
    """The operations that a form asks for.

    Raises:
        UnusableOperationError: A field of it says nothing that can be done.
    """
    named = {} if form.act in {Act.ADD, Act.PUT, Act.PARAMETER} else {"node": form.node}
    operation = {"op": form.act.value, **named, **_OF[form.act](form, outline)}
    return operations_given([operation])


def condition_of(outline: Outline, found: Found) -> Arm | Loop | None:
    """Whose condition the forms of a node change: its own, or that which it directly hangs on."""
    thing = found.thing
    if isinstance(thing, Arm | Loop):
        return thing
    if isinstance(thing, Choice):
        return thing.arms[0] if len(thing.arms) == 1 else None
    over = outline.found.get(found.body)
    return over.thing if over is not None and isinstance(over.thing, Arm) else None


def guard_of(form: StepForm) -> Guard | None:
    """The condition that was typed; None where nothing was."""
    asked = [" ".join(line.split()) for line in form.when.splitlines() if line.strip()]
    kind = Outcome if form.is_outcome else State
    questions = tuple(kind(text=each) for each in asked)
    if not questions:
        return None
    guard: Guard = questions[0]
    if len(questions) > 1:
        guard = Some(guards=questions) if form.joined == "some" else All(guards=questions)
    return Not(guard=guard) if form.is_no else guard


def typed_guard(guard: Guard | None) -> dict[str, Any] | None:
    """The fields of a condition; None of one that has no such form."""
    if guard is None:
        return {}
    is_no = isinstance(guard, Not)
    inner = guard.guard if isinstance(guard, Not) else guard
    asked = inner.guards if isinstance(inner, All | Some) else (inner,)
    kinds = {type(each) for each in asked}
    if len(kinds) > 1 or not kinds <= {State, Outcome}:
        return None
    return {
        "when": "\n".join(each.text for each in asked if isinstance(each, State | Outcome)),
        "joined": "some" if isinstance(inner, Some) else "all",
        "is_outcome": kinds == {Outcome},
        "is_no": is_no,
    }


def typed_lines(lines: tuple[LineRange, ...]) -> str:
    """Ranges as they are typed."""
    return ", ".join(f"{a}-{b}" if a < b else str(a) for a, b in lines)


def _lines(form: StepForm) -> list[LineRange]:
    found = []
    for part in filter(None, (each.strip() for each in form.lines.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise UnusableOperationError(f"lines: expected such as 12-14, 20, got {part!r}")
        found.append((int(match[1]), int(match[2] or match[1])))
    return found


def _newlines(text: str) -> str:
    """As it was before a browser sent it."""
    return text.replace("\r\n", "\n")


def _commands(form: StepForm) -> list[str]:
    return [line.strip() for line in form.commands.splitlines() if line.strip()]


def _at(form: StepForm) -> dict[str, Any]:
    """The lines that say something new, where some are given."""
    lines = _lines(form)
    return {"at": lines} if lines else {}


def _place(form: StepForm) -> dict[str, str]:
    where, _, ref = form.place.partition(" ")
    if where not in {"before", "after", "first_in", "last_in"} or not ref:
        raise UnusableOperationError("say where it goes")
    return {where: ref}


def _jumps_to(form: StepForm) -> dict[str, str]:
    return {"jumps_to": form.jumps_to} if form.jumps_to else {}


def _say(form: StepForm, outline: Outline) -> dict[str, Any]:
    """What is not as it was; commands of several lines stay whole where nobody touched them."""
    thing = outline[form.node].thing
    given: dict[str, Any] = {"text": _newlines(form.text)} if form.text.strip() else {}
    if form.goto:
        given = {"goto": form.goto}
    if isinstance(thing, Do | End) and _newlines(form.commands).strip() != "\n".join(
        thing.commands
    ):
        given["commands"] = _commands(form)
    if isinstance(thing, Do):
        given["core"] = form.core
        if _newlines(form.expected).strip() != thing.expected.strip():
            given["expected"] = _newlines(form.expected)
    if isinstance(thing, End):
        given["end"] = form.end or thing.kind
    if form.lines.strip() != typed_lines(thing.lines):
        given["at"] = _lines(form)
    return {"op": "replace", **given}


def _add(form: StepForm, _outline: Outline) -> dict[str, Any]:
    new: dict[str, Any] = {"do": form.text, "commands": _commands(form)}
    if form.kind == "note":
        new = {"note": form.text}
    elif form.kind == "goto":
        new = {"goto": form.goto or "start"}
    elif form.kind == "end":
        new = {"end": form.end or "resolved", "text": form.text, "commands": _commands(form)}
    elif form.kind == "condition":
        arm = {"when": form.text, **_at(form)}
        new = {"choice": "exclusive", "arms": [arm]}
    if form.kind in {"do", "note", "condition"} and not form.text.strip():
        raise UnusableOperationError("say in words what is to be added")
    return {"op": "insert", "node": {**new, **_at(form)}, **_place(form)}


def _put(form: StepForm, outline: Outline) -> dict[str, Any]:
    guard = guard_of(form)
    if guard is None:
        raise UnusableOperationError("say under which condition it is done")
    first = outline.node(form.node)
    last = outline.node(form.through) if form.through else first
    body = outline.bodies[first.body]
    nodes = [node.id for node in body[first.at : last.at + 1]] or [first.thing.id]
    told: dict[str, Any] = {"op": "guard", "how": "put", "nodes": nodes, "when": guard}
    if form.otherwise and form.otherwise != "unsaid":
        told["otherwise"] = _body_otherwise(form)
    return told | _at(form)


def _change(form: StepForm, outline: Outline) -> dict[str, Any]:
    guard = guard_of(form)
    if guard is None:
        raise UnusableOperationError("say under which condition it is done")
    told: dict[str, Any] = {"op": "guard", "how": "change", "when": guard}
    over = condition_of(outline, outline[form.node])
    if over is not None and form.lines.strip() != typed_lines(over.lines):
        told["at"] = _lines(form)
    return told


def _otherwise(form: StepForm, outline: Outline) -> dict[str, Any]:
    over = condition_of(outline, outline[form.node])
    told: dict[str, Any] = {"node": over.id if over else form.node, **_jumps_to(form)}
    if form.otherwise in {"go_on", "unsaid"}:
        return {**told, form.otherwise: True}
    if form.otherwise == "":
        raise UnusableOperationError("say what is done when it does not hold")
    return {**told, "steps": _body_otherwise(form)}


def _body_otherwise(form: StepForm) -> list[dict[str, Any]]:
    if form.otherwise == "go_on":
        return []
    if form.otherwise == "goto":
        return [{"goto": form.goto or "start"}]
    if form.otherwise == "do":
        return [{"do": form.text}]
    return [{"end": form.otherwise, "text": form.text}]


def _parameter(form: StepForm, _outline: Outline) -> dict[str, Any]:
    told = {"name": form.name, "literal": form.literal}
    return told if form.is_everywhere else {**told, "nodes": [form.node]}


_OF: dict[Act, Callable[[StepForm, Outline], dict[str, Any]]] = {
    Act.SAY: _say,
    Act.ADD: _add,
    Act.MOVE: lambda form, _: {**_place(form), **_jumps_to(form)},
    Act.DELETE: lambda form, _: {"keep_below": form.keep_below, **_jumps_to(form)},
    Act.PUT: _put,
    Act.CHANGE: _change,
    Act.NEGATE: lambda _form, _: {"op": "guard", "how": "negate"},
    Act.REMOVE: lambda _form, _: {"op": "guard", "how": "remove"},
    Act.OTHERWISE: _otherwise,
    Act.PARAMETER: _parameter,
}


def said(thing: Node | Arm) -> dict[str, Any]:
    """The fields of what a node says."""
    told: dict[str, Any] = {"lines": typed_lines(thing.lines)}
    for name, field in (("text", "text"), ("expected", "expected"), ("question", "text")):
        if value := getattr(thing, name, ""):
            told[field] = value
    if isinstance(thing, Do | End):
        told["commands"] = "\n".join(thing.commands)
    if isinstance(thing, Do):
        told["core"] = thing.core
    if isinstance(thing, End):
        told["end"] = thing.kind.value
    return told | ({"goto": target} if (target := getattr(thing, "target", "")) else {})
