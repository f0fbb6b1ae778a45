"""Which of two fits foretold better what came: paired over tickets, with an interval."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from services.kit.fits.fitted import FittedFile
from services.learning.subject import Subject, Weighed

LEAST_CASES = 20
"""Later tickets under which nothing is decided."""
_DRAWS = 2_000
_TAIL = 2.5
"""Percent beyond each end of the interval."""


class Outcome(StrEnum):
    """What the comparison says of a challenger."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "open"


@dataclass(frozen=True)
class Comparison:
    """How much better a challenger foretold, in log-odds of a ticket (0.7 is twice as likely)."""

    cases: int
    mean: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """By the interval; open on too few cases."""
        if self.cases < LEAST_CASES:
            return Outcome.OPEN
        if self.low > 0:
            return Outcome.BETTER
        return Outcome.WORSE if self.high < 0 else Outcome.OPEN


def compare(
    subject: Subject,
    challenger: FittedFile,
    champion: FittedFile,
    lessons: Sequence[Weighed[Any]],
) -> Comparison:
    """On lessons that the challenger was not made from; whole kinds of tickets are drawn (95 %)."""
    gained = []
    for each in lessons:
        new = subject.foretold(challenger, each.lesson)
        old = subject.foretold(champion, each.lesson)
        if new is not None and old is not None:
            gained.append((each, new - old))
    return compare_gains(gained)


def compare_gains(gained: Sequence[tuple[Weighed[Any], float]]) -> Comparison:
    """Of lessons with how much better each was foretold."""
    by_kind: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each, gain in gained:
        by_kind[each.lesson.kind].append((each.weight, each.weight * gain))
    sums = np.array([np.sum(pairs, axis=0) for pairs in by_kind.values()])
    if len(sums) < 2:
        return Comparison(len(gained))
    drawn = np.random.default_rng(0).integers(0, len(sums), (_DRAWS, len(sums)))
    weights, totals = sums[drawn].sum(axis=1).T
    low, high = np.percentile(totals / weights, (_TAIL, 100 - _TAIL))
    mean = float(sums[:, 1].sum() / sums[:, 0].sum())
    return Comparison(len(gained), mean, float(low), float(high))
