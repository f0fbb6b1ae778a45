"""One-to-one assignment between two sets with the largest total similarity."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def best_pairs(likeness: Sequence[Sequence[float]] | NDArray[Any]) -> list[tuple[int, int]]:
    """Pair rows with columns, each used at most once; of the longer side some stay unpaired."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - a second at every start

    rows, columns = linear_sum_assignment(likeness, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
