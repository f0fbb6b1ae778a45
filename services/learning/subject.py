"""What can be learned on site: numbers, cases that teach them, and how well they foretell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from services.gateway.adoption.lessons import Lesson
from services.kit.fits.fitted import FittedFile
from services.learning.box_words import BoxLesson

LIKELIEST = 0.98
"""No chance counts for more, so that one surprise does not weigh more than all else."""
BASE_RATE = 1.0
"""Variance of a first number, which tells how often something is so: each team has its own."""
_JUDGES = 3
"""One case in so many judges what the others taught: the last ones."""


AnyLesson = Lesson | BoxLesson
Taught = TypeVar("Taught", bound=AnyLesson)


@dataclass(frozen=True)
class Weighed(Generic[Taught]):
    """A lesson, and what it counts."""

    lesson: Taught
    weight: float = 1.0


def parted(
    lessons: Sequence[Weighed[Taught]],
) -> tuple[Sequence[Weighed[Taught]], Sequence[Weighed[Taught]]]:
    """Those to learn from, and the last third, which judges what they taught."""
    cut = len(lessons) - len(lessons) // _JUDGES
    return lessons[:cut], lessons[cut:]


def log_chance(chance: float, *, is_so: bool) -> float:
    """Log of the chance that was given to what came; the chance is that it is so."""
    bounded = min(LIKELIEST, max(1 - LIKELIEST, chance))
    return math.log(bounded if is_so else 1 - bounded)


class Subject(Protocol):
    """One kind of numbers. `fit` is always of the subject's own class."""

    @property
    def numbers(self) -> type[FittedFile]:
        """Their class."""

    def teaches(self, lesson: AnyLesson) -> bool:
        """Whether the numbers can be learned from it."""

    def learn(self, shipped: Any, lessons: Sequence[Weighed[Any]]) -> FittedFile:  # noqa: ANN401
        """The numbers that follow from what is shipped and these."""

    def foretold(self, fit: Any, lesson: Any) -> float | None:  # noqa: ANN401
        """Log of the chance that these numbers gave to what came; None where that is not known."""
