"""Writer of a plan as a page for people, with the reading that cites its lines."""

import re
from collections.abc import Mapping, Sequence

from services.execution.bindings.binding import AnswerTest, Binding, Origin
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import ComparisonOperator, Test
from services.execution.tools.tool import OutputField, SshWay, Tool, ToolEffect
from services.investigation.summary.learned_workflow import LearnedWorkflow
from services.investigation.summary.plan import Ask, Finish, Plan, ToolStep
from services.investigation.summary.planned_calls import PlannedCall
from services.kit.observability.redaction import redact
from services.kit.text import clean_text
from services.language.questions import as_question
from services.runbook.model import (
    Arm,
    Body,
    Choice,
    Do,
    End,
    EndKind,
    Guard,
    LineRange,
    Mode,
    Not,
    Procedure,
    State,
)

HANDED_OVER = "Hand it over to a person"
RESOLVED = "Resolved"
CLOSED = "Close the ticket: nothing has to be changed"
_ENDS = {
    EndKind.ESCALATE: HANDED_OVER,
    EndKind.RESOLVED: RESOLVED,
    EndKind.NOT_THIS_FAULT: CLOSED,
    EndKind.OTHER_PAGE: HANDED_OVER,
    EndKind.STOP: HANDED_OVER,
}
_YES, _NO = "Yes", "No"
_LONGEST_TITLE = 200


def write_page(
    plan: Plan,
    catalogue: Catalogue,
    *,
    title: str,
    labels: Mapping[str, str],
    tickets: Sequence[str],
    by_model: str = "",
) -> LearnedWorkflow:
    """Write the page of a plan; `labels` are those that all tickets had in common."""
    writer, title = _LearnedPageWriter(catalogue), plain_title(title)
    runs = "one ticket; one path was seen" if len(tickets) == 1 else f"{len(tickets)} tickets"
    writer.say(f"# {title}", "")
    writer.say(f"Learned from {runs}: what was done about them, and what was seen to help.")
    if labels:
        conditions = " and ".join(f"`{name}` `{value}`" for name, value in labels.items())
        writer.say("", f"For tickets with {conditions}.")
    writer.say("", "## Steps", "")
    body = writer.body(plan, 0)
    while writer.lines and not writer.lines[-1]:
        writer.lines.pop()
    return LearnedWorkflow(
        title=title,
        labels=labels,
        text="\n".join(writer.lines) + "\n",
        procedure=Procedure(title=title, lines=((1, len(writer.lines)),), body=body),
        by_node=writer.bindings,
        tickets=tuple(tickets),
        by_model=by_model,
    )


def plain_title(title: str) -> str:
    """Return a title on one line, without secrets and markup."""
    text = " ".join(redact(clean_text(title)).split())
    return re.sub(r"[<>`#*\[\]|]", "", text).strip()[:_LONGEST_TITLE] or "What was done"


class _LearnedPageWriter:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.lines: list[str] = []
        self.bindings: dict[str, Binding] = {}
        self._nodes = 0

    def body(self, plan: Plan, depth: int) -> Body:
        nodes: list[Do | Choice | End] = []
        for number, node in enumerate(plan, 1):
            match node:
                case ToolStep():
                    nodes.append(self._write_tool_step(node, number, depth))
                case Ask():
                    nodes.append(self._write_question(node, number, depth))
                case Finish():
                    text = _ENDS[node.kind]
                    at = self._item(number, depth, f"{text}.")
                    self.say("")
                    end = End(id=self._id(), kind=node.kind, text=text, lines=((at, at),))
                    nodes.append(end)
        return tuple(nodes)

    def _write_tool_step(self, act: ToolStep, number: int, depth: int) -> Do:
        tool = self._catalogue.tool(act.call.tool)
        description = tool.description.rstrip(".")
        text = f"Look again: {_lower(description)}" if act.is_again else description
        first = self._item(number, depth, f"{text}:")
        commands = _commands(tool, act.call)
        indent = "   " * (depth + 1)
        self.say("", f"{indent}```")
        self.say(*(f"{indent}{command}" for command in commands))
        self.say(f"{indent}```", "")
        id_ = self._id()
        self.bindings[id_] = Binding(
            step="",
            tool=tool.name,
            target="" if act.call.label == tool.label else act.call.label,
            arguments=dict(act.call.arguments),
            why="learned from what was done",
        )
        lines: LineRange = (first, len(self.lines) - 1)
        is_change = tool.effect is ToolEffect.CHANGE
        return Do(id=id_, text=text, core=is_change, commands=commands, lines=(lines,))

    def _write_question(self, ask: Ask, number: int, depth: int) -> Choice:
        tool = self._catalogue.tool(ask.look.tool)
        field = tool.output.fields[ask.test.field]
        question_text, condition, opposite = _word_test(ask.test, field, is_again=ask.is_again)
        id_ = self._id()
        if ask.yes is None:
            last = ask.no[-1] if ask.no else None
            kind = last.kind if isinstance(last, Finish) else EndKind.ESCALATE
            first = self._item(number, depth, f"If {opposite}, {_lower(_ENDS[kind])}.")
            lines: LineRange = (first, len(self.lines))
            self.say("")
            end = End(id=self._id(), kind=kind, text=_ENDS[kind], lines=(lines,))
            guard: Guard = Not(guard=State(text=question_text))
            body: Body = (end,)
        else:
            first = self._item(number, depth, f"If {condition}:")
            lines = (first, first)
            self.say("")
            guard = State(text=question_text)
            body = self.body(ask.yes, depth + 1)
        arm = Arm(id=id_, guard=guard, body=body, lines=(lines,))
        self.bindings[id_] = Binding(
            step="",
            tool=tool.name,
            target="" if ask.look.label == tool.label else ask.look.label,
            arguments=dict(ask.look.arguments),
            answers=(AnswerTest(condition=_YES, tests=(ask.test,)), AnswerTest(condition=_NO)),
            why="learned from what was seen",
        )
        return Choice(id=self._id(), mode=Mode.EXCLUSIVE, arms=(arm,), lines=(lines,))

    def _item(self, number: int, depth: int, text: str) -> int:
        self.say(f"{'   ' * depth}{number}. {text}")
        return len(self.lines)

    def say(self, *lines: str) -> None:
        self.lines += lines

    def _id(self) -> str:
        self._nodes += 1
        return f"l{self._nodes}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _commands(tool: Tool, call: PlannedCall) -> tuple[str, ...]:
    """Return the commands as the page shows them: ticket values and readings as placeholders."""
    filled = {
        name: each.value if each.origin is Origin.LITERAL else f"<{name.replace('_', '-')}>"
        for name, each in call.arguments
    }
    way = tool.way
    if not isinstance(way, SshWay):
        return (tool.shown(filled),)
    lines = tuple(" ".join(template.filled(filled)) for template in way.templates)
    return ("configure terminal", *lines) if way.lines else lines


