"""Planned calls for any ticket: where the target and each argument come from."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeVar

from services.execution.bindings.binding import Argument, Origin
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import BadArgumentError, Tool, ToolEffect
from services.investigation.summary.cases import TraceCase, is_nearly_all
from services.investigation.summary.trace import Call, Trace, is_hidden
from services.kit.teaching.teacher import are_enough
from services.kit.value import Value

T = TypeVar("T", Argument, str)

LEAST_SPECIFIC = 5
"""Least characters of a value that hardly equals another by chance."""
_MOST_WAYS = 64
"""Most ways to explain one call that are tried."""


class PlannedCall(Value):
    """A call without the values of one ticket."""

    tool: str
    label: str
    """Label of the ticket that names the target."""
    arguments: tuple[tuple[str, Argument], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """Fields that must be known before, as `tool.field`."""
        return frozenset(a.value for _, a in self.arguments if a.origin is Origin.FIELD)


@dataclass(frozen=True)
class PlannedLook:
    """A planned look, with the calls of each case that it stands for."""

    call: PlannedCall
    before: Mapping[TraceCase, tuple[Call, ...]]
    """Calls before the first change, by case."""
    after: Mapping[TraceCase, tuple[Call, ...]]
    """Calls after the last change, by case."""


class CallPlanner:
    """Planner of calls that explain several cases together: one ticket alone is ambiguous."""

    def __init__(self, cases: Sequence[TraceCase], catalogue: Catalogue) -> None:
        self._cases = cases
        self._catalogue = catalogue
        self._are_different = len({tuple(sorted(case.trace.labels.items())) for case in cases}) > 1
        self._are_enough = are_enough(case.trace.teacher for case in cases)
        self._own_values = {value for case in cases for value in case.trace.labels.values()}

    def plan_looks(self) -> list[PlannedLook]:
        """Return looks before the first change that nearly all cases have, in their common order.

        A look whose arguments nobody can tell beforehand is a detour; so is one of a tool that the
        catalogue does not have.
        """
        left = {case: [*case.before] for case in self._cases}
        planned: list[PlannedCall] = []
        while (best := self._most_common_look(left)) is not None:
            planned.append(best)
            for case, calls in left.items():
                left[case] = [c for c in calls if best not in self._generalise(case.trace, c)]
        explained = [self._cover(each) for each in planned]
        if len(self._cases) == 1:  # what one case alone has looked at is needed for its fields
            tools = self._catalogue
            explained = [each for each in explained if tools.tool(each.call.tool).output.fields]
        return _sort_looks(explained)

    def plan_change(self, place: int, readable_fields: Collection[str]) -> PlannedCall | None:
        """Plan the change at this place of the remedy, where these fields are known before.

        None if the tickets do not name its target. A person fills in the arguments that cannot be
        derived beforehand.
        """
        calls = [(case.trace, case.changes[place]) for case in self._cases]
        tool = self._catalogue.tool(calls[0][1].tool)
        labels = _shared([_labels_of(trace, call.target) for trace, call in calls])
        if not labels:
            return None
        label = tool.label if tool.label in labels else min(labels)
        arguments = tuple(
            (name, self._plan_argument(tool, name, calls, readable_fields))
            for name in tool.parameters
        )
        return PlannedCall(tool=tool.name, label=label, arguments=arguments)

    def _plan_argument(
        self,
        tool: Tool,
        name: str,
        calls: Sequence[tuple[Trace, Call]],
        readable_fields: Collection[str],
    ) -> Argument:
        values = {call.arguments.get(name, "") for _, call in calls}
        origins = _shared([self._origins(trace, call, tool, name) for trace, call in calls])
        usable: list[tuple[int, str, Argument]] = []
        for each in origins:
            cost = self._cost(each, tool, name, values)
            is_usable = cost < _BY_CHANCE
            if each.origin is Origin.FIELD:
                is_usable = is_usable and each.value in readable_fields
            elif each.origin is Origin.LITERAL:
                is_usable = self._are_different and self._are_enough
            if is_usable:
                usable.append((cost, str(each), each))
        person = Argument(origin=Origin.PERSON)
        return min(usable, key=lambda each: each[:2], default=(0, "", person))[2]

    def _most_common_look(self, left: Mapping[TraceCase, Sequence[Call]]) -> PlannedCall | None:
        """Return the planned look that most cases have; of equal ones the most natural."""
        counts: Counter[PlannedCall] = Counter()
        values: dict[PlannedCall, list[tuple[str, ...]]] = {}
        for case, calls in left.items():
            ways = {way: call for call in calls for way in self._generalise(case.trace, call)}
            counts.update(ways.keys())
            for way, call in ways.items():
                values.setdefault(way, []).append(
                    tuple(call.arguments[name] for name, _ in way.arguments)
                )
        common = [way for way, count in counts.items() if is_nearly_all(count, len(left))]

        def cost(way: PlannedCall) -> tuple[int, int, str]:
            tool = self._catalogue.tool(way.tool)
            each = [
                self._cost(origin, tool, name, {arguments[place] for arguments in values[way]})
                for place, (name, origin) in enumerate(way.arguments)
            ]
            is_own = way.label == tool.label
            return -counts[way], sum(each) + (not is_own), way.model_dump_json()

        return min(common, key=cost, default=None)

    def _cover(self, planned: PlannedCall) -> PlannedLook:
        def mine(calls: Iterable[Call], case: TraceCase) -> tuple[Call, ...]:
            return tuple(c for c in calls if planned in self._generalise(case.trace, c))

        before = {case: mine(case.before, case) for case in self._cases}
        after = {case: mine(case.after, case) for case in self._cases}
        return PlannedLook(
            planned,
            {case: calls for case, calls in before.items() if calls},
            {case: calls for case, calls in after.items() if calls},
        )

    def _generalise(self, trace: Trace, call: Call) -> set[PlannedCall]:
        """Return the ways to derive a call from its ticket and from earlier observations."""
        tool = self._catalogue.by_name.get(call.tool)
        if tool is None or tool.effect is not ToolEffect.READ:
            return set()
        if call.arguments.keys() != tool.parameters.keys():
            return set()
        labels = _labels_of(trace, call.target)
        origins = [sorted(self._origins(trace, call, tool, n), key=str) for n in tool.parameters]
        ways = islice(product(sorted(labels), *origins), _MOST_WAYS)
        return {
            PlannedCall(
                tool=tool.name,
                label=label,
                arguments=tuple(zip(tool.parameters, arguments, strict=True)),
            )
            for label, *arguments in ways
        }

    def _origins(self, trace: Trace, call: Call, tool: Tool, name: str) -> set[Argument]:
        """Return the possible sources of an argument's value."""
        value = call.arguments.get(name, "")
        if not value or is_hidden(value):
            return set()
        origins = {Argument(origin=Origin.LABEL, value=each) for each in _labels_of(trace, value)}
        origins |= {
            Argument(origin=Origin.FIELD, value=field)
            for field, text in _fields_before(trace, call)
            if text == value
        }
        if self._may_be_constant(tool, name, value):
            with suppress(BadArgumentError):
                checked = tool.parameters[name].checked(name, value)
                origins.add(Argument(origin=Origin.LITERAL, value=checked))
        return origins

    def _may_be_constant(self, tool: Tool, name: str, value: str) -> bool:
        """Return True if a value may be the same for any ticket: no value of one ticket is.

        It is one of those that the tool allows, or different tickets of enough people had it and
        none of them has it in its labels.
        """
        if tool.parameters[name].values:
            return True
        is_own = is_specific(value) and value in self._own_values
        return self._are_different and self._are_enough and not is_own

    def _cost(self, origin: Argument, tool: Tool, name: str, values: Collection[str]) -> int:
        """Return how unnatural an origin is; from `_BY_CHANCE` on it is no more than chance."""
        is_constant = len(values) == 1
        match origin.origin:
            case Origin.LABEL if origin.value in (*tool.parameters[name].labels, name):
                return 0
            case Origin.FIELD if origin.value.partition(".")[2] == name:
                return 1
            case Origin.LITERAL:
                return 2 if self._are_different else 4
            case _ if not is_constant:
                return 3
            case _ if self._are_different:
                return _BY_CHANCE  # the same for all tickets: it does not come from them
            case _:
                return 3 if all(map(is_specific, values)) else _BY_CHANCE


