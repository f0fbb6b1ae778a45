"""Tools of a catalogue: what can be asked of a target, or done to it."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from services.execution.tools.compare import CatalogueEntry, Test
from services.execution.tools.template import CommandTemplate
from services.kit.errors import InvalidInputError
from services.workflow.effects.effect import effect_of
from services.workflow.graph import reachable

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_/.:][A-Za-z0-9_/.:@%+=,-]{0,199}")
"""Pattern of an argument without a pattern of its own: one word that is no option."""


class BadArgumentError(InvalidInputError):
    """Error of an argument that is missing, unknown, or not allowed."""


class ToolEffect(StrEnum):
    """Effect of a tool on its target."""

    READ = "read"
    CHANGE = "change"


class ParameterSpec(CatalogueEntry):
    """Parameter of a tool."""

    description: str = ""
    type: Literal["string", "integer", "number"] = "string"
    pattern: str = ""
    """Pattern of the whole value; without one it is a single plain word."""
    values: tuple[str, ...] = ()
    """Allowed values; without any, all that match the pattern."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Labels of tickets that have the value."""

    def checked(self, name: str, value: str) -> str:
        """Return the value, if it may be sent.

        Raises:
            BadArgumentError: It may not.
        """
        if self.values and value not in self.values:
            raise BadArgumentError(f"{name} is one of {', '.join(self.values)}, got {value!r}")
        if "\0" in value:
            raise BadArgumentError(f"{name} may not hold a NUL character")
        allowed = re.compile(self.pattern, re.ASCII) if self.pattern else _PLAIN_WORD
        if allowed.fullmatch(value) is None:
            raise BadArgumentError(
                f"{name} may not be {value[:80]!r}: {self.pattern or 'one word'}"
            )
        if self.type == "string":
            return value
        try:
            number = float(value) if self.type == "number" else int(value)
        except ValueError:
            raise BadArgumentError(f"{name} is a number, got {value!r}") from None
        low = self.minimum is not None and number < self.minimum
        if low or (self.maximum is not None and number > self.maximum):
            raise BadArgumentError(f"{name} lies in {self.minimum} to {self.maximum}, got {value}")
        return value

    def typed(self, value: str) -> str | int | float:
        """Convert a value to the type that the parameter states."""
        if self.type == "string":
            return value
        return int(value) if self.type == "integer" else float(value)


class OutputField(CatalogueEntry):
    """Field of a tool's output."""

    find: str
    """Regular expression with one group for `text`; JMESPath for `rows` and `json`."""
    description: str = ""
    type: Literal["string", "number", "boolean"] = "string"
    values: tuple[str, ...] = ()
    """Possible values, if they are known: states."""
    unit: str = ""
    says: Mapping[str, tuple[str, ...]] = Field(default={})
    """Words that people use, by the value that they mean: `up: [healthy, established]`."""
    absent: str | None = None
    """Value if nothing is matched; None leaves the field out.

    It needs a sign that the target has answered: another field that is matched, or `nothing`.
    """


class Output(CatalogueEntry):
    """Format of a tool's output."""

    parser: Literal["text", "rows", "json"] = "text"
    """Parser of the output; `rows`: by ntc-templates, a list of rows."""
    template: str = ""
    """Command as ntc-templates knows it, for `rows`: `show interface`."""
    fields: Mapping[str, OutputField] = Field(default={})
    nothing: str = ""
    """Regular expression of an answer that has looked and found nothing: a header, a count of 0.

    Without one an empty answer, or a list without entries, counts as not seen.
    """
    unseen: str = ""
    """Regular expression of an answer, or of what is said beside it, that could not see it all."""
    noise: str = ""
    """Regular expression of lines on stderr that say nothing about the answer."""
    redact: tuple[str, ...] = ()
    """Regular expressions of what is redacted before anything is stored."""


