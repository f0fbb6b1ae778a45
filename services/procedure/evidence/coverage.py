"""What the pages tell, and how much of it the workflow has."""

import math
from collections.abc import Mapping

from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.page_lines import LineRoles, Lines

NEUTRAL = 0.75
"""Shares that another reading would give, where there is none: about what careful drawings have."""


def coverage_signs(drawn: Drawn, told: LineRoles, reading: Drawn | None) -> Mapping[str, float]:
    """Shares of what one page tells, and how much of the workflow the page does not tell."""
    done, asked = drawn.lines_of(drawn.actions), drawn.lines_of(drawn.decisions)
    return {
        "instructions": _share(told.instructing, done),
        "conditions": _share(told.conditional, asked),
        "escalations": _share(told.escalating, done),
        "closings": _share(told.closing, done | asked),
        "jumps": _share(told.jumping, done | asked),
        "instructions missing": math.log1p(len(told.instructing - done)),
        "conditions missing": math.log1p(len(told.conditional - asked)),
        **_against(reading, done, asked),
    }


def brevity_signs(drawn: Drawn, told: LineRoles) -> Mapping[str, float]:
    """Shares of the steps that repeat others, that no instruction says, and that are ends."""
    steps = drawn.workflow.steps
    number = max(1, len(steps))
    says = told.instructing | told.conditional | told.escalating
    lines = [(step.kind, drawn.lines[step.id]) for step in steps if drawn.lines[step.id]]
    silent = [s for s in steps if s.citations and not s.implied and not drawn.lines[s.id] & says]
    return {
        "beside instructions": len(silent) / number,
        "repeated": (len(lines) - len(set(lines))) / number,
        "ends": sum(not drawn.workflow.exits(step.id) for step in steps) / number,
        "implied": sum(step.implied for step in steps) / number,
    }


def _share(wanted: Lines, found: Lines) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


def _against(reading: Drawn | None, done: Lines, asked: Lines) -> dict[str, float]:
    """Shares of the steps and questions of another reading that the workflow has."""
    if reading is None:
        share = NEUTRAL if done or asked else 0.0
        return {"steps of a reading": share, "questions of a reading": share}
    steps = [lines for s in reading.actions if (lines := reading.lines[s.id])]
    questions = [lines for s in reading.decisions if (lines := reading.lines[s.id])]
    return {
        "steps of a reading": _met(steps, done),
        "questions of a reading": _met(questions, asked),
    }


def _met(wanted: list[Lines], found: Lines) -> float:
    return sum(bool(lines & found) for lines in wanted) / len(wanted) if wanted else 1.0