_BY_CHANCE = 9


def is_specific(value: str) -> bool:
    """Return True if a value hardly equals another by chance: long, no plain word or number.

    `10.0.11.1` and `Ethernet1/49` are specific; `20`, `up` and `critical` are not.
    """
    return len(value) >= LEAST_SPECIFIC and not re.fullmatch(r"[A-Za-z]+|\d+(\.\d+)?", value)


def _labels_of(trace: Trace, value: str) -> set[str]:
    return {name for name, text in trace.labels.items() if text == value}


def _fields_before(trace: Trace, call: Call) -> Iterator[tuple[str, str]]:
    """Yield the fields that were observed before a call, as `tool.field`, with their values."""
    for each in trace.calls:
        if each is call:
            return
        for name, value in each.fields.items() if each.succeeded else ():
            if value not in {None, ""} and not is_hidden(value):
                yield f"{each.tool}.{name}", str(value)


def _shared(collections: Sequence[Collection[T]]) -> list[T]:
    """Return what nearly all of these collections have."""
    counts = Counter(each for some in collections for each in some)
    return [each for each, count in counts.items() if is_nearly_all(count, len(collections))]


def _sort_looks(looks: Sequence[PlannedLook]) -> list[PlannedLook]:
    """Sort looks by their usual place; a look that supplies an argument comes before its user."""

    def place(each: PlannedLook) -> float:
        places = [
            case.before.index(calls[0]) / len(case.before) for case, calls in each.before.items()
        ]
        return sum(places) / len(places)

    waiting, ordered, seen_tools = sorted(looks, key=place), list[PlannedLook](), set[str]()
    while waiting:
        ready = [e for e in waiting if {n.partition(".")[0] for n in e.call.needs} <= seen_tools]
        if not ready:
            return ordered  # nobody tells the rest their arguments
        ordered.append(ready[0])
        waiting.remove(ready[0])
        seen_tools.add(ready[0].call.tool)
    return ordered