class SshWay(CatalogueEntry):
    """Command over SSH: on a device's own command line, or on a host."""

    by: Literal["ssh"]
    command: tuple[str, ...] = ()
    lines: tuple[tuple[str, ...], ...] = ()
    """Lines of a configuration change, entered together."""
    statuses: tuple[int, ...] = (0,)
    """Exit statuses, on a host, of a command that has answered: also 1 for a `grep`."""

    @property
    def templates(self) -> tuple[CommandTemplate, ...]:
        """Templates of its lines; raises `BadTemplateError`."""
        return tuple(
            CommandTemplate(words) for words in ((self.command,) if self.command else self.lines)
        )


class HttpWay(CatalogueEntry):
    """Request to an address of the target."""

    by: Literal["http"]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    path: str
    """Path with placeholders: `/v1/nodes/{node}`; an argument is one segment, escaped."""
    query: Mapping[str, str] = Field(default={})
    body: Mapping[str, str] = Field(default={})


class PrometheusWay(CatalogueEntry):
    """Instant query; an argument is within quotes, escaped."""

    by: Literal["prometheus"]
    query: str


class McpWay(CatalogueEntry):
    """Tool of an MCP server, which is the target."""

    by: Literal["mcp"]
    name: str


Way = Annotated[SshWay | HttpWay | PrometheusWay | McpWay, Field(discriminator="by")]


class OtherCall(CatalogueEntry):
    """Call of another tool on the same target, with the arguments of this one: `{neighbor}`."""

    tool: str
    arguments: Mapping[str, str] = Field(default={})

    def filled(self, arguments: Mapping[str, str]) -> dict[str, str]:
        """Return the arguments of the other tool."""
        return {
            name: re.sub(r"\{(\w+)\}", lambda m: arguments.get(m.group(1), ""), value)
            for name, value in self.arguments.items()
        }


class OutputCondition(OtherCall):
    """Condition on another tool's output; `{target}` in its arguments is the changed target."""

    tests: tuple[Test, ...] = Field(min_length=1)
    on: str = ""
    """Name of another target to ask, such as a Prometheus; empty for the changed one."""

    def filled(self, arguments: Mapping[str, str], target: str = "") -> dict[str, str]:
        """See `OtherCall.filled`."""
        return super().filled({"target": target, **arguments})


class Verification(OutputCondition):
    """Condition by which a change is seen to work."""

    within_s: float = Field(default=60.0, gt=0)
    """Seconds within which it must hold."""
    every_s: float = Field(default=5.0, gt=0)
    holds_s: float = Field(default=0.0, ge=0)
    """Seconds for which it must go on to hold, counted from a look after the change.

    `rose` and `stayed` compare a look with the one before it, which the first one after the
    change lacks.
    """


class Undo(OtherCall):
    """Call that takes a change back, under a condition."""

    only_if: OutputCondition | None = None


