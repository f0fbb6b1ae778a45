"""What tells cases apart, and what held before a change: comparisons of fields."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from services.executor.runs.moves import RISE_S
from services.executor.summary.cases import Case, nearly_all
from services.executor.summary.planned import Explained, Planned
from services.executor.summary.trace import Call, is_hidden
from services.executor.tools.catalogue import Catalogue
from services.executor.tools.compare import Comparison, Scalar, Test, number
from services.executor.tools.tool import OutputField
from services.knowledge.screening.instructions import instruction_in

LONGEST_STATE = 60
"""Characters of a text that is asked for; a longer one is a message and no state."""

LEAST_MARGIN = 0.25
"""Of the larger number, that lies between what was seen before a change and after it."""


class Natural(IntEnum):
    """Which kind of comparison is asked first."""

    STATE = 0
    """One of the states that the tool knows; before a change: that was another after it."""
    PRESENCE = 1
    NUMBER = 2
    """On one side of a margin."""
    RISE = 3
    BOUND = 4
    """A number as far from nothing as those that were seen, where nothing else was seen."""
    KEPT = 5
    """A state that was the same before and after."""
    WORDS = 6


@dataclass(frozen=True)
class Telling:
    """A comparison of a field of a look."""

    look: Planned
    test: Test
    natural: Natural

    def holds(self, calls: Sequence[Call]) -> bool | None:
        """Whether it held when these looks were made; None where they do not tell."""
        if not calls:
            return None
        earlier = next((c for c in calls if c.at <= calls[-1].at - RISE_S), None)
        return self.test.holds(calls[-1].fields, earlier.fields if earlier else None)


Seen = Mapping[Case, Sequence[Call]]


def telling_apart(
    looks: Sequence[Explained], groups: Sequence[Sequence[Case]], catalogue: Catalogue
) -> tuple[Telling, frozenset[int]] | None:
    """The most natural comparison that holds in some groups and not in the others.

    With the places of the groups in which it holds; None where no field tells any of them apart.
    """
    found = [
        (each.natural, abs(2 * len(yes) - len(groups)), place, name, each, yes)
        for place, look in enumerate(looks)
        for name, field in catalogue.tool(look.planned.tool).output.fields.items()
        for each in _candidates(look, groups, name, field)
        if (yes := _holding(each, look.before, groups)) is not None
    ]
    if not found:
        return None
    best = min(found, key=lambda each: (each[0], each[1], each[2], each[3]))
    return best[4], best[5]


def _holding(
    telling: Telling, seen: Seen, groups: Sequence[Sequence[Case]]
) -> frozenset[int] | None:
    """The groups in which it holds; None where a group is divided, or all answer alike."""
    yes = set()
    for place, cases in enumerate(groups):
        told = [telling.holds(seen.get(case, ())) for case in cases]
        if nearly_all(told.count(True), len(told)):
            yes.add(place)
        elif not nearly_all(told.count(False), len(told)):
            return None
    return frozenset(yes) if 0 < len(yes) < len(groups) else None


def _candidates(
    look: Explained, groups: Sequence[Sequence[Case]], name: str, field: OutputField
) -> Iterator[Telling]:
    planned = look.planned
    last = {case: calls[-1].fields for case, calls in look.before.items()}
    told = [[last.get(case, {}).get(name) for case in cases] for cases in groups]
    values = [value for some in told for value in some]
    if field.type == "number":
        yield from (
            Telling(
                planned, Test(field=name, comparison=Comparison.ABOVE, value=middle), Natural.NUMBER
            )
            for middle in _middles(told)
        )
        yield Telling(planned, Test(field=name, comparison=Comparison.ROSE), Natural.RISE)
        return
    for value in sorted({str(v) for v in values if _is_state(v)}):
        natural = (
            Natural.STATE if value in field.values or field.type == "boolean" else Natural.WORDS
        )
        yield Telling(planned, Test(field=name, comparison=Comparison.IS, value=value), natural)
    if not field.values:
        yield Telling(planned, Test(field=name, comparison=Comparison.IS_THERE), Natural.PRESENCE)


def _middles(told: Sequence[Sequence[Scalar]]) -> Iterator[float]:
    """Between the numbers of the groups, where there is a gap."""
    ranges = []
    for some in told:
        numbers = sorted(n for value in some if (n := number(value)) is not None)
        if numbers:
            ranges.append((numbers[0], numbers[-1]))
    highest = -math.inf
    for low, high in sorted(ranges):
        if highest < low and highest != -math.inf:
            yield between(highest, low)
        highest = max(highest, high)


def between(low: float, high: float) -> float:
    """A number between two, as round as the gap allows."""
    middle, gap = (low + high) / 2, high - low
    step = 10.0 ** math.floor(math.log10(gap / 2))
    rounded = round(middle / step) * step
    chosen = rounded if low < rounded < high else middle
    return float(f"{chosen:.10g}")


def guards(
    looks: Sequence[Explained],
    cases: Sequence[Case],
    asked: Iterable[Telling],
    catalogue: Catalogue,
) -> list[Telling]:
    """What held in nearly all cases before the change, the most natural first.

    A state that no longer held after it is asked for; so is every other state that was never seen
    otherwise, and a number far from nothing: what was never seen is not changed.
    """
    known = [*asked]
    found = [
        each
        for look in looks
        for name, field in catalogue.tool(look.planned.tool).output.fields.items()
        if not _is_settled(look.planned, name, field, known)
        for each in _guard(look, cases, name, field)
        if (each.look, each.test) not in {(a.look, a.test) for a in known}
    ]
    return _without_doubled(found)


def _guard(
    look: Explained, cases: Sequence[Case], name: str, field: OutputField
) -> Iterator[Telling]:
    before = [_all_told(look.before.get(case, ()), name) for case in cases]
    after = [_all_told(look.after.get(case, ())[-1:], name) for case in cases]
    if field.type == "number":
        yield from _of_number(look, cases, name, before, after)
        return
    common = _common([told[-1] for told in before if told], len(cases))
    is_steady = all(len(set(map(str, told))) <= 1 for told in before)
    has_turned = any(after) and not any(_same(common, told[0]) for told in after if told)
    if common is not None and is_steady and (field.values or field.type == "boolean"):
        test = Test(field=name, comparison=Comparison.IS, value=common)
        yield Telling(look.planned, test, Natural.STATE if has_turned else Natural.KEPT)
    elif common is not None and has_turned and len(cases) > 1:
        test = Test(field=name, comparison=Comparison.IS, value=common)
        yield Telling(look.planned, test, Natural.WORDS)
    elif not field.values and look.after and _is_gone(before, after):
        test = Test(field=name, comparison=Comparison.IS_THERE)
        yield Telling(look.planned, test, Natural.PRESENCE)


def _of_number(
    look: Explained,
    cases: Sequence[Case],
    name: str,
    before: Sequence[Sequence[Scalar]],
    after: Sequence[Sequence[Scalar]],
) -> Iterator[Telling]:
    rise = Telling(look.planned, Test(field=name, comparison=Comparison.ROSE), Natural.RISE)
    if nearly_all([rise.holds(look.before.get(c, ())) for c in cases].count(True), len(cases)):
        yield rise
        return
    seen = sorted(n for told in before if told and (n := number(told[-1])) is not None)
    now = sorted(n for told in after if told and (n := number(told[0])) is not None)
    if not nearly_all(len(seen), len(cases)):
        return
    if now and now[-1] < seen[0] and _is_margin(now[-1], seen[0]):
        yield _number(look, name, Comparison.ABOVE, between(now[-1], seen[0]))
    elif now and seen[-1] < now[0] and _is_margin(seen[-1], now[0]):
        yield _number(look, name, Comparison.BELOW, between(seen[-1], now[0]))
        if seen[0] > 0:
            yield _number(look, name, Comparison.ABOVE, between(0.0, seen[0]), Natural.BOUND)
    elif seen[0] > 0:
        yield _number(look, name, Comparison.ABOVE, between(0.0, seen[0]), Natural.BOUND)
    elif seen[-1] < 0:
        yield _number(look, name, Comparison.BELOW, between(seen[-1], 0.0), Natural.BOUND)


def _is_margin(low: float, high: float) -> bool:
    """Whether two numbers are so far apart that a counter did not merely go on between them."""
    return high - low >= LEAST_MARGIN * max(abs(low), abs(high))


def nothing_found(
    looks: Sequence[Explained],
    cases: Sequence[Case],
    asked: Iterable[Telling],
    catalogue: Catalogue,
) -> list[Telling]:
    """What held whenever nothing had to be done: states, and numbers that were always the same."""
    found = guards(looks, cases, asked, catalogue)
    for look in looks:
        for name, field in catalogue.tool(look.planned.tool).output.fields.items():
            told = {number(c[-1].fields.get(name)) for c in look.before.values()}
            if field.type == "number" and told == {0.0}:
                found.append(_number(look, name, Comparison.IS, 0))
    return found


def _number(
    look: Explained,
    name: str,
    comparison: Comparison,
    value: float,
    natural: Natural = Natural.NUMBER,
) -> Telling:
    plain = int(value) if float(value).is_integer() else value
    test = Test(field=name, comparison=comparison, value=plain)
    return Telling(look.planned, test, natural)


def _without_doubled(found: Sequence[Telling]) -> list[Telling]:
    """Without numbers that turned together with a state of the same look."""
    turned = {each.look for each in found if each.natural is Natural.STATE}
    kept = [e for e in found if e.natural is not Natural.NUMBER or e.look not in turned]
    return sorted(kept, key=lambda each: each.natural)


def _is_settled(look: Planned, name: str, field: OutputField, asked: Sequence[Telling]) -> bool:
    """Whether a question before has told it: one of two states."""
    told = [each for each in asked if each.look == look and each.test.field == name]
    return bool(told) and (0 < len(field.values) <= 2 or field.type == "number")


def _all_told(calls: Sequence[Call], name: str) -> list[Scalar]:
    return [v for call in calls if _is_told(v := call.fields.get(name))]


def _is_told(value: Scalar) -> bool:
    return value not in {None, ""} and not is_hidden(value)


def _is_state(value: Scalar) -> bool:
    """Whether a text may be asked for: short, on one line, and no speech to a model."""
    if not _is_told(value):
        return False
    text = str(value)
    is_plain = len(text) <= LONGEST_STATE and text.isprintable() and not set(text) & set("`<>|")
    return is_plain and instruction_in(text) is None


def _common(values: Sequence[Scalar], of: int) -> str | None:
    told = [str(value) for value in values if _is_state(value)]
    best = max(sorted(set(told)), key=told.count, default=None)
    return best if best is not None and nearly_all(told.count(best), of) else None


def _same(common: str | None, value: Scalar) -> bool:
    return common is not None and common.casefold() == str(value).casefold()


def _is_gone(before: Sequence[Sequence[Scalar]], after: Sequence[Sequence[Scalar]]) -> bool:
    return nearly_all(sum(map(bool, before)), len(before)) and not any(after) and len(after) > 0
