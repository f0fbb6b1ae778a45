"""How far the chances of conditions hold on a team's own pages."""

from collections.abc import Sequence

import numpy as np

from services.learning.checked_conditions import CheckedCondition
from services.learning.numbers import ANY, POSITIVE, Weights, fit_chance
from services.learning.subject import BASE_RATE, AnyLesson, Weighed, log_chance
from services.procedure.evidence.reliability import Reliability, bounded_odds

NAMES = ("intercept", "slope")


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
            np.array([[1.0, bounded_odds(each.lesson.chance)] for each in lessons]),
            np.array([float(each.lesson.is_right) for each in lessons]),
            np.array([each.weight for each in lessons]),
            prior.with_own_rate(BASE_RATE),
            [ANY, POSITIVE],
        )
        intercept, slope = found.rounded
        return Reliability(
            intercept=intercept,
            slope=slope,
            spread=found.spread(NAMES),
            provenance=f"learned on site from {len(lessons)} conditions",
        )

    def foretold(self, fit: Reliability, lesson: CheckedCondition) -> float | None:
        """See `Subject.foretold`."""
        return log_chance(fit.of(lesson.chance), is_so=lesson.is_right)
