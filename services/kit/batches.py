"""Long sequences, split into parts."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

PARAMETERS = 500
"""Default batch size, well under the oldest limit of bound parameters in one SQLite statement."""


def batches(values: Iterable[Item], size: int = PARAMETERS) -> Iterator[list[Item]]:
    """Yield the values in order, at most `size` at a time; nothing for no values."""
    listed = list(values)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
