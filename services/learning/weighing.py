"""What each lesson counts: a hundred alerts of one kind are no hundred proofs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from services.contracts.adoption import Judgement
from services.gateway.adoption.lessons import Lesson
from services.learning.subject import Weighed

_SAME_OF_ALL = 10
"""Verdicts of one person, all alike and without a tick, from which on none of them counts."""


class Counted(NamedTuple):
    """The lessons that count, and how many do not."""

    lessons: tuple[Weighed, ...]
    left_out: int
    """Of people who say the same of everything."""


def weighed(lessons: Sequence[Lesson]) -> Counted:
    """Lessons of one kind count as the root of their number; words alone from who ever differs."""
    unvaried = _unvaried(lessons)
    kept = [each for each in lessons if not each.said_by or each.said_by not in unvaried]
    often = Counter(each.kind for each in kept)
    return Counted(
        tuple(Weighed(each, float(often[each.kind]) ** -0.5) for each in kept),
        len(lessons) - len(kept),
    )


def _unvaried(lessons: Sequence[Lesson]) -> set[str]:
    said: dict[str, Counter[Judgement]] = defaultdict(Counter)
    for each in lessons:
        if each.said_by:
            said[each.said_by][each.said] += 1
    return {who for who, c in said.items() if len(c) == 1 and c.total() >= _SAME_OF_ALL}