class Tool(CatalogueEntry):
    """Tool of the catalogue."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")
    description: str
    """Description in the words of people: steps are matched with it."""
    says: tuple[str, ...] = ()
    """Other descriptions, as pages have them."""
    effect: ToolEffect
    target: str
    """Kind of target that it is for."""
    label: str = "device"
    """Label of tickets that names the target."""
    way: Way
    parameters: Mapping[str, ParameterSpec] = Field(default={})
    output: Output = Output()
    before: tuple[OutputCondition, ...] = ()
    """Preconditions of the call."""
    dry_run: OtherCall | None = None
    """Call that shows its effect beforehand; None: it cannot be simulated."""
    undo: Undo | None = None
    verify: Verification | None = None
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    most_calls: int = Field(default=20, ge=1, le=1000)
    """Most calls in one run."""
    most_bytes: int = Field(default=200_000, ge=1)
    """Most bytes of output that are read; the rest is cut off."""

    @model_validator(mode="after")
    def _check_placeholders(self) -> "Tool":
        way = self.way
        if isinstance(way, SshWay):
            if bool(way.command) is bool(way.lines):
                raise ValueError(f"{self.name}: state `command` or `lines`")
            places = {place for template in way.templates for place in template.parameter_names}
        else:
            places = set(re.findall(r"\{(\w+)\}", way.model_dump_json(exclude={"by"})))
        if self.effect is ToolEffect.READ and (why := self._reason_not_read_only()):
            raise ValueError(f"{self.name} cannot be `read`: {why}")
        if unknown := places - self.parameters.keys():
            raise ValueError(f"{self.name}: no parameter for {', '.join(sorted(unknown))}")
        for field in self.output.fields.values():
            if self.output.parser == "text":
                re.compile(field.find)
        for pattern in (self.output.nothing, self.output.unseen, self.output.noise):
            re.compile(pattern)
        return self

    def _reason_not_read_only(self) -> str:
        """Return why its way is not read-only; empty if nothing speaks against it."""
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
        """Calls of the tools that it refers to."""
        only_if = self.undo.only_if if self.undo else None
        referred = (*self.before, self.dry_run, self.undo, only_if, self.verify)
        return tuple(each for each in referred if each is not None)

    @cached_property
    def digest(self) -> str:
        """Digest of this definition: another one needs bindings approved anew."""
        unused = {each for each in ("nothing", "unseen", "noise") if not getattr(self.output, each)}
        later = {"output": unused} if unused else {}
        if isinstance(self.way, SshWay) and self.way.statuses == (0,):
            later |= {"way": {"statuses"}}
        return hashlib.sha256(self.model_dump_json(exclude=later).encode()).hexdigest()[:32]

    def checked(self, arguments: Mapping[str, str]) -> dict[str, str]:
        """Return the arguments, if they may be sent.

        Raises:
            BadArgumentError: One is missing, unknown or not allowed.
        """
        if missing := self.parameters.keys() - arguments.keys():
            raise BadArgumentError(f"{self.name} needs {', '.join(sorted(missing))}")
        if unknown := arguments.keys() - self.parameters.keys():
            raise BadArgumentError(f"{self.name} does not know {', '.join(sorted(unknown))}")
        checked = {name: self.parameters[name].checked(name, v) for name, v in arguments.items()}
        for path in self._paths:
            segments, literal = fill(path, checked).split("/"), path.split("/")
            for odd in ("", ".", "..") if self.way.by == "http" else (".", ".."):
                if segments.count(odd) > literal.count(odd):
                    raise BadArgumentError(
                        f"{self.name} would leave its place: {fill(path, checked)[:200]!r}"
                    )
        return checked

    @property
    def _paths(self) -> list[str]:
        """Templates of what a target takes for a path."""
        if isinstance(self.way, HttpWay):
            return [self.way.path]
        if isinstance(self.way, SshWay):
            words = (word for template in self.way.templates for word in template.words)
            return [word for word in words if "/" in re.sub(r"\{\w+\}", "", word)]
        return []

    def shown(self, arguments: Mapping[str, str]) -> str:
        """Return what would be sent, for people."""
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
        arguments_text = ", ".join(f"{name}={value}" for name, value in arguments.items())
        return f"{way.name}({arguments_text})"


def conditions_of_tools(tools: Iterable[Tool]) -> list[OutputCondition]:
    """Return the conditions that tools have before and after a change."""
    others = (other for tool in tools for other in tool.others)
    return [other for other in others if isinstance(other, OutputCondition)]


def with_referenced(by_name: Mapping[str, Tool], names: Iterable[str]) -> tuple[Tool, ...]:
    """Return the tools of these names, with those that they refer to."""
    referenced = {name: [other.tool for other in tool.others] for name, tool in by_name.items()}
    wanted = {each for name in names for each in reachable(name, referenced)}
    return tuple(by_name[name] for name in sorted(wanted))


def fill(text: str, arguments: Mapping[str, str]) -> str:
    """Return the text with the arguments in its placeholders, as they are."""
    return re.sub(r"\{(\w+)\}", lambda m: arguments.get(m.group(1), m.group()), text)
