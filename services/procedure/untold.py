"""Conditions that a page states and a program leaves out."""

import re
from collections.abc import Iterator, Sequence

from services.procedure.model import Choice, LineRange, Procedure

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_CONDITION = re.compile(
    r"(?:^\s*(?:[-*+>]\s+|\d{1,3}[.)]\s+|\*\*)*|[.:;]\s+)(?:if|unless|otherwise|in case)\b",
    re.IGNORECASE,
)


def untold(procedures: Sequence[Procedure], text: str) -> Iterator[LineRange]:
    """Lines outside code that state a condition and that no node cites, in order."""
    told = {line for procedure in procedures for line in _cited(procedure)}
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        in_code ^= _FENCE.match(line) is not None
        if not in_code and number not in told and _CONDITION.search(line):
            yield number, number


def _cited(procedure: Procedure) -> Iterator[int]:
    for node in procedure.walk():
        arms = node.arms if isinstance(node, Choice) else ()
        for first, last in (*node.lines, *(lines for arm in arms for lines in arm.lines)):
            yield from range(first, last + 1)
