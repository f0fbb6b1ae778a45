"""Long sequences in parts."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

Value = TypeVar("Value")

PARAMETERS = 500
"""Well under the oldest limit of bound parameters in one SQLite statement."""


def batches(values: Iterable[Value], size: int = PARAMETERS) -> Iterator[list[Value]]:
    """The values in their order, at most `size` at a time; nothing for no values."""
    listed = list(values)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
