"""A graph that is drawn call by call, what it lacks, and the plan that it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services.executor.bindings.binding import Argument, Origin
from services.executor.summary.plan import HAND_OVER, Act, Ask, Finish, Node, NotLearnedError, Plan
from services.executor.summary.planned import Planned
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.compare import Comparison, Test
from services.executor.tools.tool import BadArgumentError, Effect
from services.procedure.model import EndKind

MOST_NODES = 60
"""Of a plan, what two paths share counted twice."""
MOST_TEXT = 200
"""Characters of one value in a call."""

_ENDS = {
    "resolved": EndKind.RESOLVED,
    "hand_over": EndKind.ESCALATE,
    "close": EndKind.NOT_THIS_FAULT,
}
_WITHOUT_VALUE = frozenset(
    {Comparison.IS_THERE, Comparison.IS_MISSING, Comparison.ROSE, Comparison.STAYED}
)


class BadCallError(ValueError):
    """A call that cannot be taken; the message is for whoever made it."""


@dataclass(frozen=True)
class _Decision:
    of: str
    test: Test


_EXITS: Mapping[type, tuple[str, ...]] = {Act: ("",), _Decision: ("yes", "no"), Finish: ()}


@dataclass
class Drawing:
    """The graph as far as it is drawn."""

    catalogue: Catalogue
    labels: frozenset[str]
    """Those that tickets have."""
    start: str = ""
    _nodes: dict[str, Act | _Decision | Finish] = field(default_factory=dict)
    _edges: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, call: Mapping[str, Any]) -> None:
        """Take one call in.

        Raises:
            BadCallError: It is none, or names what is not there.
        """
        match call.get("call"):
            case "start":
                self.start = _word(call, "to")
            case "action":
                self._nodes[_word(call, "id")] = self._action(call)
            case "decision":
                self._nodes[_word(call, "id")] = self._decision(call)
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

    def told(self) -> str:
        """The graph in a few lines."""
        nodes = [f"{id_}: {_in_words(node)}" for id_, node in self._nodes.items()]
        edges = [
            f"{source} -{when or 'then'}-> {target}"
            for (source, when), target in self._edges.items()
        ]
        return "\n".join([f"start: {self.start or 'nowhere'}", *nodes, *edges])

    def lacks(self) -> list[str]:
        """Missing and wrong links, in words."""
        found = []
        if self.start not in self._nodes:
            found.append("start leads nowhere: {'call': 'start', 'to': …}")
        for id_, node in self._nodes.items():
            wanted = _EXITS[type(node)]
            for when in wanted:
                if self._edges.get((id_, when)) not in self._nodes:
                    told = f" for {when!r}" if when else ""
                    found.append(f"{id_} has no edge{told} to a node that is there")
            found += [
                f"{id_} has an edge for {when!r} that it cannot have"
                for source, when in self._edges
                if source == id_ and when not in wanted
            ]
            if isinstance(node, _Decision) and not isinstance(self._nodes.get(node.of), Act):
                found.append(f"{id_} asks what {node.of!r} tells, which is no action")
        return found

    def plan(self) -> Plan:
        """The graph as a plan.

        Raises:
            NotLearnedError: It lacks something, comes back to where it was, or is too large.
        """
        if found := self.lacks():
            raise NotLearnedError("; ".join(found))
        return tuple(self._walk(self.start, (), [0]))

    def _walk(self, id_: str, path: tuple[str, ...], count: list[int]) -> Iterator[Node]:
        if id_ in path:
            raise NotLearnedError(f"it comes back to {id_}: no path may")
        count[0] += 1
        if count[0] > MOST_NODES:
            raise NotLearnedError(f"it has more than {MOST_NODES} steps")
        here, node = (*path, id_), self._nodes[id_]
        match node:
            case Finish():
                yield node
            case Act():
                earlier = [self._nodes[each] for each in path]
                yield node.model_copy(update={"is_again": _is_again(node, earlier, self.catalogue)})
                yield from self._walk(self._edges[id_, ""], here, count)
            case _Decision():
                yield from self._asked(node, id_, here, count)

    def _asked(
        self, node: _Decision, id_: str, here: tuple[str, ...], count: list[int]
    ) -> Iterator[Node]:
        of = self._nodes[node.of]
        if node.of not in here or not isinstance(of, Act):
            raise NotLearnedError(f"{id_} asks what {node.of} tells, which no path there has done")
        yes, no = (tuple(self._walk(self._edges[id_, w], here, count)) for w in ("yes", "no"))
        before = [self._nodes[each] for each in here[: here.index(node.of)]]
        is_again = _is_again(of, before, self.catalogue)
        ask = Ask(look=of.call, test=node.test, is_again=is_again)
        if no == HAND_OVER or (len(no) == 1 and len(yes) > 1):
            yield ask.model_copy(update={"no": no})
            yield from yes
        else:
            yield ask.model_copy(update={"yes": yes})
            yield from no

    def _action(self, call: Mapping[str, Any]) -> Act:
        name = _word(call, "tool")
        if name not in self.catalogue.by_name:
            raise BadCallError(f"there is no tool {name!r}")
        tool, given = self.catalogue.tool(name), call.get("arguments") or {}
        label = str(call.get("label") or tool.label)
        if label not in self.labels:
            raise BadCallError(f"the tickets have no label {label[:40]!r}")
        if not isinstance(given, Mapping) or given.keys() != tool.parameters.keys():
            wanted = ", ".join(tool.parameters) or "no arguments"
            raise BadCallError(f"{name} takes {wanted}")
        arguments = tuple((n, self._argument(name, n, str(given[n]))) for n in tool.parameters)
        return Act(call=Planned(tool=name, label=label, arguments=arguments))

    def _argument(self, tool: str, name: str, told: str) -> Argument:
        origin, _, value = told[:MOST_TEXT].partition(":")
        match origin:
            case "label" if value in self.labels:
                return Argument(origin=Origin.LABEL, value=value)
            case "field" if _is_field(self.catalogue, value):
                return Argument(origin=Origin.FIELD, value=value)
            case "given":
                try:
                    checked = self.catalogue.tool(tool).parameters[name].checked(name, value)
                except BadArgumentError as error:
                    raise BadCallError(str(error)) from error
                return Argument(origin=Origin.GIVEN, value=checked)
            case "person":
                return Argument(origin=Origin.PERSON)
        raise BadCallError(
            f"{name} comes from label:NAME, field:TOOL.FIELD, given:VALUE or person, got {told!r}"
        )

    def _decision(self, call: Mapping[str, Any]) -> _Decision:
        of = self._nodes.get(_word(call, "of"))
        if not isinstance(of, Act):
            raise BadCallError(f"{call.get('of')!r} is no action: write the action first")
        fields = self.catalogue.tool(of.call.tool).output.fields
        if (name := _word(call, "field")) not in fields:
            raise BadCallError(f"{of.call.tool} tells {', '.join(fields)}, and no {name!r}")
        try:
            comparison = Comparison(_word(call, "comparison"))
            value = None if comparison in _WITHOUT_VALUE else call.get("value")
            if isinstance(value, str):
                value = value[:MOST_TEXT]
            test = Test(field=name, comparison=comparison, value=value)
        except (ValueError, ValidationError) as error:
            raise BadCallError(f"there is no comparison {call.get('comparison')!r}") from error
        if value is None and comparison not in _WITHOUT_VALUE:
            raise BadCallError(f"{comparison} wants a value")
        return _Decision(of=_word(call, "of"), test=test)


def _is_again(act: Act, before: Sequence[object], catalogue: Catalogue) -> bool:
    """Whether the same look was made before a change that was made before this."""
    calls = [each.call for each in before if isinstance(each, Act)]
    changes = [
        place
        for place, each in enumerate(calls)
        if catalogue.tool(each.tool).effect is Effect.CHANGE
    ]
    return bool(changes) and act.call in calls[: changes[-1]]


def _is_field(catalogue: Catalogue, value: str) -> bool:
    tool, _, name = value.partition(".")
    return tool in catalogue.by_name and name in catalogue.tool(tool).output.fields


def _word(call: Mapping[str, Any], name: str) -> str:
    value = call.get(name)
    if not isinstance(value, str | int) or not str(value).strip():
        raise BadCallError(f"{call.get('call')} wants {name!r}")
    return str(value).strip()[:MOST_TEXT]


def _in_words(node: Act | _Decision | Finish) -> str:
    match node:
        case Act():
            return node.call.tool
        case Finish():
            return f"end, {node.kind.value}"
        case _Decision():
            return f"{node.test}, of {node.of}"
