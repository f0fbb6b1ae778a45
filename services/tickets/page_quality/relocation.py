"""Search of a page, as it is now, for the lines on which evidence rests."""

import re
from collections.abc import Sequence

from services.language.words import tokenise

_AROUND = 3
"""Lines before and after the cited ones where a step may have moved by small edits."""
_LEAST_WORDS = 0.8
"""Share of a step's words that its lines must still have: steps leave out markup and small
words, and say conditions in an order of their own.
"""
_SPACES = re.compile(r"\s+")


def locate_command(lines: Sequence[str], command: str, start: int) -> tuple[int, int] | None:
    """Return the line that has the command, the nearest to `start`; None if none has it."""
    wanted = _collapse_spaces(command)
    matches = [
        number
        for number, line in enumerate(lines, 1)
        if wanted and wanted in _collapse_spaces(line)
    ]
    if not matches:
        return None
    nearest = min(matches, key=lambda number: abs(number - start))
    return nearest, nearest


def locate_step(lines: Sequence[str], text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the cited lines if they still have nearly all words of the step; None if not."""
    words = set(tokenise(text))
    around = lines[max(0, start - 1 - _AROUND) : end + _AROUND]
    if not words or not around:
        return None
    page_words = set(tokenise(" ".join(around)))
    if len(words & page_words) < _LEAST_WORDS * len(words):
        return None
    return min(start, len(lines)), min(end, len(lines))


def _collapse_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
