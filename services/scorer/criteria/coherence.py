"""Coherence: is each step done under the right answers, and does each way lead where it should?"""

from services.contracts.scorer import Dimension
from services.procedure.evidence.decide import in_words, least_likely
from services.procedure.evidence.fact import FactKind
from services.scorer.criteria.beliefs import beliefs
from services.scorer.criteria.case import ScoringCase
from services.scorer.criteria.weighing import Signs, on_scale
from services.workflow.lint import Severity

_KINDS = (FactKind.GUARD, FactKind.FREE, FactKind.ARROW, FactKind.END)
_ERROR_COST = 0.04
"""Share of the scale that one lint error takes. Little: workflows with errors rank last anyhow."""
_DOUBTED = 0.5
"""Chance below which a fact is named."""


def signs(case: ScoringCase) -> Signs:
    """How likely its conditions and arrows are."""
    return beliefs(case.decided, *_KINDS)


def coherence(case: ScoringCase) -> Dimension:
    """The chances of its conditions and arrows, less what lint found."""
    errors = sum(finding.severity is Severity.ERROR for finding in case.findings)
    value = case.weighings.of("coherence").value(signs(case)) - 4 * _ERROR_COST * errors
    reason = f"{_reason(case)}; {errors} lint errors." if errors else f"{_reason(case)}."
    return Dimension(value=max(on_scale(0), value), reason=reason)


def _reason(case: ScoringCase) -> str:
    facts = [each for each in case.decided if each.fact.kind in _KINDS]
    doubted = [each for each in facts if each.chance < _DOUBTED]
    worst = least_likely(facts, _KINDS)
    if worst is None:
        return "No line of a page tells whether its steps belong together"
    if not doubted:
        return f"The lines bear out all {len(facts)} conditions and arrows"
    words = in_words(worst.fact, case.drawn)
    return (
        f"The lines speak against {len(doubted)} of {len(facts)} conditions and arrows, most of"
        f" all that {words}"
    )
