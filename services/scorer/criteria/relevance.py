"""Relevance: does the workflow treat the fault of the ticket?"""

from collections.abc import Mapping

from services.contracts.scorer import Dimension
from services.grounding.grounder import GROUNDED
from services.scorer.criteria.case import ScoringCase
from services.scorer.criteria.weighing import on_scale

_ENOUGH_OF_TICKET = 0.6
"""Share of the weight of the ticket's words that a workflow on the point takes up: tickets hold
names, numbers and output that no workflow repeats."""
_FIT_WEIGHT = 0.7


def relevance(case: ScoringCase) -> Dimension:
    """How well the documents behind the steps fit, and how much of the ticket is taken up."""
    fits = case.fits
    steps = [
        fits.get(found.unit.document_id, 0.0) * min(1.0, found.support / GROUNDED)
        if found.unit
        else 0.0
        for found in case.told
    ]
    fit = sum(steps) / len(steps) if steps else 0.0
    known = case.ticket_terms
    taken = case.evidence.share(known, case.said)
    value = _FIT_WEIGHT * fit + (1 - _FIT_WEIGHT) * min(1.0, taken / _ENOUGH_OF_TICKET)
    return Dimension(value=on_scale(value), reason=_reason(case, fits, taken))


def _reason(case: ScoringCase, fits: Mapping[str, float], taken: float) -> str:
    sources: dict[str, int] = {}
    for found in case.told:
        if found.is_grounded and found.unit:
            sources[found.unit.document_id] = sources.get(found.unit.document_id, 0) + 1
    if not sources:
        return "No step rests on a document that was found for this ticket."
    main = max(sources, key=lambda name: (sources[name], fits.get(name, 0.0)))
    return (
        f"{sources[main]} of {len(case.told)} steps rest on {main}, which fits the ticket at"
        f" {fits.get(main, 0.0):.2f} of the best hit; the workflow takes up {taken:.0%} of what the"
        " ticket says."
    )
