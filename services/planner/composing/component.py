"""Components: the operations that a step may call, whatever catalogue they come from."""

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
"""Pattern that the executor applies to a tool's parameter without a pattern of its own."""
_TRUE_OR_FALSE = frozenset({"true", "false", "yes", "no", "on", "off"})


class ComponentEffect(StrEnum):
    """Effect of a component: it reads, or it changes something."""

    READ = "read"
    CHANGE = "change"


class ComponentParameter(Value):
    """Parameter of a component, with the constraints on its value."""

    description: str = ""
    type: ParameterType = "string"
    required: bool = True
    default: str | None = None
    values: tuple[str, ...] = ()
    """The allowed values, if they are limited."""
    pattern: str = ""
    """Regular expression that the whole value must match."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Ticket labels that hold its value."""

    def validation_error(self, value: str) -> str:
        """Return why the value is not allowed, in words; empty if it is allowed."""
        if self.values and value.casefold() not in {each.casefold() for each in self.values}:
            return f"it is one of {', '.join(self.values)}"
        if self.type in {"integer", "number"}:
            return self._number_error(value)
        if self.type == "boolean" and value.casefold() not in _TRUE_OR_FALSE:
            return "it is true or false"
        if self.pattern and not _matches(self.pattern, value):
            return "it is one word" if self.pattern == _ONE_WORD else f"it matches {self.pattern}"
        return ""

    def _number_error(self, value: str) -> str:
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
    """An operation that can be called by name."""

    name: str
    description: str = ""
    parameters: Mapping[str, ComponentParameter] = Field(default={})
    effect: ComponentEffect = ComponentEffect.CHANGE
    """Effect of a call; a component not known to be read-only counts as a change."""
    source: str = ""
    """Origin of the description: `executor`, `keep`, or a file."""
    tells: tuple[str, ...] = ()
    """Names of its output fields, which later steps may use."""

    @property
    def required(self) -> list[str]:
        """Names of the parameters that need a value."""
        return [name for name, p in self.parameters.items() if p.required and p.default is None]


class Components:
    """Catalogue of components by name; of equal names the first one counts."""

    def __init__(self, components: Iterable[Component]) -> None:
        self.by_name: dict[str, Component] = {}
        for each in components:
            self.by_name.setdefault(each.name, each)

    def __len__(self) -> int:
        return len(self.by_name)

    @cached_property
    def digest(self) -> str:
        """Hash of the texts that the components are searched by, in their order."""
        text = "\0".join(f"{name}\0{each.description}" for name, each in self.by_name.items())
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def find(self, name: str) -> Component | None:
        """Return the component of that name, ignoring case; None if there is none."""
        return self.by_name.get(name) or self._by_folded_name.get(name.casefold())

    def same_description(self, name: str, instruction: str) -> tuple[str, ...]:
        """Return the component and those with the same description; itself alone if it is named.

        At most ten; nothing where there is no such component.
        """
        component = self.by_name.get(name)
        if component is None:
            return ()
        if not component.description or name.casefold() in instruction.casefold():
            return (name,)
        does = _normalize(component.description)
        same = (
            each.name
            for each in self.by_name.values()
            if each.description and _normalize(each.description) == does
        )
        return tuple(dict.fromkeys((name, *same)))[:10]

    @cached_property
    def _by_folded_name(self) -> dict[str, Component]:
        return {name.casefold(): each for name, each in self.by_name.items()}


def of_tool(tool: ToolSummary) -> Component:
    """Convert a tool of the executor's catalogue; it takes a value for every parameter."""
    details = tool.details or tuple(ToolParameter(name=name) for name in tool.parameters)
    return Component(
        name=tool.name,
        description=tool.description,
        parameters={
            each.name: ComponentParameter(
                **each.model_dump(exclude={"name", "type", "pattern"}),
                type=parse_type(each.type),
                pattern=each.pattern or ("" if each.values else _ONE_WORD),
            )
            for each in details
        },
        effect=ComponentEffect.CHANGE if tool.changes else ComponentEffect.READ,
        source="executor",
        tells=tuple(field.name for field in tool.fields),
    )


def parse_type(name: object) -> ParameterType:
    """Return the parameter type for its name in a description; `string` if unknown."""
    return _TYPES.get(str(name).strip().casefold(), "string")


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value, re.ASCII) is not None
    except re.error:
        return True
