"""A tool: what can be asked of a target, or done to it, as a catalogue file states it."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from services.executor.tools.compare import Test
from services.executor.tools.entry import CatalogueEntry
from services.executor.tools.template import Template
from services.kit.errors import InvalidInputError
from services.workflow.effects.effect import effect_of

_SAFE = re.compile(r"[A-Za-z0-9_/.:][A-Za-z0-9_/.:@%+=,-]{0,199}")
"""An argument where its parameter has no pattern: one word that is no option of the command."""


class BadArgumentError(InvalidInputError):
    """A parameter is missing, unknown, or has a value that it may not have."""


class Effect(StrEnum):
    """What a tool does to its target."""

    READ = "read"
    CHANGE = "change"


class Parameter(CatalogueEntry):
    """What a tool wants to be told."""

    description: str = ""
    type: Literal["string", "integer", "number"] = "string"
    pattern: str = ""
    """What the whole value must match; without one it is a single plain word."""
    values: tuple[str, ...] = ()
    """The only ones, where there are any."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Labels of tickets that hold it."""

    def checked(self, name: str, value: str) -> str:
        """The value, if it may be sent.

        Raises:
            BadArgumentError: It may not.
        """
        if self.values and value not in self.values:
            raise BadArgumentError(f"{name} is one of {', '.join(self.values)}, got {value!r}")
        allowed = re.compile(self.pattern, re.ASCII) if self.pattern else _SAFE
        if allowed.fullmatch(value) is None:
            raise BadArgumentError(
                f"{name} may not be {value[:80]!r}: {self.pattern or 'one word'}"
            )
        if self.type != "string":
            self._check_number(name, value)
        return value

    def _check_number(self, name: str, value: str) -> None:
        try:
            number = float(value) if self.type == "number" else int(value)
        except ValueError:
            raise BadArgumentError(f"{name} is a number, got {value!r}") from None
        low = self.minimum is not None and number < self.minimum
        if low or (self.maximum is not None and number > self.maximum):
            raise BadArgumentError(f"{name} lies in {self.minimum} to {self.maximum}, got {value}")


class OutputField(CatalogueEntry):
    """One thing that is found in a tool's output."""

    find: str
    """A regular expression with one group for `text`; JMESPath for `rows` and `json`."""
    description: str = ""
    type: Literal["string", "number", "boolean"] = "string"
    values: tuple[str, ...] = ()
    """What it may be, where that is known: states."""
    unit: str = ""
    says: Mapping[str, tuple[str, ...]] = Field(default={})
    """Words that people use, by the value that they mean: `up: [healthy, established]`."""
    absent: str | None = None
    """Its value where nothing is found; None: it is not told then."""


class Output(CatalogueEntry):
    """How a tool's output is read."""

    parser: Literal["text", "rows", "json"] = "text"
    """`rows`: by ntc-templates, a list of rows."""
    template: str = ""
    """Of `rows`: the command as ntc-templates knows it, `show interface`."""
    fields: Mapping[str, OutputField] = Field(default={})
    redact: tuple[str, ...] = ()
    """Regular expressions of what is taken out before anything is kept."""


