"""Comparisons: whether what a tool told holds an answer."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from services.executor.tools.entry import CatalogueEntry

Scalar = str | int | float | bool | None
Fields = Mapping[str, Scalar]
"""What was found in a tool's output, by the names of its fields."""

_Compare = Callable[[Scalar, Scalar], bool | None]


class Comparison(StrEnum):
    """How a field is held against a value."""

    IS = "is"
    IS_NOT = "is_not"
    BELOW = "below"
    AT_MOST = "at_most"
    ABOVE = "above"
    AT_LEAST = "at_least"
    HAS = "has"
    """The text contains the words of the value, whatever their case."""
    HAS_NOT = "has_not"
    IS_THERE = "is_there"
    IS_MISSING = "is_missing"
    ROSE = "rose"
    """Since the same tool was asked before in this run."""
    STAYED = "stayed"
    """It did not rise since then."""

    @property
    def is_of_change(self) -> bool:
        """Whether an earlier look is held against a later one."""
        return self in {Comparison.ROSE, Comparison.STAYED}


class Test(CatalogueEntry):
    """One comparison of a field."""

    field: str
    comparison: Comparison
    value: Scalar = None

    def holds(self, fields: Fields, earlier: Fields | None = None) -> bool | None:
        """None where the fields do not tell."""
        if self.comparison in {Comparison.IS_THERE, Comparison.IS_MISSING}:
            if self.field not in fields:
                return None
            return _is_there(fields[self.field]) is (self.comparison is Comparison.IS_THERE)
        told = fields.get(self.field)
        if told is None:
            return None
        if self.comparison.is_of_change:
            before = number(earlier.get(self.field)) if earlier is not None else None
            now = number(told)
            if before is None or now is None:
                return None
            return (now > before) is (self.comparison is Comparison.ROSE)
        return _COMPARE[self.comparison](told, self.value)

    def __str__(self) -> str:
        """For people: `state is Established`."""
        value = "" if self.value is None else f" {self.value}"
        return f"{self.field.replace('_', ' ')} {self.comparison.replace('_', ' ')}{value}"


def all_hold(tests: tuple[Test, ...], fields: Fields, earlier: Fields | None = None) -> bool | None:
    """False as soon as one does not; None where one cannot be told and none fails."""
    told = [test.holds(fields, earlier) for test in tests]
    if False in told:
        return False
    return None if None in told or not told else True


def number(value: Scalar) -> float | None:
    """As a number; None where it is none."""
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def _is_there(value: Scalar) -> bool:
    return value is not None and value is not False and value != ""


def _same(told: Scalar, value: Scalar) -> bool:
    left, right = number(told), number(value)
    if left is not None and right is not None:
        return left == right
    return str(told).strip().casefold() == str(value).strip().casefold()


def _order(sign: int, *, or_same: bool) -> _Compare:
    def compare(told: Scalar, value: Scalar) -> bool | None:
        left, right = number(told), number(value)
        if left is None or right is None:
            return None
        return (left - right) * sign > 0 or (or_same and left == right)

    return compare


def _has(told: Scalar, value: Scalar) -> bool:
    return str(value).casefold() in str(told).casefold()


_COMPARE: dict[Comparison, _Compare] = {
    Comparison.IS: _same,
    Comparison.IS_NOT: lambda told, value: not _same(told, value),
    Comparison.BELOW: _order(-1, or_same=False),
    Comparison.AT_MOST: _order(-1, or_same=True),
    Comparison.ABOVE: _order(1, or_same=False),
    Comparison.AT_LEAST: _order(1, or_same=True),
    Comparison.HAS: _has,
    Comparison.HAS_NOT: lambda told, value: not _has(told, value),
}
