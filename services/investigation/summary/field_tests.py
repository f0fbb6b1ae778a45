"""Tests of fields that tell cases apart, or that held before a change."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from services.execution.runs.moves import RISE_S
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import ComparisonOperator, Scalar, Test, as_number
from services.execution.tools.tool import OutputField
from services.investigation.summary.cases import TraceCase, is_nearly_all
from services.investigation.summary.planned_calls import PlannedCall, PlannedLook, is_specific
from services.investigation.summary.trace import Call, is_hidden
from services.knowledge.screening.instructions import instruction_in

LONGEST_STATE = 60
"""Most characters of a text as a state; a longer one is a message."""

LEAST_MARGIN = 0.25
"""Least gap between values before and after a change, as a share of the larger one."""


class FieldTestKind(IntEnum):
    """Kind of a field test, the preferred one first."""

    STATE = 0
    """A state that the tool declares; before a change: that differed after it."""
    PRESENCE = 1
    NUMBER = 2
    """A number on one side of a gap."""
    RISE = 3
    BOUND = 4
    """A number as far from 0 as all that were seen."""
    KEPT = 5
    """A state that was the same before and after."""
    WORDS = 6


@dataclass(frozen=True)
class FieldTest:
    """A comparison of a field of a look."""

    look: PlannedCall
    test: Test
    kind: FieldTestKind

    def holds(self, calls: Sequence[Call]) -> bool | None:
        """Return the result of the test on these calls; None if they do not decide it."""
        if not calls:
            return None
        earlier = next((c for c in calls if c.at <= calls[-1].at - RISE_S), None)
        return self.test.holds(calls[-1].fields, earlier.fields if earlier else None)


Seen = Mapping[TraceCase, Sequence[Call]]


def find_split(
    looks: Sequence[PlannedLook], groups: Sequence[Sequence[TraceCase]], catalogue: Catalogue
) -> tuple[FieldTest, frozenset[int]] | None:
    """Return the preferred test that holds in some groups and not in the others.

    With the places of the groups in which it holds; None if no field tells any of them apart.
    """
    candidates = [
        (each.kind, abs(2 * len(yes) - len(groups)), place, name, each, yes)
        for place, look in enumerate(looks)
        for name, field in catalogue.tool(look.call.tool).output.fields.items()
        for each in _candidates(look, groups, name, field)
        if (yes := _groups_where_it_holds(each, look.before, groups)) is not None
    ]
    if not candidates:
        return None
    best = min(candidates, key=lambda each: (each[0], each[1], each[2], each[3]))
    return best[4], best[5]


def _groups_where_it_holds(
    test: FieldTest, seen: Seen, groups: Sequence[Sequence[TraceCase]]
) -> frozenset[int] | None:
    """Return the groups in which a test holds; None if it splits a group, or splits no groups."""
    yes = set()
    for place, cases in enumerate(groups):
        results = [test.holds(seen.get(case, ())) for case in cases]
        if is_nearly_all(results.count(True), len(results)):
            yes.add(place)
        elif not is_nearly_all(results.count(False), len(results)):
            return None
    return frozenset(yes) if 0 < len(yes) < len(groups) else None


def _candidates(
    look: PlannedLook, groups: Sequence[Sequence[TraceCase]], name: str, field: OutputField
) -> Iterator[FieldTest]:
    planned = look.call
    last = {case: calls[-1].fields for case, calls in look.before.items()}
    values_by_group = [[last.get(case, {}).get(name) for case in cases] for cases in groups]
    values = [value for some in values_by_group for value in some]
    if field.type == "number":
        yield from (
            FieldTest(
                planned,
                Test(field=name, comparison=ComparisonOperator.ABOVE, value=middle),
                FieldTestKind.NUMBER,
            )
            for middle in _thresholds(values_by_group)
        )
        yield FieldTest(
            planned, Test(field=name, comparison=ComparisonOperator.ROSE), FieldTestKind.RISE
        )
        return
    for value in sorted({str(v) for v in values if _is_state(v)}):
        kind = (
            FieldTestKind.STATE
            if value in field.values or field.type == "boolean"
            else FieldTestKind.WORDS
        )
        if kind is FieldTestKind.WORDS and _is_of_ticket(value, look.before):
            continue
        yield FieldTest(
            planned, Test(field=name, comparison=ComparisonOperator.IS, value=value), kind
        )
    if not field.values:
        yield FieldTest(
            planned,
            Test(field=name, comparison=ComparisonOperator.IS_THERE),
            FieldTestKind.PRESENCE,
        )


def _thresholds(values_by_group: Sequence[Sequence[Scalar]]) -> Iterator[float]:
    """Yield thresholds between the numbers of the groups, where there is a gap."""
    ranges = []
    for some in values_by_group:
        numbers = sorted(n for value in some if (n := as_number(value)) is not None)
        if numbers:
            ranges.append((numbers[0], numbers[-1]))
    highest = -math.inf
    for low, high in sorted(ranges):
        if highest < low and highest != -math.inf:
            yield between(highest, low)
        highest = max(highest, high)


def between(low: float, high: float) -> float:
    """Return a number between two, as round as the gap allows."""
    middle, gap = (low + high) / 2, high - low
    step = 10.0 ** math.floor(math.log10(gap / 2))
    rounded = round(middle / step) * step
    chosen = rounded if low < rounded < high else middle
    return float(f"{chosen:.10g}")


def find_guards(
    looks: Sequence[PlannedLook],
    cases: Sequence[TraceCase],
    answered: Iterable[FieldTest],
    catalogue: Catalogue,
) -> list[FieldTest]:
    """Return what held in nearly all cases before the change, the preferred tests first.

    That is a state that no longer held after it, every other state that never varied, and a
    number far from 0: what was never seen is not changed.
    """
    tests = {(each.look, each.test) for each in answered}
    decided = {(look, test.field) for look, test in tests}
    new_tests = [
        each
        for look in looks
        for name, field in catalogue.tool(look.call.tool).output.fields.items()
        # An earlier question decides one of two states, or a number.
        if (look.call, name) not in decided
        or not (0 < len(field.values) <= 2 or field.type == "number")
        for each in _guard_candidates(look, cases, name, field)
        if (each.look, each.test) not in tests
    ]
    # Numbers that changed together with a state of the same look say nothing more.
    turned = {each.look for each in new_tests if each.kind is FieldTestKind.STATE}
    kept = [e for e in new_tests if e.kind is not FieldTestKind.NUMBER or e.look not in turned]
    return sorted(kept, key=lambda each: each.kind)


def _guard_candidates(
    look: PlannedLook, cases: Sequence[TraceCase], name: str, field: OutputField
) -> Iterator[FieldTest]:
    before = [_usable_values(look.before.get(case, ()), name) for case in cases]
    after = [_usable_values(look.after.get(case, ())[-1:], name) for case in cases]
    if field.type == "number":
        yield from _number_guards(look, cases, name, before, after)
        return
    states = [str(values[-1]) for values in before if values and _is_state(values[-1])]
    common = max(sorted(set(states)), key=states.count, default=None)
    if common is not None and not is_nearly_all(states.count(common), len(cases)):
        common = None
    is_steady = all(len(set(map(str, values))) <= 1 for values in before)
    last = {str(values[0]).casefold() for values in after if values}
    has_turned = any(after) and (common is None or common.casefold() not in last)
    is_gone = is_nearly_all(sum(map(bool, before)), len(before)) and not any(after)
    if common is not None and is_steady and (field.values or field.type == "boolean"):
        test = Test(field=name, comparison=ComparisonOperator.IS, value=common)
        yield FieldTest(look.call, test, FieldTestKind.STATE if has_turned else FieldTestKind.KEPT)
    elif common is not None and has_turned and len(cases) > 1 and not _is_of_ticket(common, cases):
        test = Test(field=name, comparison=ComparisonOperator.IS, value=common)
        yield FieldTest(look.call, test, FieldTestKind.WORDS)
    elif not field.values and look.after and is_gone:
        test = Test(field=name, comparison=ComparisonOperator.IS_THERE)
        yield FieldTest(look.call, test, FieldTestKind.PRESENCE)


def _number_guards(
    look: PlannedLook,
    cases: Sequence[TraceCase],
    name: str,
    before: Sequence[Sequence[Scalar]],
    after: Sequence[Sequence[Scalar]],
) -> Iterator[FieldTest]:
    rise = FieldTest(
        look.call, Test(field=name, comparison=ComparisonOperator.ROSE), FieldTestKind.RISE
    )
    if is_nearly_all([rise.holds(look.before.get(c, ())) for c in cases].count(True), len(cases)):
        yield rise
        return
    seen = sorted(n for values in before if values and (n := as_number(values[-1])) is not None)
    now = sorted(n for values in after if values and (n := as_number(values[0])) is not None)
    if not is_nearly_all(len(seen), len(cases)):
        return
    if now and now[-1] < seen[0] and _is_margin(now[-1], seen[0]):
        yield _number_test(look, name, ComparisonOperator.ABOVE, between(now[-1], seen[0]))
    elif now and seen[-1] < now[0] and _is_margin(seen[-1], now[0]):
        yield _number_test(look, name, ComparisonOperator.BELOW, between(seen[-1], now[0]))
        if seen[0] > 0:
            yield _number_test(
                look, name, ComparisonOperator.ABOVE, between(0.0, seen[0]), FieldTestKind.BOUND
            )
    elif seen[0] > 0:
        yield _number_test(
            look, name, ComparisonOperator.ABOVE, between(0.0, seen[0]), FieldTestKind.BOUND
        )
    elif seen[-1] < 0:
        yield _number_test(
            look, name, ComparisonOperator.BELOW, between(seen[-1], 0.0), FieldTestKind.BOUND
        )


def _is_margin(low: float, high: float) -> bool:
    """Return True if the gap is so wide that a counter did not merely go on between them."""
    return high - low >= LEAST_MARGIN * max(abs(low), abs(high))


def find_all_clear(
    looks: Sequence[PlannedLook],
    cases: Sequence[TraceCase],
    answered: Iterable[FieldTest],
    catalogue: Catalogue,
) -> list[FieldTest]:
    """Return what held whenever nothing had to be done: states, and numbers that stayed 0."""
    tests = find_guards(looks, cases, answered, catalogue)
    for look in looks:
        for name, field in catalogue.tool(look.call.tool).output.fields.items():
            readings = {as_number(c[-1].fields.get(name)) for c in look.before.values()}
            if field.type == "number" and readings == {0.0}:
                tests.append(_number_test(look, name, ComparisonOperator.IS, 0))
    return tests


def _number_test(
    look: PlannedLook,
    name: str,
    comparison: ComparisonOperator,
    value: float,
    kind: FieldTestKind = FieldTestKind.NUMBER,
) -> FieldTest:
    plain = int(value) if float(value).is_integer() else value
    test = Test(field=name, comparison=comparison, value=plain)
    return FieldTest(look.call, test, kind)


def _usable_values(calls: Sequence[Call], name: str) -> list[Scalar]:
    return [v for call in calls if _is_usable(v := call.fields.get(name))]


def _is_usable(value: Scalar) -> bool:
    return value not in {None, ""} and not is_hidden(value)


def _is_of_ticket(value: str, cases: Iterable[TraceCase]) -> bool:
    """Return True if a text is a value of one of the tickets, not a state that others have."""
    return is_specific(value) and any(value in case.trace.labels.values() for case in cases)


def _is_state(value: Scalar) -> bool:
    """Return True if a text may be a state: short, on one line, no instruction to a model."""
    if not _is_usable(value):
        return False
    text = str(value)
    is_plain = len(text) <= LONGEST_STATE and text.isprintable() and not set(text) & set("`<>|")
    return is_plain and instruction_in(text) is None
