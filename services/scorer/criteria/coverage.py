"""Coverage: what of its page does the workflow leave out?"""

from services.contracts.scorer import Dimension
from services.procedure.evidence.coverage import coverage_signs
from services.scorer.criteria.case import ScoringCase, short
from services.scorer.criteria.weighing import Signs

_NAMED = 2
"""Missing lines that the reason names."""


def signs(case: ScoringCase) -> Signs:
    """How much it holds of what its own page tells."""
    return coverage_signs(case.drawn, case.drawn.told)


def coverage(case: ScoringCase) -> Dimension:
    """How much it holds of what its own page tells, and which of its lines are missing."""
    return Dimension(value=case.weighings.of("coverage").value(signs(case)), reason=_reason(case))


def _reason(case: ScoringCase) -> str:
    told = case.drawn.told.instructing | case.drawn.told.conditional
    if not told:
        return "Its page tells no step to compare with."
    missing = sorted(told - case.drawn.lines_of(case.workflow.steps))
    reason = f"It holds {len(told) - len(missing)} of {len(told)} lines that tell what to do"
    names = "; ".join(short(case.drawn.source.words(line)) for line in missing[:_NAMED])
    return f"{reason}; missing: {names}." if missing else f"{reason}."
