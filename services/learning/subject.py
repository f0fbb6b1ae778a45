"""Subjects that can be learned on site: their numbers, their likelihood, their lessons' weights.

A hundred alerts of one kind are not a hundred proofs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from services.contracts.adoption import Judgement
from services.kit.fits.fitted import FittedFile
from services.learning.box_lessons import BoxLesson
from services.tickets.adoption.lessons import Lesson

LIKELIEST = 0.98
"""Largest chance that counts, so that one surprise does not outweigh all else."""
BASE_RATE = 1.0
"""Variance of a first weight, the base rate: each team has its own."""
_JUDGES = 3
"""Divisor of the lessons held out: the last of so many equal parts judges the others."""
_SAME_OF_ALL = 10
"""Number of kinds or pages judged alike at which a person's judgements stop counting."""

AnyLesson = Lesson | BoxLesson
LessonType = TypeVar("LessonType", bound=AnyLesson)


@dataclass(frozen=True)
class WeightedLesson(Generic[LessonType]):
    """Lesson with its weight."""

    lesson: LessonType
    weight: float = 1.0


@dataclass(frozen=True)
class LessonSample(Generic[LessonType]):
    """Lessons that count, with the number of those that do not."""

    lessons: tuple[WeightedLesson[LessonType], ...]
    left_out: int
    """Number of lessons of people who say the same of everything, or whose word does not count."""


def weigh_lessons(lessons: Sequence[LessonType]) -> LessonSample[LessonType]:
    """Weigh lessons of one kind by the root of their number.

    Judgements in words count only from people whose judgements differ; what nobody taught whose
    teaching counts is left out.
    """
    judgements: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for each in lessons:
        if each.judged_by:
            judgements[each.judged_by][each.kind] = each.judgement
    unvaried = {
        who
        for who, by_kind in judgements.items()
        if len(by_kind) >= _SAME_OF_ALL and len(set(by_kind.values())) == 1
    }
    kept = [each for each in lessons if each.teachers and each.judged_by not in unvaried]
    often = Counter(each.kind for each in kept)
    return LessonSample(
        tuple(WeightedLesson(each, float(often[each.kind]) ** -0.5) for each in kept),
        len(lessons) - len(kept),
    )


def split_holdout(
    lessons: Sequence[WeightedLesson[LessonType]],
) -> tuple[Sequence[WeightedLesson[LessonType]], Sequence[WeightedLesson[LessonType]]]:
    """Return the lessons to learn from, and the last third, which judges what they taught."""
    cut = len(lessons) - len(lessons) // _JUDGES
    return lessons[:cut], lessons[cut:]


def log_chance(chance: float, *, is_so: bool) -> float:
    """Return the log of the chance that was given to what happened."""
    bounded = min(LIKELIEST, max(1 - LIKELIEST, chance))
    return math.log(bounded if is_so else 1 - bounded)


class Subject(Protocol):
    """Kind of numbers that is learned. `fit` is always of the subject's own class."""

    @property
    def numbers(self) -> type[FittedFile]:
        """Class of the numbers."""

    def can_learn_from(self, lesson: AnyLesson) -> bool:
        """Return True if the numbers can be learned from the lesson."""

    def learn(self, shipped: Any, lessons: Sequence[WeightedLesson[Any]]) -> FittedFile:  # noqa: ANN401
        """Return the numbers that follow from the shipped ones and these lessons."""

    def log_likelihood(self, fit: Any, lesson: Any) -> float | None:  # noqa: ANN401
        """Return the log of the chance that these numbers gave to what happened, if known."""
