"""Comparison of two fits by log-likelihood: paired over tickets, with a confidence interval."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from services.kit.access.caller import LOCAL_TEACHER
from services.kit.fits.fitted import FittedFile
from services.learning.subject import Subject, WeightedLesson

LEAST_CASES = 20
"""Number of later tickets below which nothing is decided."""
LEAST_OF_OTHERS = 5
"""Number of later tickets, without those of any one teacher, below which nothing is decided."""
_DRAWS = 2_000
_TAIL = 2.5
"""Percent beyond each end of the interval."""


class ComparisonOutcome(StrEnum):
    """Verdict of the comparison on a challenger."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "open"


@dataclass(frozen=True)
class FitComparison:
    """Gain of a challenger in log-likelihood per ticket (0.7 is twice as likely)."""

    cases: int
    mean: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def outcome(self) -> ComparisonOutcome:
        """Verdict by the interval; open on too few cases."""
        if self.cases < LEAST_CASES:
            return ComparisonOutcome.OPEN
        if self.low > 0:
            return ComparisonOutcome.BETTER
        return ComparisonOutcome.WORSE if self.high < 0 else ComparisonOutcome.OPEN


def compare(
    subject: Subject,
    challenger: FittedFile,
    champion: FittedFile,
    lessons: Sequence[WeightedLesson[Any]],
) -> FitComparison:
    """Compare on lessons that the challenger was not made from.

    The interval (95 %) is a bootstrap over whole kinds of tickets.
    """
    gained = []
    for each in lessons:
        new = subject.log_likelihood(challenger, each.lesson)
        old = subject.log_likelihood(champion, each.lesson)
        if new is not None and old is not None:
            gained.append((each, new - old))
    return compare_gains(gained)


def is_better_without_each(
    subject: Subject,
    challenger: FittedFile,
    champion: FittedFile,
    lessons: Sequence[WeightedLesson[Any]],
) -> bool:
    """Return True if a challenger is better without the lessons of each single teacher.

    So nobody alone changes what serves, however much they taught; the machine's own user may.
    """
    teachers = frozenset[str]().union(*(each.lesson.teachers for each in lessons))
    for teacher in teachers - {LOCAL_TEACHER}:
        others = [each for each in lessons if not each.lesson.teachers <= {teacher}]
        comparison = compare(subject, challenger, champion, others)
        if comparison.cases < LEAST_OF_OTHERS or comparison.mean <= 0:
            return False
    return True


def compare_gains(gained: Sequence[tuple[WeightedLesson[Any], float]]) -> FitComparison:
    """Compare by lessons with the gain in log-likelihood of each."""
    by_kind: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each, gain in gained:
        by_kind[each.lesson.kind].append((each.weight, each.weight * gain))
    sums = np.array([np.sum(pairs, axis=0) for pairs in by_kind.values()])
    if len(sums) < 2:
        return FitComparison(len(gained))
    drawn = np.random.default_rng(0).integers(0, len(sums), (_DRAWS, len(sums)))
    weights, totals = sums[drawn].sum(axis=1).T
    low, high = np.percentile(totals / weights, (_TAIL, 100 - _TAIL))
    mean = float(sums[:, 1].sum() / sums[:, 0].sum())
    return FitComparison(len(gained), mean, float(low), float(high))
