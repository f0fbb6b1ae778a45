"""A plan as a page for people, with the reading that cites its lines."""

import re
from collections.abc import Mapping, Sequence

from services.executor.bindings.binding import AnswerTest, Argument, Binding, Origin
from services.executor.summary.learned import Learned
from services.executor.summary.plan import Act, Ask, Finish, Plan
from services.executor.summary.planned import Planned
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.compare import Comparison, Test
from services.executor.tools.tool import Effect, OutputField, SshWay, Tool
from services.kit.observability.redaction import redacted
from services.kit.text import clean_text
from services.language.questions import question
from services.procedure.model import (
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
}
_YES, _NO = "Yes", "No"
_LONGEST_TITLE = 200


def written(
    plan: Plan,
    catalogue: Catalogue,
    *,
    title: str,
    labels: Mapping[str, str],
    tickets: Sequence[str],
    by_model: str = "",
) -> Learned:
    """The page of a plan. `labels` are those that all tickets had in common."""
    return _Writing(catalogue).page(plan, plain(title), labels, tuple(tickets), by_model)


def plain(title: str) -> str:
    """A title on one line, without secrets and markup."""
    told = " ".join(redacted(clean_text(title)).split())
    return re.sub(r"[<>`#*\[\]|]", "", told).strip()[:_LONGEST_TITLE] or "What was done"


class _Writing:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lines: list[str] = []
        self._bindings: dict[str, Binding] = {}
        self._nodes = 0

    def page(
        self,
        plan: Plan,
        title: str,
        labels: Mapping[str, str],
        tickets: tuple[str, ...],
        by_model: str,
    ) -> Learned:
        self._say(f"# {title}", "")
        is_one = len(tickets) == 1
        runs = "one ticket; one path was seen" if is_one else f"{len(tickets)} tickets"
        self._say(f"Learned from {runs}: what was done about them, and what was seen to help.")
        if labels:
            told = " and ".join(f"`{name}` `{value}`" for name, value in labels.items())
            self._say("", f"For tickets with {told}.")
        self._say("", "## Steps", "")
        body = self._body(plan, 0)
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        procedure = Procedure(title=title, lines=((1, len(self._lines)),), body=body)
        return Learned(
            title=title,
            labels=labels,
            text="\n".join(self._lines) + "\n",
            procedure=procedure,
            by_node=self._bindings,
            tickets=tickets,
            by_model=by_model,
        )

    def _body(self, plan: Plan, depth: int) -> Body:
        nodes: list[Do | Choice | End] = []
        for number, node in enumerate(plan, 1):
            match node:
                case Act():
                    nodes.append(self._act(node, number, depth))
                case Ask():
                    nodes.append(self._ask(node, number, depth))
                case Finish():
                    nodes.append(self._finish(node, number, depth))
        return tuple(nodes)

    def _act(self, act: Act, number: int, depth: int) -> Do:
        tool = self._catalogue.tool(act.call.tool)
        told = tool.description.rstrip(".")
        text = f"Look again: {_lower(told)}" if act.is_again else told
        first = self._item(number, depth, f"{text}:")
        commands = _commands(tool, act.call)
        indent = "   " * (depth + 1)
        self._say("", f"{indent}```")
        self._say(*(f"{indent}{command}" for command in commands))
        self._say(f"{indent}```", "")
        id_ = self._id()
        self._bindings[id_] = Binding(
            step="",
            tool=tool.name,
            target="" if act.call.label == tool.label else act.call.label,
            arguments=dict(act.call.arguments),
            why="learned from what was done",
        )
        lines: LineRange = (first, len(self._lines) - 1)
        is_change = tool.effect is Effect.CHANGE
        return Do(id=id_, text=text, core=is_change, commands=commands, lines=(lines,))

    def _ask(self, ask: Ask, number: int, depth: int) -> Choice:
        tool = self._catalogue.tool(ask.look.tool)
        field = tool.output.fields[ask.test.field]
        asked, said, unsaid = _worded(ask.test, field, is_again=ask.is_again)
        id_ = self._id()
        if ask.yes is None:
            first = self._item(number, depth, f"If {unsaid}, {_lower(self._end_of(ask.no))}.")
            lines: LineRange = (first, len(self._lines))
            self._say("")
            end = End(id=self._id(), kind=EndKind.ESCALATE, text=HANDED_OVER, lines=(lines,))
            if ask.no:
                end = end.model_copy(update={"kind": _kind(ask.no), "text": self._end_of(ask.no)})
            guard: Guard = Not(guard=State(text=asked))
            body: Body = (end,)
        else:
            first = self._item(number, depth, f"If {said}:")
            lines = (first, first)
            self._say("")
            guard = State(text=asked)
            body = self._body(ask.yes, depth + 1)
        arm = Arm(id=id_, guard=guard, body=body, lines=(lines,))
        self._bindings[id_] = Binding(
            step="",
            tool=tool.name,
            target="" if ask.look.label == tool.label else ask.look.label,
            arguments=dict(ask.look.arguments),
            answers=(AnswerTest(condition=_YES, tests=(ask.test,)), AnswerTest(condition=_NO)),
            why="learned from what was seen",
        )
        return Choice(id=self._id(), mode=Mode.EXCLUSIVE, arms=(arm,), lines=(lines,))

    def _finish(self, finish: Finish, number: int, depth: int) -> End:
        text = _ENDS[finish.kind]
        at = self._item(number, depth, f"{text}.")
        self._say("")
        return End(id=self._id(), kind=finish.kind, text=text, lines=((at, at),))

    @staticmethod
    def _end_of(plan: Plan | None) -> str:
        return _ENDS[_kind(plan)]

    def _item(self, number: int, depth: int, text: str) -> int:
        self._say(f"{'   ' * depth}{number}. {text}")
        return len(self._lines)

    def _say(self, *lines: str) -> None:
        self._lines += lines

    def _id(self) -> str:
        self._nodes += 1
        return f"l{self._nodes}"


