"""Outcomes of a walk, and their metrics."""

from dataclasses import dataclass, field

from services.contracts.gateway import NearestDocument
from services.contracts.retrieval import PageSigns
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import Fit, TicketStatus
from services.contracts.triage import TriageDecision
from services.tickets.metrics import CANDIDATES, CHANCE, DEGRADED, SCORE, STEPS
from services.tickets.ticket.question import ClarifyingQuestion


@dataclass(frozen=True)
class FitVerdict:
    """Judgement of how surely one candidate is the answer."""

    fit: Fit
    against: tuple[str, ...] = ()
    """Objections to it, in words; empty if it surely fits."""


@dataclass(frozen=True)
class ServedPages:
    """Retrieved pages, each with the signs that spoke for it."""

    pages: tuple[PageSigns, ...]
    """Best first."""
    is_alert: bool


@dataclass(frozen=True)
class PlannedOutcome:
    """Candidates, best first, at least one, each with how surely it is the answer."""

    ranked: tuple[ScoredCandidate, ...]
    verdicts: tuple[FitVerdict, ...]
    seconds: dict[str, float]
    questions: tuple[ClarifyingQuestion, ...] = ()
    """Questions whose answers would improve it, the best first."""
    degraded: tuple[str, ...] = ()
    """Names of what did not answer, so that the walk went on without."""
    asks_page: bool = False
    """True if a model is to be asked which of the retrieved pages treats the fault."""
    served: ServedPages | None = None
    status: TicketStatus = field(default=TicketStatus.PLANNED, init=False)


@dataclass(frozen=True)
class RefusedOutcome:
    """Refusal: no known procedure fits."""

    reason: str
    nearest: tuple[NearestDocument, ...] = ()
    triage: TriageDecision | None = None
    """Team that the ticket goes to instead."""
    questions: tuple[ClarifyingQuestion, ...] = ()
    degraded: tuple[str, ...] = ()
    served: ServedPages | None = None
    status: TicketStatus = field(default=TicketStatus.REFUSED, init=False)


@dataclass(frozen=True)
class FailedOutcome:
    """Failure: the walk broke, and would break again."""

    reason: str
    questions: tuple[ClarifyingQuestion, ...] = field(default=(), init=False)
    degraded: tuple[str, ...] = field(default=(), init=False)
    status: TicketStatus = field(default=TicketStatus.FAILED, init=False)


WalkOutcome = PlannedOutcome | RefusedOutcome | FailedOutcome


def count_outcome(outcome: WalkOutcome) -> None:
    """Update the metrics with a walk's outcome."""
    for part in outcome.degraded:
        DEGRADED.labels(part).inc()
    if not isinstance(outcome, PlannedOutcome):
        return
    for place, scored in enumerate(outcome.ranked):
        provenance = scored.candidate.workflow.provenance
        writer = provenance.planner if provenance else "unknown"
        CANDIDATES.labels(writer, "no" if place else "yes").inc()
    best = outcome.ranked[0]
    steps = best.candidate.workflow.steps
    supported = sum(step.is_sourced for step in steps)
    STEPS.labels("yes").inc(supported)
    STEPS.labels("no").inc(len(steps) - supported)
    if "scorer" in outcome.degraded:
        return
    SCORE.labels("overall").observe(best.score.overall)
    for name, dimension in best.score.dimensions.items():
        SCORE.labels(name).observe(dimension.value)
    if best.score.chance is not None:
        CHANCE.observe(best.score.chance)
