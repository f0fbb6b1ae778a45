"""Comparisons of the fields in a tool's output with values, as a catalogue file has them."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from pydantic import ConfigDict

from services.kit.value import Value


class CatalogueEntry(Value):
    """Entry of a catalogue file; an unknown key is an error, since a misspelt denial must count."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Scalar = str | int | float | bool | None
Fields = Mapping[str, Scalar]
"""Values in a tool's output, by the names of its fields."""

_Compare = Callable[[Scalar, Scalar], bool | None]


class ComparisonOperator(StrEnum):
    """Operator that compares a field with a value."""

    IS = "is"
    IS_NOT = "is_not"
    BELOW = "below"
    AT_MOST = "at_most"
    ABOVE = "above"
    AT_LEAST = "at_least"
    HAS = "has"
    """Contains the words of the value, in any case."""
    HAS_NOT = "has_not"
    IS_THERE = "is_there"
    IS_MISSING = "is_missing"
    ROSE = "rose"
    """Greater than at an earlier look by the same tool in this run."""
    STAYED = "stayed"
    """Not greater than at that earlier look."""

    @property
    def compares_looks(self) -> bool:
        """True if an earlier look is compared with a later one."""
        return self in {ComparisonOperator.ROSE, ComparisonOperator.STAYED}


class Test(CatalogueEntry):
    """Comparison of one field."""

    field: str
    comparison: ComparisonOperator
    value: Scalar = None

    def holds(self, fields: Fields, earlier: Fields | None = None) -> bool | None:
        """Return the result of the comparison; None if the fields do not decide it."""
        if self.comparison in {ComparisonOperator.IS_THERE, ComparisonOperator.IS_MISSING}:
            if self.field not in fields:
                return None
            value = fields[self.field]
            is_there = value is not None and value is not False and value != ""
            return is_there is (self.comparison is ComparisonOperator.IS_THERE)
        actual = fields.get(self.field)
        if actual is None:
            return None
        if self.comparison.compares_looks:
            before = as_number(earlier.get(self.field)) if earlier is not None else None
            now = as_number(actual)
            if before is None or now is None:
                return None
            return (now > before) is (self.comparison is ComparisonOperator.ROSE)
        return _COMPARE[self.comparison](actual, self.value)

    def __str__(self) -> str:
        """Return the comparison for people: `state is Established`."""
        value = "" if self.value is None else f" {self.value}"
        return f"{self.field.replace('_', ' ')} {self.comparison.replace('_', ' ')}{value}"


def all_hold(tests: tuple[Test, ...], fields: Fields, earlier: Fields | None = None) -> bool | None:
    """Return False as soon as one test fails; None if one is undecided and none fails."""
    results = [test.holds(fields, earlier) for test in tests]
    if False in results:
        return False
    return None if None in results or not results else True


def as_number(value: Scalar) -> float | None:
    """Return the value as a number; None if it is none."""
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def _same(actual: Scalar, value: Scalar) -> bool:
    left, right = as_number(actual), as_number(value)
    if left is not None and right is not None:
        return left == right
    return str(actual).strip().casefold() == str(value).strip().casefold()


def _order(sign: int, *, or_same: bool) -> _Compare:
    def compare(actual: Scalar, value: Scalar) -> bool | None:
        left, right = as_number(actual), as_number(value)
        if left is None or right is None:
            return None
        return (left - right) * sign > 0 or (or_same and left == right)

    return compare


def _has(actual: Scalar, value: Scalar) -> bool:
    return str(value).casefold() in str(actual).casefold()


_COMPARE: dict[ComparisonOperator, _Compare] = {
    ComparisonOperator.IS: _same,
    ComparisonOperator.IS_NOT: lambda actual, value: not _same(actual, value),
    ComparisonOperator.BELOW: _order(-1, or_same=False),
    ComparisonOperator.AT_MOST: _order(-1, or_same=True),
    ComparisonOperator.ABOVE: _order(1, or_same=False),
    ComparisonOperator.AT_LEAST: _order(1, or_same=True),
    ComparisonOperator.HAS: _has,
    ComparisonOperator.HAS_NOT: lambda actual, value: not _has(actual, value),
}
