"""From what happens to tickets to what is counted."""

from collections.abc import Mapping

from services.contracts.scorer import ScoredCandidate
from services.gateway.metrics import (
    ANSWERS,
    CANDIDATES,
    CHANCE,
    DEGRADED,
    JUDGED_STEPS,
    JUDGED_WORKFLOWS,
    JUDGEMENTS,
    QUESTION_OUTCOMES,
    QUESTIONS,
    SCORE,
    STEPS,
    TRIAGE,
    WRITE_BACKS,
)
from services.gateway.ticket.outcome import Outcome, Planned
from services.workflow.model import Workflow


def count_event(kind: str, facts: Mapping[str, object]) -> None:
    """Something that happened to a ticket, once it is stored."""
    match kind:
        case "planned":
            ANSWERS.labels(str(facts["fit"])).inc()
        case "refused" | "failed":
            ANSWERS.labels(kind).inc()
        case "triaged" | "assigned":
            outcome = "assigned" if facts["team"] else "abstained"
            TRIAGE.labels(str(facts["by"]), outcome).inc()
        case "accepted" | "rejected":
            JUDGED_WORKFLOWS.labels(kind).inc()
        case "judged" if facts["verdict"] in JUDGEMENTS:
            JUDGED_STEPS.labels(str(facts["verdict"])).inc()
        case "told" | "not_told":
            WRITE_BACKS.labels(str(facts["target"]), kind).inc()
        case _ if kind in QUESTION_OUTCOMES:
            QUESTIONS.labels(kind).inc()


def count_walk(outcome: Outcome) -> None:
    """What a walk has come to."""
    if not isinstance(outcome, Planned):
        _count_missing(getattr(outcome, "degraded", ()))
        return
    _count_missing(outcome.degraded)
    for place, scored in enumerate(outcome.ranked):
        CANDIDATES.labels(_writer(scored), "no" if place else "yes").inc()
    best = outcome.ranked[0]
    _count_steps(best.candidate.workflow)
    if "scorer" not in outcome.degraded:
        _count_score(best)


def _count_missing(parts: tuple[str, ...]) -> None:
    for part in parts:
        DEGRADED.labels(part).inc()


def _writer(scored: ScoredCandidate) -> str:
    provenance = scored.candidate.workflow.provenance
    return provenance.planner if provenance else "unknown"


def _count_steps(workflow: Workflow) -> None:
    supported = sum(step.is_sourced for step in workflow.steps)
    STEPS.labels("yes").inc(supported)
    STEPS.labels("no").inc(len(workflow.steps) - supported)


def _count_score(scored: ScoredCandidate) -> None:
    SCORE.labels("overall").observe(scored.score.overall)
    for name, dimension in scored.score.dimensions.items():
        SCORE.labels(name).observe(dimension.value)
    if scored.score.chance is not None:
        CHANCE.observe(scored.score.chance)
