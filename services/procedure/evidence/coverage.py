"""What the pages tell, and how much of it the workflow has."""

import math
from collections.abc import Mapping

from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.page_lines import LineRoles, Lines


def coverage_signs(drawn: Drawn, told: LineRoles) -> Mapping[str, float]:
    """Shares of what one page tells, and how much of it is missing; all 0 without a known page."""
    done, asked = drawn.lines_of(drawn.actions), drawn.lines_of(drawn.decisions)
    untold = float(bool(drawn.page))
    return {
        "instructions": _share(told.instructing, done, untold),
        "conditions": _share(told.conditional, asked, untold),
        "escalations": _share(told.escalating, done, untold),
        "closings": _share(told.closing, done | asked, untold),
        "jumps": _share(told.jumping, done | asked, untold),
        "instructions missing": math.log1p(len(told.instructing - done)),
        "conditions missing": math.log1p(len(told.conditional - asked)),
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


def _share(wanted: Lines, found: Lines, untold: float) -> float:
    return len(wanted & found) / len(wanted) if wanted else untold
