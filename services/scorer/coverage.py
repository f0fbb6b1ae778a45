"""Coverage: which known mitigation steps does the workflow leave out?"""

from collections.abc import Mapping
from dataclasses import dataclass

from services.contracts.scorer import Dimension
from services.knowledge.model import IncidentNode
from services.scorer.case import Case, on_scale, short
from services.scorer.evidence import Unit

_COVERED = 0.5
"""Share of a known step's words from which it counts as said."""
_NAMED = 2
"""Missing steps that the reason names."""


@dataclass(frozen=True)
class _Known:
    """A known step of a node, and how much of it the workflow says."""

    unit: Unit
    said: float


def coverage(case: Case) -> Dimension:
    """How much of the best-fitting procedure the workflow holds.

    The procedure is the one the workflow covers best, so that a candidate is measured against what
    it chose; whether it chose well is relevance. The scale is the root of the share: the first
    steps of a procedure matter more than its last remarks.
    """
    rests = _rests(case)
    procedures = [_known(case, node, rests) for node in _nodes(case)]
    known = max((p for p in procedures if p), key=_share, default=[])
    if not known:
        return Dimension(value=1.0, reason="The context knows no step to compare with.")
    missing = [found for found in known if found.said < _COVERED]
    reason = f"It holds {len(known) - len(missing)} of {len(known)} known steps"
    names = "; ".join(short(found.unit.text) for found in missing[:_NAMED])
    return Dimension(
        value=on_scale(_share(known) ** 0.5),
        reason=f"{reason}; missing: {names}." if missing else f"{reason}.",
    )


def _nodes(case: Case) -> list[IncidentNode]:
    return [*(hit.node for hit in case.context.nodes), *case.context.linked]


def _rests(case: Case) -> Mapping[Unit, float]:
    """How well the best step that rests on a sentence says it."""
    rests: dict[Unit, float] = {}
    for found in case.grounded:
        if found.unit:
            rests[found.unit] = max(rests.get(found.unit, 0.0), found.support)
    return rests


def _known(case: Case, node: IncidentNode, rests: Mapping[Unit, float]) -> list[_Known]:
    return [
        _Known(unit, max(rests.get(unit, 0.0), case.evidence.share(unit.terms, case.said)))
        for unit in case.evidence.steps_of(node)
    ]


def _share(known: list[_Known]) -> float:
    return sum(found.said for found in known) / len(known)
