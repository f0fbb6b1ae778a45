"""Bindings of workflow steps to tool calls, with the tests that decide a question's answers."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import Field

from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import Test
from services.execution.tools.tool import BadArgumentError, Tool
from services.kit.errors import InvalidInputError
from services.kit.value import Value
from services.workflow.model import Step, Workflow


class BadBindingError(InvalidInputError):
    """Error of a binding that names a tool, parameter, field or answer that does not exist."""


class Origin(StrEnum):
    """Source of an argument's value."""

    LITERAL = "given"
    """A literal value, as a page has it."""
    LABEL = "label"
    """A label of the ticket."""
    FIELD = "field"
    """A field of an earlier observation in the run, as `tool.field`."""
    PERSON = "person"
    """A value that a person fills in."""


class Argument(Value):
    """Argument of a call."""

    origin: Origin
    value: str = ""
    """Literal value, or the name of the label or field."""


class AnswerTest(Value):
    """Tests that hold when one answer of a question does."""

    condition: str
    """Answer, as the workflow has it on its arrow."""
    tests: tuple[Test, ...] = ()
    """Tests that must all hold; without any, the answer holds when no other one does."""


class Binding(Value):
    """Binding of one step to a tool call."""

    step: str
    """Id of the step in the workflow."""
    tool: str = ""
    """Name of the tool; empty if the step is a person's."""
    target: str = ""
    """Label of the ticket that names the target; empty for the tool's own label."""
    arguments: Mapping[str, Argument] = Field(default={})
    answers: tuple[AnswerTest, ...] = ()
    """Tests for the answers, if the step is a question."""
    why: str = ""
    """Reason for the binding, or for leaving the step to a person, in words."""

    def check(self, step: Step, conditions: frozenset[str], catalogue: Catalogue) -> None:
        """Check that the binding fits its step and the catalogue.

        Raises:
            BadBindingError: It does not fit.
        """
        if not self.tool:
            return
        tool = catalogue.tool(self.tool)
        if tool.parameters.keys() != self.arguments.keys():
            raise BadBindingError(f"{self.tool} takes {', '.join(tool.parameters) or 'nothing'}")
        for name, argument in self.arguments.items():
            if argument.origin is Origin.LITERAL:
                tool.parameters[name].checked(name, argument.value)
        for answer in self.answers:
            if answer.condition not in conditions:
                raise BadBindingError(f"{step.text!r} has no answer {answer.condition!r}")
            for test in answer.tests:
                if test.field not in tool.output.fields:
                    raise BadBindingError(f"{self.tool} tells no {test.field!r}")


def digest_of(*parts: object) -> str:
    """Return the SHA-256 digest of these parts together."""
    dumped = [part.model_dump(mode="json") if isinstance(part, Value) else part for part in parts]
    plain = json.dumps(dumped, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


def conditions_of(workflow: Workflow, step: str) -> frozenset[str]:
    """Return the answers of a step: the conditions behind it."""
    return frozenset(edge.condition for edge in workflow.exits(step))


def step_key(step: Step, conditions: frozenset[str]) -> str:
    """Return the key of a step, by its text and the lines that it cites, in whatever workflow.

    A box of a page never has the key of a step that somebody has read there.
    """
    cited = [(each.document_id, each.start_line, each.end_line) for each in step.citations]
    facts = (step.kind, step.text, step.commands, cited, sorted(conditions))
    return digest_of(*facts, step.node) if step.block else digest_of(*facts)


_CALL = re.compile(r"\((?P<tool>[a-z][a-z0-9_]{1,63})(?:: (?P<told>[^\n]*))?\)\Z")
_ARGUMENT = re.compile(
    r"(?:\A|, )(?P<name>\w+)="
    r"(?:\"(?P<quoted>[^\"]*)\"|<(?P<blank>[^<>]*)>|\[(?P<field>[\w.]+)\]|(?P<word>[^\s,\"]+))"
)


def parse_written_call(step: str, text: str, catalogue: Catalogue) -> Binding | None:
    """Return the binding for the call that a step's text has; None without a call of a known tool.

    The written arguments go before labels: somebody chose them. A person fills in what may not
    be sent.
    """
    match = _CALL.search(text.rstrip(". "))
    tool = catalogue.by_name.get(match["tool"]) if match else None
    if match is None or tool is None:
        return None
    arguments_by_name = dict(_parse_arguments(match["told"] or "", tool))
    arguments: Mapping[str, Argument] = {
        name: arguments_by_name.get(name, Argument(origin=Origin.PERSON))
        for name in tool.parameters
    }
    return Binding(step=step, tool=tool.name, arguments=arguments, why="the page names the tool")


def _parse_arguments(text: str, tool: Tool) -> Iterator[tuple[str, Argument]]:
    for match in _ARGUMENT.finditer(text):
        name, parameter = match["name"], tool.parameters.get(match["name"])
        if parameter is None:
            continue
        if match["field"]:
            yield name, Argument(origin=Origin.FIELD, value=match["field"])
        elif match["blank"] is not None:
            if match["blank"] in parameter.labels:
                yield name, Argument(origin=Origin.LABEL, value=match["blank"])
        else:
            value = match["word"] if match["quoted"] is None else match["quoted"]
            try:
                yield name, Argument(origin=Origin.LITERAL, value=parameter.checked(name, value))
            except BadArgumentError:
                continue
