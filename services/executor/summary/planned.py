"""A call as it is to be made about any ticket: where its target and its arguments come from."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeVar

from services.executor.bindings.binding import Argument, Origin
from services.executor.summary.cases import Case, nearly_all
from services.executor.summary.trace import Call, Trace, is_hidden
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.tool import BadArgumentError, Effect, Tool
from services.kit.value import Value

T = TypeVar("T", Argument, str)

LEAST_SPECIFIC = 5
"""Characters of a value that is hardly the same as another by chance."""
_MOST_WAYS = 64
"""Ways to explain one call that are looked at."""


class Planned(Value):
    """A call without the values of one ticket."""

    tool: str
    label: str
    """Of the ticket, that names the target."""
    arguments: tuple[tuple[str, Argument], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """Fields that must have been told before, as `tool.field`."""
        return frozenset(a.value for _, a in self.arguments if a.origin is Origin.FIELD)


@dataclass(frozen=True)
class Explained:
    """A planned look, and which calls of each case it stands for."""

    planned: Planned
    before: Mapping[Case, tuple[Call, ...]]
    """Before the first change."""
    after: Mapping[Case, tuple[Call, ...]]
    """After the last one."""


class Planning:
    """Explains the calls of some cases together: what one ticket alone could tell is not enough."""

    def __init__(self, cases: Sequence[Case], catalogue: Catalogue) -> None:
        self._cases = cases
        self._catalogue = catalogue
        self._are_different = len({tuple(sorted(case.trace.labels.items())) for case in cases}) > 1

    def looks(self) -> list[Explained]:
        """Looks before the first change that nearly all cases have, in their common order.

        A look whose arguments nobody can tell beforehand is a detour; so is one of a tool that the
        catalogue does not have.
        """
        left = {case: [*case.before] for case in self._cases}
        found: list[Planned] = []
        while (best := self._most_common(left)) is not None:
            found.append(best)
            for case, calls in left.items():
                left[case] = [c for c in calls if best not in self._ways(case.trace, c)]
        explained = [self._explained(each) for each in found]
        return _in_order([each for each in explained if self._is_needed(each)])

    def change(self, place: int, told: Collection[str]) -> Planned | None:
        """The change at this place of the remedy, where `told` fields are known.

        None where the tickets do not name its target. What cannot be told beforehand of its
        arguments a person fills in.
        """
        calls = [(case.trace, case.changes[place]) for case in self._cases]
        tool = self._catalogue.tool(calls[0][1].tool)
        labels = _shared([_labels_of(trace, call.target) for trace, call in calls])
        if not labels:
            return None
        label = tool.label if tool.label in labels else min(labels)
        arguments = tuple(
            (name, self._argument(tool, name, calls, told)) for name in tool.parameters
        )
        return Planned(tool=tool.name, label=label, arguments=arguments)

    def _argument(
        self, tool: Tool, name: str, calls: Sequence[tuple[Trace, Call]], told: Collection[str]
    ) -> Argument:
        values = {call.arguments.get(name, "") for _, call in calls}
        origins = _shared([self._origins(trace, call, tool, name) for trace, call in calls])
        usable = [each for each in origins if self._is_usable(each, tool, name, values, told)]
        if not usable:
            return Argument(origin=Origin.PERSON)
        return min(usable, key=lambda each: (self._cost(each, tool, name, values), str(each)))

    def _is_usable(
        self,
        origin: Argument,
        tool: Tool,
        name: str,
        values: Collection[str],
        told: Collection[str],
    ) -> bool:
        if origin.origin is Origin.FIELD and origin.value not in told:
            return False
        if origin.origin is Origin.GIVEN:  # of one ticket it may be that ticket's alone
            return self._are_different
        return self._cost(origin, tool, name, values) < _BY_CHANCE

    def _most_common(self, left: Mapping[Case, Sequence[Call]]) -> Planned | None:
        """The planned look that most cases have, of equal ones the most natural."""
        counts: Counter[Planned] = Counter()
        values: dict[Planned, list[tuple[str, ...]]] = {}
        for case, calls in left.items():
            ways = {way: call for call in calls for way in self._ways(case.trace, call)}
            counts.update(ways.keys())
            for way, call in ways.items():
                values.setdefault(way, []).append(
                    tuple(call.arguments[name] for name, _ in way.arguments)
                )
        common = [way for way, count in counts.items() if nearly_all(count, len(left))]

        def cost(way: Planned) -> tuple[int, int, str]:
            tool = self._catalogue.tool(way.tool)
            each = [
                self._cost(origin, tool, name, {told[place] for told in values[way]})
                for place, (name, origin) in enumerate(way.arguments)
            ]
            is_own = way.label == tool.label
            return -counts[way], sum(each) + (not is_own), way.model_dump_json()

        return min(common, key=cost, default=None)

    def _explained(self, planned: Planned) -> Explained:
        def mine(calls: Iterable[Call], case: Case) -> tuple[Call, ...]:
            return tuple(c for c in calls if planned in self._ways(case.trace, c))

        before = {case: mine(case.before, case) for case in self._cases}
        after = {case: mine(case.after, case) for case in self._cases}
        return Explained(
            planned,
            {case: calls for case, calls in before.items() if calls},
            {case: calls for case, calls in after.items() if calls},
        )

    def _is_needed(self, explained: Explained) -> bool:
        """What tells no field is only kept where more than one case has it."""
        fields = self._catalogue.tool(explained.planned.tool).output.fields
        return bool(fields) or len(self._cases) > 1

    def _ways(self, trace: Trace, call: Call) -> set[Planned]:
        """How the call can be told from its ticket and from what was seen before it."""
        tool = self._catalogue.by_name.get(call.tool)
        if tool is None or tool.effect is not Effect.READ:
            return set()
        if call.arguments.keys() != tool.parameters.keys():
            return set()
        labels = _labels_of(trace, call.target)
        origins = [sorted(self._origins(trace, call, tool, n), key=str) for n in tool.parameters]
        ways = islice(product(sorted(labels), *origins), _MOST_WAYS)
        return {
            Planned(
                tool=tool.name,
                label=label,
                arguments=tuple(zip(tool.parameters, arguments, strict=True)),
            )
            for label, *arguments in ways
        }

    def _origins(self, trace: Trace, call: Call, tool: Tool, name: str) -> set[Argument]:
        """Where the value of an argument may come from."""
        value = call.arguments.get(name, "")
        if not value or is_hidden(value):
            return set()
        found = {Argument(origin=Origin.LABEL, value=each) for each in _labels_of(trace, value)}
        found |= {
            Argument(origin=Origin.FIELD, value=field)
            for field, told in _told_before(trace, call)
            if told == value
        }
        if _may_be_given(tool, name, value):
            found.add(Argument(origin=Origin.GIVEN, value=value))
        return found

    def _cost(self, origin: Argument, tool: Tool, name: str, values: Collection[str]) -> int:
        """How unnatural an origin is; from `_BY_CHANCE` on it is no more than chance."""
        is_constant = len(values) == 1
        match origin.origin:
            case Origin.LABEL if origin.value in (*tool.parameters[name].labels, name):
                return 0
            case Origin.FIELD if origin.value.partition(".")[2] == name:
                return 1
            case Origin.GIVEN:
                return 2 if self._are_different else 4
            case _ if not is_constant:
                return 3
            case _ if self._are_different:
                return _BY_CHANCE  # the same for all tickets: it does not come from them
            case _:
                return 3 if all(map(is_specific, values)) else _BY_CHANCE


_BY_CHANCE = 9


def is_specific(value: str) -> bool:
    """Whether a value is hardly the same as another by chance: long, and no plain word or number.

    `10.0.11.1` and `Ethernet1/49` are, `20`, `up` and `critical` are not.
    """
    return len(value) >= LEAST_SPECIFIC and not re.fullmatch(r"[A-Za-z]+|\d+(\.\d+)?", value)


def _may_be_given(tool: Tool, name: str, value: str) -> bool:
    try:
        tool.parameters[name].checked(name, value)
    except BadArgumentError:
        return False
    return True


def _labels_of(trace: Trace, value: str) -> set[str]:
    return {name for name, told in trace.labels.items() if told == value}


def _told_before(trace: Trace, call: Call) -> Iterator[tuple[str, str]]:
    """Fields that were told before a call, as `tool.field`, with what they told."""
    for each in trace.calls:
        if each is call:
            return
        for name, value in each.fields.items() if each.succeeded else ():
            if value not in {None, ""} and not is_hidden(value):
                yield f"{each.tool}.{name}", str(value)


def _shared(found: Sequence[Collection[T]]) -> list[T]:
    """What nearly all of them have."""
    counts = Counter(each for some in found for each in some)
    return [each for each, count in counts.items() if nearly_all(count, len(found))]


def _in_order(found: Sequence[Explained]) -> list[Explained]:
    """By where they mostly stand; what supplies an argument comes before what takes it."""

    def place(each: Explained) -> float:
        places = [
            case.before.index(calls[0]) / len(case.before) for case, calls in each.before.items()
        ]
        return sum(places) / len(places)

    waiting, ordered, told = sorted(found, key=place), list[Explained](), set[str]()
    while waiting:
        ready = [e for e in waiting if {n.partition(".")[0] for n in e.planned.needs} <= told]
        if not ready:
            return ordered  # nobody tells the rest their arguments
        ordered.append(ready[0])
        waiting.remove(ready[0])
        told.add(ready[0].planned.tool)
    return ordered
