"""Calibration of how likely engineers accept a workflow whose page is the right one."""

from collections.abc import Sequence

import numpy as np

from services.learning.regression import (
    ANY,
    NEGATIVE,
    POSITIVE,
    FittedWeights,
    fit_chance,
)
from services.learning.subject import BASE_RATE, AnyLesson, WeightedLesson, log_chance
from services.scorer.chance import BY_RULES, Chance, Features, features_of, is_by_rules, is_checked
from services.tickets.adoption.lessons import Lesson


class AcceptanceCalibration:
    """Subject whose numbers are a `Chance`. Implements `Subject`."""

    numbers = Chance

    def can_learn_from(self, lesson: AnyLesson) -> bool:
        """See `Subject.can_learn_from`."""
        return isinstance(lesson, Lesson) and lesson.workflow is not None

    def learn(self, shipped: Chance, lessons: Sequence[WeightedLesson[Lesson]]) -> Chance:
        """See `Subject.learn`."""
        signs_by_lesson = [(signs_of_lesson(each.lesson), each) for each in lessons]
        rows = [
            ([1.0, *(signs.get(n, 0.0) for n in shipped.weights)], e)
            for signs, e in signs_by_lesson
        ]
        if not rows or not shipped.spread.names:
            return shipped
        prior = FittedWeights.of([shipped.bias, *shipped.weights.values()], shipped.spread)
        fitted = fit_chance(
            np.array([row for row, _ in rows]),
            np.array([float(_is_accepted(each.lesson)) for _, each in rows]),
            np.array([each.weight for _, each in rows]),
            prior.with_own_rate(BASE_RATE),
            # No dimension may count against a workflow, nor that rules made it for it.
            [ANY, *(NEGATIVE if name == BY_RULES else POSITIVE for name in shipped.weights)],
        )
        bias, *weights = fitted.rounded
        return shipped.model_copy(
            update={
                "bias": bias,
                "weights": dict(zip(shipped.weights, weights, strict=True)),
                "spread": fitted.spread(("bias", *shipped.weights)),
                "provenance": f"learned on site from {len(rows)} tickets",
                "figures": {},
            }
        )

    def log_likelihood(self, fit: Chance, lesson: Lesson) -> float | None:
        """See `Subject.log_likelihood`."""
        return log_chance(fit.of(signs_of_lesson(lesson)), is_so=_is_accepted(lesson))


def signs_of_lesson(lesson: Lesson) -> Features:
    """Return the features that the chance depends on, of a lesson with a workflow."""
    if lesson.workflow is None:
        return {}
    origin = lesson.workflow.origin
    return features_of(
        lesson.workflow.values, is_by_rules=is_by_rules(origin), is_checked=is_checked(origin)
    )


def _is_accepted(lesson: Lesson) -> bool:
    return lesson.workflow is not None and lesson.workflow.is_accepted
