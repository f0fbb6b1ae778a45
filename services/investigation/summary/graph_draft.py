"""Draft of a graph that is drawn call by call, with its defects and its plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services.execution.bindings.binding import Argument, Origin
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import ComparisonOperator, Test
from services.execution.tools.tool import BadArgumentError, ToolEffect
from services.investigation.summary.plan import (
    HAND_OVER,
    Ask,
    Finish,
    NotLearnedError,
    Plan,
    PlanNode,
    ToolStep,
)
from services.investigation.summary.planned_calls import PlannedCall
from services.runbook.model import EndKind

MOST_NODES = 60
"""Most nodes of a plan; what two paths share is counted twice."""
MOST_TEXT = 200
"""Most characters of one value in a call."""

_ENDS = {
    "resolved": EndKind.RESOLVED,
    "hand_over": EndKind.ESCALATE,
    "close": EndKind.NOT_THIS_FAULT,
}
_WITHOUT_VALUE = frozenset(
    {
        ComparisonOperator.IS_THERE,
        ComparisonOperator.IS_MISSING,
        ComparisonOperator.ROSE,
        ComparisonOperator.STAYED,
    }
)


class BadCallError(ValueError):
    """Error of a call that cannot be applied; the message is for whoever made it."""


@dataclass(frozen=True)
class _Decision:
    of: str
    test: Test


_EXITS: Mapping[type, tuple[str, ...]] = {ToolStep: ("",), _Decision: ("yes", "no"), Finish: ()}


@dataclass
class GraphDraft:
    """Graph as far as it is drawn."""

    catalogue: Catalogue
    labels: frozenset[str]
    """Names of labels that all tickets have."""
    start: str = ""
    _nodes: dict[str, ToolStep | _Decision | Finish] = field(default_factory=dict)
    _edges: dict[tuple[str, str], str] = field(default_factory=dict)

    def apply(self, call: Mapping[str, Any]) -> None:
        """Apply one call to the graph.

        Raises:
            BadCallError: It is none, or names what does not exist.
        """
        match call.get("call"):
            case "start":
                self.start = _word(call, "to")
            case "action":
                self._nodes[_word(call, "id")] = self._parse_action(call)
            case "decision":
                self._nodes[_word(call, "id")] = self._parse_decision(call)
            case "end":
                kind = _word(call, "kind")
                if kind not in _ENDS:
                    raise BadCallError(f"kind is one of {', '.join(_ENDS)}, got {kind!r}")
                self._nodes[_word(call, "id")] = Finish(kind=_ENDS[kind])
            case "edge":
                when = str(call.get("when") or "").strip().lower()
                if when not in {"", "yes", "no"}:
                    raise BadCallError(f"when is yes, no or empty, got {when[:40]!r}")
                self._edges[_word(call, "from"), when] = _word(call, "to")
            case other:
                raise BadCallError(f"there is no call {str(other)[:40]!r}")

    def describe(self) -> str:
        """Return the graph in a few lines."""
        nodes = [f"{id_}: {_in_words(node)}" for id_, node in self._nodes.items()]
        edges = [
            f"{source} -{when or 'then'}-> {target}"
            for (source, when), target in self._edges.items()
        ]
        return "\n".join([f"start: {self.start or 'nowhere'}", *nodes, *edges])

    def defects(self) -> list[str]:
        """List missing and wrong links, in words."""
        messages = []
        if self.start not in self._nodes:
            messages.append("start leads nowhere: {'call': 'start', 'to': …}")
        for id_, node in self._nodes.items():
            wanted = _EXITS[type(node)]
            for when in wanted:
                if self._edges.get((id_, when)) not in self._nodes:
                    label = f" for {when!r}" if when else ""
                    messages.append(f"{id_} has no edge{label} to a node that is there")
            messages += [
                f"{id_} has an edge for {when!r} that it cannot have"
                for source, when in self._edges
                if source == id_ and when not in wanted
            ]
            if isinstance(node, _Decision) and not isinstance(self._nodes.get(node.of), ToolStep):
                messages.append(f"{id_} asks what {node.of!r} tells, which is no action")
        return messages

    def to_plan(self) -> Plan:
        """Return the graph as a plan.

        Raises:
            NotLearnedError: It has a defect or a cycle, or is too large.
        """
        if messages := self.defects():
            raise NotLearnedError("; ".join(messages))
        return tuple(self._walk(self.start, (), [0]))

    def _walk(self, id_: str, path: tuple[str, ...], count: list[int]) -> Iterator[PlanNode]:
        if id_ in path:
            raise NotLearnedError(f"it comes back to {id_}: no path may")
        count[0] += 1
        if count[0] > MOST_NODES:
            raise NotLearnedError(f"it has more than {MOST_NODES} steps")
        here, node = (*path, id_), self._nodes[id_]
        match node:
            case Finish():
                yield node
            case ToolStep():
                earlier = [self._nodes[each] for each in path]
                yield node.model_copy(
                    update={"is_again": _repeats_look(node, earlier, self.catalogue)}
                )
                yield from self._walk(self._edges[id_, ""], here, count)
            case _Decision():
                yield from self._walk_decision(node, id_, here, count)

    def _walk_decision(
        self, node: _Decision, id_: str, here: tuple[str, ...], count: list[int]
    ) -> Iterator[PlanNode]:
        of = self._nodes[node.of]
        if node.of not in here or not isinstance(of, ToolStep):
            raise NotLearnedError(f"{id_} asks what {node.of} tells, which no path there has done")
        yes, no = (tuple(self._walk(self._edges[id_, w], here, count)) for w in ("yes", "no"))
        before = [self._nodes[each] for each in here[: here.index(node.of)]]
        is_again = _repeats_look(of, before, self.catalogue)
        ask = Ask(look=of.call, test=node.test, is_again=is_again)
        if no == HAND_OVER or (len(no) == 1 and len(yes) > 1):
            yield ask.model_copy(update={"no": no})
            yield from yes
        else:
            yield ask.model_copy(update={"yes": yes})
            yield from no

    def _parse_action(self, call: Mapping[str, Any]) -> ToolStep:
        name = _word(call, "tool")
        if name not in self.catalogue.by_name:
            raise BadCallError(f"there is no tool {name!r}")
        tool, arguments_text = self.catalogue.tool(name), call.get("arguments") or {}
        label = str(call.get("label") or tool.label)
        if label not in self.labels:
            raise BadCallError(f"the tickets have no label {label[:40]!r}")
        if (
            not isinstance(arguments_text, Mapping)
            or arguments_text.keys() != tool.parameters.keys()
        ):
            wanted = ", ".join(tool.parameters) or "no arguments"
            raise BadCallError(f"{name} takes {wanted}")
        arguments = tuple(
            (n, self._parse_argument(name, n, str(arguments_text[n]))) for n in tool.parameters
        )
        return ToolStep(call=PlannedCall(tool=name, label=label, arguments=arguments))

    def _parse_argument(self, tool: str, name: str, text: str) -> Argument:
        origin, _, value = text[:MOST_TEXT].partition(":")
        fields = {f"{t.name}.{field}" for t in self.catalogue.tools for field in t.output.fields}
        match origin:
            case "label" if value in self.labels:
                return Argument(origin=Origin.LABEL, value=value)
            case "field" if value in fields:
                return Argument(origin=Origin.FIELD, value=value)
            case "given":
                try:
                    checked = self.catalogue.tool(tool).parameters[name].checked(name, value)
                except BadArgumentError as error:
                    raise BadCallError(str(error)) from error
                return Argument(origin=Origin.LITERAL, value=checked)
            case "person":
                return Argument(origin=Origin.PERSON)
        raise BadCallError(
            f"{name} comes from label:NAME, field:TOOL.FIELD, given:VALUE or person, got {text!r}"
        )

    def _parse_decision(self, call: Mapping[str, Any]) -> _Decision:
        of = self._nodes.get(_word(call, "of"))
        if not isinstance(of, ToolStep):
            raise BadCallError(f"{call.get('of')!r} is no action: write the action first")
        fields = self.catalogue.tool(of.call.tool).output.fields
        if (name := _word(call, "field")) not in fields:
            raise BadCallError(f"{of.call.tool} tells {', '.join(fields)}, and no {name!r}")
        try:
            comparison = ComparisonOperator(_word(call, "comparison"))
            value = None if comparison in _WITHOUT_VALUE else call.get("value")
            if isinstance(value, str):
                value = value[:MOST_TEXT]
            test = Test(field=name, comparison=comparison, value=value)
        except (ValueError, ValidationError) as error:
            raise BadCallError(f"there is no comparison {call.get('comparison')!r}") from error
        if value is None and comparison not in _WITHOUT_VALUE:
            raise BadCallError(f"{comparison} wants a value")
        return _Decision(of=_word(call, "of"), test=test)


def _repeats_look(act: ToolStep, before: Sequence[object], catalogue: Catalogue) -> bool:
    """Return True if the same look was made before an earlier change."""
    calls = [each.call for each in before if isinstance(each, ToolStep)]
    changes = [
        place
        for place, each in enumerate(calls)
        if catalogue.tool(each.tool).effect is ToolEffect.CHANGE
    ]
    return bool(changes) and act.call in calls[: changes[-1]]


def _word(call: Mapping[str, Any], name: str) -> str:
    value = call.get(name)
    if not isinstance(value, str | int) or not str(value).strip():
        raise BadCallError(f"{call.get('call')} wants {name!r}")
    return str(value).strip()[:MOST_TEXT]


def _in_words(node: ToolStep | _Decision | Finish) -> str:
    match node:
        case ToolStep():
            return node.call.tool
        case Finish():
            return f"end, {node.kind.value}"
        case _Decision():
            return f"{node.test}, of {node.of}"
