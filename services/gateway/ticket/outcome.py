"""How a walk can end, and what is counted of it."""

from dataclasses import dataclass, field

from services.contracts.gateway import NearestDocument
from services.contracts.retrieval import PageSigns
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import Fit, TicketStatus
from services.contracts.triage import TriageDecision
from services.gateway.metrics import CANDIDATES, CHANCE, DEGRADED, SCORE, STEPS
from services.gateway.ticket.question import Question


@dataclass(frozen=True)
class Verdict:
    """How surely one candidate is the answer."""

    fit: Fit
    against: tuple[str, ...] = ()
    """What speaks against it; empty where it surely fits."""


@dataclass(frozen=True)
class Served:
    """What spoke for which page."""

    pages: tuple[PageSigns, ...]
    """Best first."""
    is_alert: bool


@dataclass(frozen=True)
class Planned:
    """Candidates, best first, at least one, each with how surely it is the answer."""

    ranked: tuple[ScoredCandidate, ...]
    verdicts: tuple[Verdict, ...]
    seconds: dict[str, float]
    questions: tuple[Question, ...] = ()
    """What an answer would make it better by, the best question first."""
    degraded: tuple[str, ...] = ()
    """What the walk went on without."""
    asks_page: bool = False
    """Whether a model is to be asked which of the pages found treats the fault."""
    served: Served | None = None
    status: TicketStatus = field(default=TicketStatus.PLANNED, init=False)


@dataclass(frozen=True)
class Refused:
    """Nothing known fits."""

    reason: str
    nearest: tuple[NearestDocument, ...] = ()
    triage: TriageDecision | None = None
    """The team that it goes to instead."""
    questions: tuple[Question, ...] = ()
    degraded: tuple[str, ...] = ()
    served: Served | None = None
    status: TicketStatus = field(default=TicketStatus.REFUSED, init=False)


@dataclass(frozen=True)
class Failed:
    """The walk broke, and would break again."""

    reason: str
    questions: tuple[Question, ...] = field(default=(), init=False)
    degraded: tuple[str, ...] = field(default=(), init=False)
    status: TicketStatus = field(default=TicketStatus.FAILED, init=False)


Outcome = Planned | Refused | Failed


def count_outcome(outcome: Outcome) -> None:
    """Count what a walk has come to."""
    for part in outcome.degraded:
        DEGRADED.labels(part).inc()
    if not isinstance(outcome, Planned):
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
    if "scorer" not in outcome.degraded:
        _count_score(best)


def _count_score(scored: ScoredCandidate) -> None:
    SCORE.labels("overall").observe(scored.score.overall)
    for name, dimension in scored.score.dimensions.items():
        SCORE.labels(name).observe(dimension.value)
    if scored.score.chance is not None:
        CHANCE.observe(scored.score.chance)
