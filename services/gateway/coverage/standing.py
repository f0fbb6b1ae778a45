"""Whether a page still says what something was seen of, and where."""

import re
from collections.abc import Sequence

from services.language.words import tokenise

_AROUND = 3
"""Lines before and after the cited ones where a step may have moved by small edits."""
_LEAST_WORDS = 0.8
"""Of a step's words, those that the lines have where they still say it: steps leave out markup and
small words, and say conditions in an order of their own."""
_SPACES = re.compile(r"\s+")


def place_of_command(lines: Sequence[str], command: str, start: int) -> tuple[int, int] | None:
    """The line that has the command, the one nearest to `start`; None where none has it."""
    wanted = _flat(command)
    having = [number for number, line in enumerate(lines, 1) if wanted and wanted in _flat(line)]
    if not having:
        return None
    nearest = min(having, key=lambda number: abs(number - start))
    return nearest, nearest


def place_of_step(lines: Sequence[str], text: str, start: int, end: int) -> tuple[int, int] | None:
    """The cited lines, where they still have nearly all words of the step; None where not."""
    words = set(tokenise(text))
    around = lines[max(0, start - 1 - _AROUND) : end + _AROUND]
    if not words or not around:
        return None
    having = set(tokenise(" ".join(around)))
    if len(words & having) < _LEAST_WORDS * len(words):
        return None
    return min(start, len(lines)), min(end, len(lines))


def _flat(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
