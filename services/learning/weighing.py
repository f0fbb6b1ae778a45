"""What each lesson counts: a hundred alerts of one kind are no hundred proofs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from services.contracts.adoption import Judgement
from services.learning.subject import AnyLesson, Taught, Weighed

_SAME_OF_ALL = 10
"""Kinds of tickets, or pages, of which a person must say the same before none of it counts."""


@dataclass(frozen=True)
class Counted(Generic[Taught]):
    """The lessons that count, and how many do not."""

    lessons: tuple[Weighed[Taught], ...]
    left_out: int
    """Of people who say the same of everything."""


def weighed(lessons: Sequence[Taught]) -> Counted[Taught]:
    """Lessons of one kind count as the root of their number; words alone from who ever differs."""
    unvaried = _unvaried(lessons)
    kept = [each for each in lessons if not each.said_by or each.said_by not in unvaried]
    often = Counter(each.kind for each in kept)
    return Counted(
        tuple(Weighed(each, float(often[each.kind]) ** -0.5) for each in kept),
        len(lessons) - len(kept),
    )


def _unvaried(lessons: Sequence[AnyLesson]) -> set[str]:
    said: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for each in lessons:
        if each.said_by:
            said[each.said_by][each.kind] = each.said
    return {
        who
        for who, by_kind in said.items()
        if len(by_kind) >= _SAME_OF_ALL and len(set(by_kind.values())) == 1
    }