def _kind(plan: Plan | None) -> EndKind:
    last = plan[-1] if plan else None
    return last.kind if isinstance(last, Finish) else EndKind.ESCALATE


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _commands(tool: Tool, call: Planned) -> tuple[str, ...]:
    """As the page shows them: what a ticket or a look tells stands as a placeholder."""
    filled = {name: _shown(name, argument) for name, argument in call.arguments}
    way = tool.way
    if not isinstance(way, SshWay):
        return (tool.shown(filled),)
    lines = tuple(" ".join(template.filled(filled)) for template in way.templates)
    return ("configure terminal", *lines) if way.lines else lines


def _shown(name: str, argument: Argument) -> str:
    return argument.value if argument.origin is Origin.GIVEN else f"<{name.replace('_', '-')}>"


_WORDS: Mapping[Comparison, tuple[str, str]] = {
    Comparison.IS: ("is {v}", "is not {v}"),
    Comparison.IS_NOT: ("is not {v}", "is {v}"),
    Comparison.ABOVE: ("is above {v}", "is not above {v}"),
    Comparison.AT_LEAST: ("is at least {v}", "is below {v}"),
    Comparison.BELOW: ("is below {v}", "is not below {v}"),
    Comparison.AT_MOST: ("is at most {v}", "is above {v}"),
    Comparison.HAS: ("has {v}", "does not have {v}"),
    Comparison.HAS_NOT: ("does not have {v}", "has {v}"),
    Comparison.IS_THERE: ("is there", "is missing"),
    Comparison.IS_MISSING: ("is missing", "is there"),
    Comparison.ROSE: ("rises", "does not rise"),
    Comparison.STAYED: ("does not rise", "rises"),
}
_ASKED: Mapping[Comparison, str] = {
    Comparison.IS: "Is {n} {v}",
    Comparison.IS_NOT: "Is {n} something else than {v}",
    Comparison.ABOVE: "Is {n} above {v}",
    Comparison.AT_LEAST: "Is {n} at least {v}",
    Comparison.BELOW: "Is {n} below {v}",
    Comparison.AT_MOST: "Is {n} at most {v}",
    Comparison.HAS: "Does {n} have {v}",
    Comparison.HAS_NOT: "Does {n} lack {v}",
    Comparison.IS_THERE: "Is {n} there",
    Comparison.IS_MISSING: "Is {n} missing",
    Comparison.ROSE: "Does {n} rise",
    Comparison.STAYED: "Does {n} stay as it is",
}


def _worded(test: Test, field: OutputField, *, is_again: bool) -> tuple[str, str, str]:
    """A comparison as a question, and as what is so and what is not so."""
    if stated := _stated(test, field):
        so, not_so = stated
        return f"{question(so).rstrip('?')}{' now' if is_again else ''}?", so, not_so
    name = _named(test.field, field)
    unit = f" {field.unit}" if field.unit and isinstance(test.value, int | float) else ""
    values: dict[str, str] = {"n": name, "v": f"{test.value}{unit}"}
    now = " now" if is_again else ""
    so, not_so = (f"{name} {w.format(**values)}{now}" for w in _WORDS[test.comparison])
    return f"{_ASKED[test.comparison].format(**values)}{now}?", so, not_so


def _stated(test: Test, field: OutputField) -> tuple[str, str] | None:
    """Of a field that tells *whether* something is so: that it is, and that it is not."""
    what = field.description.strip().rstrip(".").removeprefix("whether ")
    is_told = what != field.description.strip().rstrip(".") and test.value in {"yes", "no"}
    if not is_told or test.comparison not in {Comparison.IS, Comparison.IS_NOT}:
        return None
    told = what, f"it is not so that {what}"
    is_so = (test.value == "yes") is (test.comparison is Comparison.IS)
    return told if is_so else (told[1], told[0])


def _named(name: str, field: OutputField) -> str:
    """As people call it: `the state of the session`, `flaps (link flaps in the last hour)`."""
    words = name.replace("_", " ")
    told = field.description.strip().rstrip(".")
    if not told or told.startswith("whether ") or field.type == "number":
        return f"{words} ({told})" if told else words
    return f"the {told.removeprefix('the ')}"