_STATEMENTS: Mapping[ComparisonOperator, tuple[str, str]] = {
    ComparisonOperator.IS: ("is {v}", "is not {v}"),
    ComparisonOperator.IS_NOT: ("is not {v}", "is {v}"),
    ComparisonOperator.ABOVE: ("is above {v}", "is not above {v}"),
    ComparisonOperator.AT_LEAST: ("is at least {v}", "is below {v}"),
    ComparisonOperator.BELOW: ("is below {v}", "is not below {v}"),
    ComparisonOperator.AT_MOST: ("is at most {v}", "is above {v}"),
    ComparisonOperator.HAS: ("has {v}", "does not have {v}"),
    ComparisonOperator.HAS_NOT: ("does not have {v}", "has {v}"),
    ComparisonOperator.IS_THERE: ("is there", "is missing"),
    ComparisonOperator.IS_MISSING: ("is missing", "is there"),
    ComparisonOperator.ROSE: ("rises", "does not rise"),
    ComparisonOperator.STAYED: ("does not rise", "rises"),
}
_QUESTIONS: Mapping[ComparisonOperator, str] = {
    ComparisonOperator.IS: "Is {n} {v}",
    ComparisonOperator.IS_NOT: "Is {n} something else than {v}",
    ComparisonOperator.ABOVE: "Is {n} above {v}",
    ComparisonOperator.AT_LEAST: "Is {n} at least {v}",
    ComparisonOperator.BELOW: "Is {n} below {v}",
    ComparisonOperator.AT_MOST: "Is {n} at most {v}",
    ComparisonOperator.HAS: "Does {n} have {v}",
    ComparisonOperator.HAS_NOT: "Does {n} lack {v}",
    ComparisonOperator.IS_THERE: "Is {n} there",
    ComparisonOperator.IS_MISSING: "Is {n} missing",
    ComparisonOperator.ROSE: "Does {n} rise",
    ComparisonOperator.STAYED: "Does {n} stay as it is",
}


def _word_test(test: Test, field: OutputField, *, is_again: bool) -> tuple[str, str, str]:
    """Return a comparison as a question, a statement, and the opposite statement."""
    if stated := _word_boolean(test, field):
        so, not_so = stated
        return f"{as_question(so).rstrip('?')}{' now' if is_again else ''}?", so, not_so
    name = _field_name(test.field, field)
    unit = f" {field.unit}" if field.unit and isinstance(test.value, int | float) else ""
    values: dict[str, str] = {"n": name, "v": f"{test.value}{unit}"}
    now = " now" if is_again else ""
    so, not_so = (f"{name} {w.format(**values)}{now}" for w in _STATEMENTS[test.comparison])
    return f"{_QUESTIONS[test.comparison].format(**values)}{now}?", so, not_so


def _word_boolean(test: Test, field: OutputField) -> tuple[str, str] | None:
    """Return statement and opposite for a field whose description begins with `whether`."""
    what = field.description.strip().rstrip(".").removeprefix("whether ")
    is_boolean = what != field.description.strip().rstrip(".") and test.value in {"yes", "no"}
    if not is_boolean or test.comparison not in {ComparisonOperator.IS, ComparisonOperator.IS_NOT}:
        return None
    statements = what, f"it is not so that {what}"
    is_so = (test.value == "yes") is (test.comparison is ComparisonOperator.IS)
    return statements if is_so else (statements[1], statements[0])


def _field_name(name: str, field: OutputField) -> str:
    """Return a field as people call it: `the state of the session`, `flaps (link flaps …)`."""
    words = name.replace("_", " ")
    description = field.description.strip().rstrip(".")
    if not description or description.startswith("whether ") or field.type == "number":
        return f"{words} ({description})" if description else words
    return f"the {description.removeprefix('the ')}"