class SshWay(CatalogueEntry):
    """A command over SSH: of a device's own command line, or of a host."""

    by: Literal["ssh"]
    command: tuple[str, ...] = ()
    lines: tuple[tuple[str, ...], ...] = ()
    """Of a change of a device's configuration: its lines, entered together."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """Raises `BadTemplateError`."""
        return tuple(Template(words) for words in ((self.command,) if self.command else self.lines))


class HttpWay(CatalogueEntry):
    """A request to an address of the target."""

    by: Literal["http"]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    path: str
    """With places: `/v1/nodes/{node}`; an argument is one segment, escaped."""
    query: Mapping[str, str] = Field(default={})
    body: Mapping[str, str] = Field(default={})


class PrometheusWay(CatalogueEntry):
    """An instant query; an argument stands within quotes, escaped."""

    by: Literal["prometheus"]
    query: str


class McpWay(CatalogueEntry):
    """A tool of an MCP server, which is the target."""

    by: Literal["mcp"]
    name: str


Way = Annotated[SshWay | HttpWay | PrometheusWay | McpWay, Field(discriminator="by")]


class OtherCall(CatalogueEntry):
    """Another tool on the same target, with the arguments of this one: `{neighbor}`."""

    tool: str
    arguments: Mapping[str, str] = Field(default={})

    def filled(self, arguments: Mapping[str, str]) -> dict[str, str]:
        """Its own arguments."""
        return {
            name: re.sub(r"\{(\w+)\}", lambda m: arguments.get(m.group(1), ""), value)
            for name, value in self.arguments.items()
        }


class Condition(OtherCall):
    """What another tool must tell."""

    tests: tuple[Test, ...] = Field(min_length=1)


class Verification(Condition):
    """How it is seen that a change worked."""

    within_s: float = Field(default=60.0, gt=0)
    """Seconds in which it must show."""
    every_s: float = Field(default=5.0, gt=0)
    holds_s: float = Field(default=0.0, ge=0)
    """Seconds for which it must go on to hold."""


class Undo(OtherCall):
    """What takes a change back, where something speaks for it."""

    only_if: Condition | None = None


class Tool(CatalogueEntry):
    """A tool of the catalogue."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")
    description: str
    """What it tells or does, in the words of people: steps are matched with it."""
    says: tuple[str, ...] = ()
    """How pages put it otherwise."""
    effect: Effect
    target: str
    """The kind of target that it is for."""
    label: str = "device"
    """The label of tickets that names the target."""
    way: Way
    parameters: Mapping[str, Parameter] = Field(default={})
    output: Output = Output()
    before: tuple[Condition, ...] = ()
    """What must hold before it is done."""
    dry_run: OtherCall | None = None
    """What shows what it would do; None: it cannot be simulated."""
    undo: Undo | None = None
    verify: Verification | None = None
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    most_calls: int = Field(default=20, ge=1, le=1000)
    """In one run."""
    most_bytes: int = Field(default=200_000, ge=1)
    """Of output that is looked at; the rest is cut off."""

    @model_validator(mode="after")
    def _places_are_parameters(self) -> "Tool":
        way = self.way
        if isinstance(way, SshWay):
            if bool(way.command) is bool(way.lines):
                raise ValueError(f"{self.name}: state `command` or `lines`")
            places = {place for template in way.templates for place in template.places}
        else:
            places = set(re.findall(r"\{(\w+)\}", way.model_dump_json(exclude={"by"})))
        if self.effect is Effect.READ and (why := self._what_it_changes()):
            raise ValueError(f"{self.name} cannot be `read`: {why}")
        if unknown := places - self.parameters.keys():
            raise ValueError(f"{self.name}: no parameter for {', '.join(sorted(unknown))}")
        for field in self.output.fields.values():
            if self.output.parser == "text":
                re.compile(field.find)
        return self

    def _what_it_changes(self) -> str:
        """What is known of its way to change something; empty where nothing is."""
        way = self.way
        if isinstance(way, SshWay):
            if way.lines:
                return "its lines are entered into a configuration"
            return effect_of(" ".join(way.command)).what
        if isinstance(way, HttpWay) and way.method != "GET":
            return f"{way.method} changes something"
        return ""

    @property
    def others(self) -> tuple[OtherCall, ...]:
        """The tools that it refers to."""
        only_if = self.undo.only_if if self.undo else None
        referred = (*self.before, self.dry_run, self.undo, only_if, self.verify)
        return tuple(each for each in referred if each is not None)

    @cached_property
    def digest(self) -> str:
        """Names this definition: another one needs bindings approved anew."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]

    def checked(self, arguments: Mapping[str, str]) -> dict[str, str]:
        """The arguments, if they may be sent.

        Raises:
            BadArgumentError: One is missing, unknown or not allowed.
        """
        if missing := self.parameters.keys() - arguments.keys():
            raise BadArgumentError(f"{self.name} needs {', '.join(sorted(missing))}")
        if unknown := arguments.keys() - self.parameters.keys():
            raise BadArgumentError(f"{self.name} does not know {', '.join(sorted(unknown))}")
        return {name: self.parameters[name].checked(name, v) for name, v in arguments.items()}

    def shown(self, arguments: Mapping[str, str]) -> str:
        """What would be sent, for people."""
        way = self.way
        if isinstance(way, SshWay):
            return "; ".join(" ".join(t.filled(arguments)) for t in way.templates)
        if isinstance(way, HttpWay):
            parts = {"?": way.query, "body": way.body}
            rest = [
                f"{name} {fill(str(dict(each)), arguments)}" for name, each in parts.items() if each
            ]
            return " ".join((way.method, fill(way.path, arguments), *rest))
        if isinstance(way, PrometheusWay):
            return fill(way.query, arguments)
        told = ", ".join(f"{name}={value}" for name, value in arguments.items())
        return f"{way.name}({told})"


def with_others(by_name: Mapping[str, Tool], names: Iterable[str]) -> tuple[Tool, ...]:
    """The tools of these names, and those that they refer to."""
    found: dict[str, Tool] = {}
    waiting = sorted(set(names))
    while waiting:
        tool = by_name[waiting.pop()]
        if tool.name not in found:
            found[tool.name] = tool
            waiting += [other.tool for other in tool.others]
    return tuple(found[name] for name in sorted(found))


def fill(text: str, arguments: Mapping[str, str]) -> str:
    """The text with the arguments in their places, as they are."""
    return re.sub(r"\{(\w+)\}", lambda m: arguments.get(m.group(1), m.group()), text)
