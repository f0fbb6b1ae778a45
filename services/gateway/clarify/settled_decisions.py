"""Decisions of a new workflow that were answered before: they stay, and say which exit holds."""

from collections.abc import Sequence

from services.contracts.scorer import ScoredCandidate
from services.gateway.clarify.dialogue import Dialogue
from services.gateway.ticket.question import known_in
from services.workflow.model import Step, Workflow


def mark_settled(ranked: Sequence[ScoredCandidate], asked: Dialogue) -> tuple[ScoredCandidate, ...]:
    """The candidates with the answered decisions of their workflows marked."""
    return tuple(_of_candidate(scored, asked) for scored in ranked) if asked.facts else (*ranked,)


def _of_candidate(scored: ScoredCandidate, asked: Dialogue) -> ScoredCandidate:
    workflow = _marked(scored.candidate.workflow, asked)
    candidate = scored.candidate.model_copy(update={"workflow": workflow})
    return scored.model_copy(update={"candidate": candidate})


def _marked(workflow: Workflow, asked: Dialogue) -> Workflow:
    if workflow.is_checklist:  # its page is shown as it is
        return workflow
    known = known_in(workflow, asked.facts)
    steps = tuple(
        _settled(step, known[step.id], asked) if step.id in known else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps}) if known else workflow


def _settled(step: Step, answer: str, asked: Dialogue) -> Step:
    said = next(fact.said for fact in reversed(asked.facts) if fact.is_of(step))
    return step.model_copy(update={"settled": answer, "settled_by": f"Answered: {said}"})
