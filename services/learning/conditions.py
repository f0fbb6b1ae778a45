"""How far the chances of conditions hold on a team's own pages."""

import math
from collections.abc import Sequence

import numpy as np

from services.learning.checked_conditions import CheckedCondition
from services.learning.numbers import ANY, POSITIVE, Weights, fit_chance
from services.learning.subject import BASE_RATE, LIKELIEST, AnyLesson, Weighed
from services.procedure.evidence.reliability import Reliability, log_odds

NAMES = ("intercept", "slope")
_DIGITS = 4


class Conditions:
    """Learns `Reliability`. Implements `Subject`."""

    numbers = Reliability

    def teaches(self, lesson: AnyLesson) -> bool:
        """See `Subject.teaches`."""
        return isinstance(lesson, CheckedCondition)

    def learn(
        self, shipped: Reliability, lessons: Sequence[Weighed[CheckedCondition]]
    ) -> Reliability:
        """See `Subject.learn`."""
        if not lessons or not shipped.spread.names:
            return shipped
        prior = Weights.of([shipped.intercept, shipped.slope], shipped.spread)
        found = fit_chance(
            np.array([[1.0, log_odds(each.lesson.chance)] for each in lessons]),
            np.array([float(each.lesson.is_right) for each in lessons]),
            np.array([each.weight for each in lessons]),
            prior.with_own_rate(BASE_RATE),
            [ANY, POSITIVE],
        )
        intercept, slope = (round(float(w), _DIGITS) for w in found.mean)
        return Reliability(
            intercept=intercept,
            slope=slope,
            spread=found.spread(NAMES),
            provenance=f"learned on site from {len(lessons)} conditions",
        )

    def foretold(self, fit: Reliability, lesson: CheckedCondition) -> float | None:
        """See `Subject.foretold`."""
        chance = min(LIKELIEST, max(1 - LIKELIEST, fit.of(lesson.chance)))
        return math.log(chance if lesson.is_right else 1 - chance)
