"""Intervals of a mean over sets, from the pairs at hand (Efron and Tibshirani, 1993)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 4000
"""Times the pairs are drawn anew; the ends of an interval then vary by some hundredths."""
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and the percentiles of its distribution that enclose `LEVEL` of it."""

    mean: float
    low: float
    high: float


def intervals(strata: Sequence[NDArray[np.float64]], seed: int) -> list[Interval]:
    """One interval for each column, of the mean over strata of the mean over a stratum's rows.

    Rows are pairs, drawn with replacement within their stratum and alike for all columns, so that
    the difference of two columns may be a column of its own. Empty strata do not count.
    """
    filled = [rows for rows in strata if len(rows)]
    if not filled:
        return []
    rng = np.random.default_rng(seed)
    means = np.mean([rows.mean(axis=0) for rows in filled], axis=0)
    drawn = np.mean([_drawn_means(rows, rng) for rows in filled], axis=0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(means, low, high, strict=True)]


def ratio(parts: NDArray[np.float64], wholes: NDArray[np.float64], seed: int) -> Interval:
    """Return the sum of parts over the sum of wholes, rows being drawn with replacement.

    A draw without any whole counts 0.
    """
    rows = np.column_stack([parts, wholes]).astype(np.float64)
    drawn = _drawn_means(rows, np.random.default_rng(seed))
    shares = np.divide(drawn[:, 0], drawn[:, 1], out=np.zeros(DRAWS), where=drawn[:, 1] > 0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(shares, [tail, 1 - tail])
    whole = float(rows[:, 1].sum())
    return Interval(float(rows[:, 0].sum()) / whole if whole else 0.0, float(low), float(high))


def _drawn_means(rows: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The mean of each column in every draw; draws × columns."""
    counts = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=DRAWS)
    means: NDArray[np.float64] = counts @ rows / len(rows)
    return means
