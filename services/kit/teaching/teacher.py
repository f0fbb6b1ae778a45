"""Teachers that are enough to change what others are shown.

One person is one teacher, whatever keys they hold. Whoever sits at a machine where nobody signs in
is alone there and may teach it: nobody else could agree.
"""

from collections.abc import Iterable

from services.kit.access.caller import LOCAL_TEACHER, PERSON_TEACHER

LEAST_TEACHERS = 2
"""Fewest teachers who change what others are shown: one alone may err, or want it to."""
MOST_A_DAY = 30
"""Most subjects of a kind, such as tickets, that one teacher teaches by in 24 hours."""


def are_enough(teachers: Iterable[str]) -> bool:
    """Return True if these may change what others are shown: two, or the machine's own user."""
    distinct = {*teachers} - {""}
    return len(distinct) >= LEAST_TEACHERS or LOCAL_TEACHER in distinct


def is_person(teacher: str) -> bool:
    """Return True for a person: their words are shown as theirs, for another one to decide."""
    return teacher == LOCAL_TEACHER or teacher.startswith(PERSON_TEACHER)


def are_heard(teachers: Iterable[str]) -> bool:
    """Return True if what they wrote is shown to be decided on: one is a person, or two agree."""
    distinct = {*teachers}
    return any(map(is_person, distinct)) or are_enough(distinct)
