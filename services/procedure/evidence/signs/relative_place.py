"""How the lines of two steps stand to each other."""

import math

from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.page_lines import CitedPages, LinePlace, Lines

_MOST_STEPS = 8
_MOST_QUESTIONS = 5


def beside(source: CitedPages, one: Lines, other: Lines) -> dict[str, float]:
    """Signs of where the second stands, seen from the first."""
    if not one or not other:
        return {"first has lines": float(bool(one)), "second has lines": float(bool(other))}
    a, b = min(one), min(other)
    here, there = source.place(a), source.place(b)
    return {
        "first has lines": 1.0,
        "second has lines": 1.0,
        "distance": math.copysign(math.log1p(abs(b - a)), b - a),
        "before": float(b < a),
        "same line": float(bool(one & other)),
        "same block": float(here.block == there.block > 0),
        **_in_items(here, there),
        **_in_sections(here, there),
        "first is heading": float(source.is_heading(a)),
        "second is heading": float(source.is_heading(b)),
        "headings between": float(source.headings_between(min(a, b), max(a, b))),
    }


def _in_items(here: LinePlace, there: LinePlace) -> dict[str, float]:
    one, other = here.items, there.items
    return {
        "same item": float(bool(one) and one == other),
        "below the item": float(0 < len(one) < len(other) and other[: len(one)] == one),
        "above the item": float(0 < len(other) < len(one) and one[: len(other)] == other),
        "next to the item": float(
            bool(one) and one != other and one[:-1] == other[:-1] and here.lists == there.lists
        ),
        "numbered": float(there.is_numbered),
        "first in a list": float(bool(one)),
        "second in a list": float(bool(other)),
    }


def _in_sections(here: LinePlace, there: LinePlace) -> dict[str, float]:
    one, other = here.sections, there.sections
    common = sum(a == b for a, b in zip(one, other, strict=False))
    return {
        "same section": float(one == other),
        "sections in common": common / max(len(one), len(other), 1),
        "below the section": float(len(other) > len(one) and other[: len(one)] == one),
        "above the section": float(len(one) > len(other) and one[: len(other)] == other),
    }


def between(drawn: Drawn, one: str, other: str) -> dict[str, float]:
    """How many steps of the workflow the page tells between two of them."""
    ranks = drawn.ranks
    if one not in ranks or other not in ranks:
        return {}
    first, last = sorted((ranks[one], ranks[other]))
    asked = sum(first < ranks[step.id] < last for step in drawn.decisions if step.id in ranks)
    steps = ranks[other] - ranks[one]
    return {
        "steps on": float(max(-_MOST_STEPS, min(_MOST_STEPS, steps))),
        "next step": float(steps == 1),
        "questions between": float(min(asked, _MOST_QUESTIONS)),
    }
