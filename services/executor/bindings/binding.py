"""What carries a step out: a call of a tool, and for a question what tells its answers apart."""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from services.executor.tools.catalogue import Catalogue
from services.executor.tools.compare import Test
from services.kit.errors import InvalidInputError
from services.kit.value import Value
from services.workflow.model import Step


class BadBindingError(InvalidInputError):
    """A binding names a tool, parameter, field or answer that is not there."""


class Origin(StrEnum):
    """Where an argument comes from."""

    GIVEN = "given"
    """It stands in the page."""
    LABEL = "label"
    """A label of the ticket."""
    FIELD = "field"
    """A field that a tool told earlier in the run, as `tool.field`."""
    PERSON = "person"
    """Somebody fills it in."""


class Argument(Value):
    """One argument of a call."""

    origin: Origin
    value: str = ""
    """The text itself, or the name of label or field."""


class AnswerTest(Value):
    """What the fields tell where an answer of a question holds."""

    condition: str
    """The answer, as the workflow has it on its arrow."""
    tests: tuple[Test, ...] = ()
    """All of them hold; without any it is what holds where no other answer does."""


class Binding(Value):
    """Of one step."""

    step: str
    """Its id in the workflow."""
    tool: str = ""
    """Empty: the step is a person's."""
    target: str = ""
    """The label of the ticket that names the target; empty: the label of the tool."""
    arguments: Mapping[str, Argument] = Field(default={})
    answers: tuple[AnswerTest, ...] = ()
    """Of a question."""
    why: str = ""
    """What it rests on, or why it stays a person's, in words."""

    def check(self, step: Step, conditions: frozenset[str], catalogue: Catalogue) -> None:
        """Raises `BadBindingError` where it does not fit its step or the catalogue."""
        if not self.tool:
            return
        tool = catalogue.tool(self.tool)
        if tool.parameters.keys() != self.arguments.keys():
            raise BadBindingError(f"{self.tool} takes {', '.join(tool.parameters) or 'nothing'}")
        for name, argument in self.arguments.items():
            if argument.origin is Origin.GIVEN:
                tool.parameters[name].checked(name, argument.value)
        for answer in self.answers:
            if answer.condition not in conditions:
                raise BadBindingError(f"{step.text!r} has no answer {answer.condition!r}")
            for test in answer.tests:
                if test.field not in tool.output.fields:
                    raise BadBindingError(f"{self.tool} tells no {test.field!r}")


def digest_of(*parts: object) -> str:
    """Names what these say together; another character is another name."""
    told = [part.model_dump(mode="json") if isinstance(part, Value) else part for part in parts]
    plain = json.dumps(told, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


def step_key(step: Step, conditions: frozenset[str]) -> str:
    """Names a step by what it says and by the lines that it cites, in whatever workflow.

    A box of a page is never the same as a step that somebody has read there.
    """
    cited = [(each.document_id, each.start_line, each.end_line) for each in step.citations]
    told = (step.kind, step.text, step.commands, cited, sorted(conditions))
    return digest_of(*told, step.node) if step.block else digest_of(*told)
