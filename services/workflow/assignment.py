"""Which of these goes with which of those, one to one, so that all together are most alike."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def best_pairs(likeness: Sequence[Sequence[float]] | NDArray[Any]) -> list[tuple[int, int]]:
    """Rows with their columns; none comes twice, and of the longer side some are left."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - a second at every start

    rows, columns = linear_sum_assignment(likeness, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
