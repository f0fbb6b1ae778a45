"""A component: what a step may call, whatever catalogue it comes from."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Literal

from pydantic import Field

from services.contracts.execution import ToolParameter, ToolSummary
from services.kit.value import Value

ParameterType = Literal["string", "integer", "number", "boolean", "list", "object"]

_TYPES: Mapping[str, ParameterType] = {
    "str": "string",
    "string": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "double": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "array": "list",
    "list": "list",
    "tuple": "list",
    "object": "object",
    "dict": "object",
    "map": "object",
}
_ONE_WORD = r"[A-Za-z0-9_/.:@%+=,-]{1,200}"
"""What the executor takes where a parameter of a tool has no pattern."""
_TRUE_OR_FALSE = frozenset({"true", "false", "yes", "no", "on", "off"})


class Effect(StrEnum):
    """What a component does."""

    READ = "read"
    CHANGE = "change"


class Parameter(Value):
    """What a component wants to be told."""

    description: str = ""
    type: ParameterType = "string"
    required: bool = True
    default: str | None = None
    values: tuple[str, ...] = ()
    """The only ones, where there are any."""
    pattern: str = ""
    """What the whole value matches."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Labels of tickets that hold it."""

    def misfit(self, value: str) -> str:
        """Why it may not have this value, in words; empty where it may."""
        if self.values and value.casefold() not in {each.casefold() for each in self.values}:
            return f"it is one of {', '.join(self.values)}"
        if self.type in {"integer", "number"}:
            return self._misfit_number(value)
        if self.type == "boolean" and value.casefold() not in _TRUE_OR_FALSE:
            return "it is true or false"
        if self.pattern and not _matches(self.pattern, value):
            return "it is one word" if self.pattern == _ONE_WORD else f"it matches {self.pattern}"
        return ""

    def _misfit_number(self, value: str) -> str:
        try:
            number = int(value) if self.type == "integer" else float(value)
        except ValueError:
            return "it is a whole number" if self.type == "integer" else "it is a number"
        if self.minimum is not None and number < self.minimum:
            return f"it is at least {self.minimum:g}"
        if self.maximum is not None and number > self.maximum:
            return f"it is at most {self.maximum:g}"
        return ""


class Component(Value):
    """Something that can be done by name."""

    name: str
    description: str = ""
    parameters: Mapping[str, Parameter] = Field(default={})
    effect: Effect = Effect.CHANGE
    """What is not known to look counts as a change."""
    source: str = ""
    """Where it was described: `executor`, `keep`, a file."""
    tells: tuple[str, ...] = ()
    """Names of what it tells, which later steps may use."""

    @property
    def required(self) -> list[str]:
        """Parameters that need a value."""
        return [name for name, p in self.parameters.items() if p.required and p.default is None]


class Components:
    """A catalogue: each name once, the first one counts."""

    def __init__(self, components: Iterable[Component]) -> None:
        self.by_name: dict[str, Component] = {}
        for each in components:
            self.by_name.setdefault(each.name, each)

    def __len__(self) -> int:
        return len(self.by_name)

    @cached_property
    def digest(self) -> str:
        """Names what they are found by, in their order."""
        told = "\0".join(f"{name}\0{each.description}" for name, each in self.by_name.items())
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    def named(self, name: str) -> Component | None:
        """The component of that name, whatever the case; None where there is none."""
        return self.by_name.get(name) or self._folded.get(name.casefold())

    def twins(self, name: str, said: str) -> tuple[str, ...]:
        """The component and those that are described in the same words; itself where it is named.

        At most ten; nothing where there is no such component.
        """
        component = self.by_name.get(name)
        if component is None:
            return ()
        same = self._described.get(_plain(component.description), [])
        if len(same) < 2 or name.casefold() in said.casefold():
            return (name,)
        return (name, *(each for each in same if each != name))[:10]

    @cached_property
    def _described(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in self.by_name.values():
            if each.description:
                found.setdefault(_plain(each.description), []).append(each.name)
        return found

    @cached_property
    def _folded(self) -> dict[str, Component]:
        return {name.casefold(): each for name, each in self.by_name.items()}


def of_tool(tool: ToolSummary) -> Component:
    """A tool of the executor's catalogue; it takes a value for every parameter."""
    details = tool.details or tuple(ToolParameter(name=name) for name in tool.parameters)
    return Component(
        name=tool.name,
        description=tool.description,
        parameters={
            each.name: Parameter(
                **each.model_dump(exclude={"name", "type", "pattern"}),
                type=type_named(each.type),
                pattern=each.pattern or ("" if each.values else _ONE_WORD),
            )
            for each in details
        },
        effect=Effect.CHANGE if tool.changes else Effect.READ,
        source="executor",
        tells=tuple(field.name for field in tool.fields),
    )


def type_named(name: object) -> ParameterType:
    """The type that descriptions write in many ways; text where it is none of them."""
    return _TYPES.get(str(name).strip().casefold(), "string")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value, re.ASCII) is not None
    except re.error:
        return True
