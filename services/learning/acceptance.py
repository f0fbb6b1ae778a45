"""How likely engineers take a workflow whose page is the right one."""

from collections.abc import Sequence

import numpy as np

from services.gateway.adoption.lessons import Lesson
from services.learning.numbers import ANY, NEGATIVE, POSITIVE, Bound, Weights, fit_chance
from services.learning.subject import BASE_RATE, AnyLesson, Weighed, log_chance
from services.scorer.chance import BY_RULES, Chance, Signs, is_by_rules, is_checked, signs_of


class Acceptance:
    """Learns `Chance`. Implements `Subject`."""

    numbers = Chance

    def teaches(self, lesson: AnyLesson) -> bool:
        """See `Subject.teaches`."""
        return isinstance(lesson, Lesson) and lesson.workflow is not None

    def learn(self, shipped: Chance, lessons: Sequence[Weighed[Lesson]]) -> Chance:
        """See `Subject.learn`."""
        told = [(signs_of_lesson(each.lesson), each) for each in lessons]
        rows = [([1.0, *(signs.get(n, 0.0) for n in shipped.weights)], e) for signs, e in told]
        if not rows or not shipped.spread.names:
            return shipped
        prior = Weights.of([shipped.bias, *shipped.weights.values()], shipped.spread)
        found = fit_chance(
            np.array([row for row, _ in rows]),
            np.array([float(_is_taken(each.lesson)) for _, each in rows]),
            np.array([each.weight for _, each in rows]),
            prior.with_own_rate(BASE_RATE),
            bounds_of(shipped),
        )
        return chance_of(shipped, found).model_copy(
            update={"provenance": f"learned on site from {len(rows)} tickets", "figures": {}}
        )

    def foretold(self, fit: Chance, lesson: Lesson) -> float | None:
        """See `Subject.foretold`."""
        return log_chance(fit.of(signs_of_lesson(lesson)), is_so=_is_taken(lesson))


def signs_of_lesson(lesson: Lesson) -> Signs:
    """What the chance hangs on, of a lesson with a workflow."""
    if lesson.workflow is None:
        return {}
    origin = lesson.workflow.origin
    return signs_of(
        lesson.workflow.values, is_by_rules=is_by_rules(origin), is_checked=is_checked(origin)
    )


def bounds_of(chance: Chance) -> list[Bound]:
    """No dimension may count against a workflow, nor rules for it."""
    return [ANY, *(NEGATIVE if name == BY_RULES else POSITIVE for name in chance.weights)]


def chance_of(chance: Chance, found: Weights) -> Chance:
    """The same with these numbers."""
    bias, *weights = found.rounded
    return chance.model_copy(
        update={
            "bias": bias,
            "weights": dict(zip(chance.weights, weights, strict=True)),
            "spread": found.spread(("bias", *chance.weights)),
        }
    )


def _is_taken(lesson: Lesson) -> bool:
    return lesson.workflow is not None and lesson.workflow.is_accepted
