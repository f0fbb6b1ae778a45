"""Coverage: which known mitigation steps and conditions does the workflow leave out?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.contracts.scorer import Dimension
from services.grounding.evidence import Unit
from services.knowledge.model import IncidentNode, SectionRole
from services.language.clauses import mentions_condition
from services.procedure.evidence.coverage import coverage_signs
from services.scorer.criteria.case import ScoringCase, short
from services.scorer.criteria.fit import procedures
from services.scorer.criteria.weighing import Signs
from services.workflow.model import StepKind

_COVERED = 0.5
"""Share of a known step's words from which it counts as said."""
_NAMED = 2
"""Missing steps that the reason names."""
_ENOUGH_DECISIONS = 3
"""Decisions beyond which more of them are no merit."""
_STEPS, _WORDS, _CONDITIONS = 0.3, 0.3, 0.4
"""Weights of the known steps, of the words in them, and of the conditions."""


@dataclass(frozen=True)
class _Known:
    """A known step, and how much of it the workflow says."""

    unit: Unit
    said: float


@dataclass(frozen=True)
class _Procedure:
    """What is known about one incident, against the workflow; shares are 0–1."""

    known: Sequence[_Known]
    fit: float
    words: float
    conditions: float

    @property
    def steps(self) -> float:
        return sum(found.said for found in self.known) / len(self.known)

    @property
    def covered(self) -> float:
        """The whole, in the light of how well the procedure fits the ticket.

        Roots, since the first steps of a procedure matter more than its last remarks.
        """
        shares = _STEPS * math.sqrt(self.steps) + _WORDS * math.sqrt(self.words)
        whole = shares + _CONDITIONS * self.conditions
        return self.fit * self.fit * whole


def signs(case: ScoringCase) -> Signs:
    """How much of the best-fitting procedure it holds, and of what its own page tells."""
    return _signs(case, _best(case))


def _signs(case: ScoringCase, best: _Procedure | None) -> Signs:
    known = best.covered if best else 0.0
    return {"known steps": known, **coverage_signs(case.drawn, case.drawn.told, case.reading)}


def coverage(case: ScoringCase) -> Dimension:
    """How much of the best-fitting procedure the workflow holds."""
    best = _best(case)
    value = case.weighings.of("coverage").value(_signs(case, best))
    if best is None:
        return Dimension(value=value, reason="The context knows no step to compare with.")
    missing = [found for found in best.known if found.said < _COVERED]
    missing.sort(key=lambda found: found.unit.role is SectionRole.CAUSE)
    reason = f"It holds {len(best.known) - len(missing)} of {len(best.known)} known steps"
    names = "; ".join(short(found.unit.text) for found in missing[:_NAMED])
    return Dimension(
        value=value, reason=f"{reason}; missing: {names}." if missing else f"{reason}."
    )


def _best(case: ScoringCase) -> _Procedure | None:
    """The procedure that it holds most of."""
    rests = _rests(case)
    known = [
        _procedure(case, nodes, rests)
        for nodes in procedures(case.context)
        if any(case.evidence.steps_of(node) for node in nodes)
    ]
    return max(known, key=lambda procedure: procedure.covered, default=None)


def _rests(case: ScoringCase) -> Mapping[Unit, float]:
    """How well the best step that rests on a sentence says it."""
    rests: dict[Unit, float] = {}
    for found in case.grounded:
        if found.unit:
            rests[found.unit] = max(rests.get(found.unit, 0.0), found.support)
    return rests


def _procedure(
    case: ScoringCase, nodes: Sequence[IncidentNode], rests: Mapping[Unit, float]
) -> _Procedure:
    units = [unit for node in nodes for unit in case.evidence.steps_of(node)]
    share = case.evidence.share
    words = frozenset(term for unit in units for term in unit.terms)
    return _Procedure(
        known=[
            _Known(unit, max(rests.get(unit, 0.0), share(unit.terms, case.said))) for unit in units
        ],
        fit=max((case.fits.get(name, 0.0) for name in nodes[0].document_ids), default=0.0),
        words=share(words, case.said),
        conditions=_conditions(case, units),
    )


def _conditions(case: ScoringCase, units: Sequence[Unit]) -> float:
    """Decisions of the workflow against the conditions and causes its source states."""
    stated = sum(unit.role is SectionRole.CAUSE or mentions_condition(unit.text) for unit in units)
    wanted = min(stated, _ENOUGH_DECISIONS)
    decisions = sum(
        len(case.workflow.exits(step.id)) > 1 for step in case.workflow.of_kind(StepKind.DECISION)
    )
    return min(1.0, decisions / wanted) if wanted else 1.0
