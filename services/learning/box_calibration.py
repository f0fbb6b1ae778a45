"""Calibration of the forms that make a block a step on a team's own pages."""

from collections.abc import Iterator, Sequence

import numpy as np

from services.knowledge.page.box_fit import BIAS, BoxHabit, added_log_odds, log_odds, shipped_fit
from services.learning.box_lessons import BoxLesson, JudgedBlock
from services.learning.regression import ANY, FittedWeights, fit_chance
from services.learning.subject import AnyLesson, WeightedLesson, log_chance


class BoxCalibration:
    """Subject whose numbers are a `BoxHabit`. Implements `Subject`.

    The forest stays, and how steep its chances are: only what features add to its log-odds is
    fitted. Owners only correct mistakes, so a line over the chances would learn to doubt them all.
    """

    numbers = BoxHabit

    def can_learn_from(self, lesson: AnyLesson) -> bool:
        """See `Subject.can_learn_from`."""
        return isinstance(lesson, BoxLesson)

    def learn(self, shipped: BoxHabit, lessons: Sequence[WeightedLesson[BoxLesson]]) -> BoxHabit:
        """See `Subject.learn`."""
        names = tuple(shipped.weights)
        if not lessons or not shipped.spread.names:
            return shipped
        rows = [(block, weight) for each in lessons for block, weight in _blocks(each)]
        odds = np.array([block.odds for block, _ in rows])
        fitted = fit_chance(
            np.array([[1.0, *(block.signs[name] for name in names)] for block, _ in rows]),
            np.array([float(block.is_step) for block, _ in rows]),
            np.array([weight for _, weight in rows]),
            FittedWeights.of([shipped.bias, *shipped.weights.values()], shipped.spread),
            [ANY] * (1 + len(names)),
            offset=odds,
        )
        bias, *weights = fitted.rounded
        return BoxHabit(
            bias=bias,
            weights=dict(zip(names, weights, strict=True)),
            spread=fitted.spread((BIAS, *names)),
            provenance=f"learned on site from {len(lessons)} words",
        )

    def log_likelihood(self, fit: BoxHabit, lesson: BoxLesson) -> float | None:
        """See `Subject.log_likelihood`.

        A block has a box or none: a fit that is only more or less sure of the same boxes is no
        better. A box where none is wanted, or none where one is, counts as the greatest surprise.
        """
        habit, least = fit.habit, log_odds(shipped_fit().threshold)
        blocks = [(lesson.block, 1.0), *((block, lesson.share) for block in lesson.agreed)]
        return sum(
            weight * log_chance(float(has_box), is_so=block.is_step)
            for block, weight in blocks
            for has_box in (block.odds + added_log_odds(block.signs, habit) >= least,)
        )


def _blocks(each: WeightedLesson[BoxLesson]) -> Iterator[tuple[JudgedBlock, float]]:
    """Yield the corrected block and those left as shown, with their weights."""
    yield each.lesson.block, each.weight
    for block in each.lesson.agreed:
        yield block, each.weight * each.lesson.share
