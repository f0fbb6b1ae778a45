"""Does the workflow begin with the fault and end with what is done about it?"""

from services.grounding.evidence import terms_of
from services.language.verbs import begins_with_verb
from services.scorer.criteria.case import Case
from services.scorer.criteria.wording import closes
from services.workflow.model import Step


def opens_with_ticket(case: Case) -> float:
    """How much more of the first step the ticket says than of the others, -1–1."""
    shares = [_of_ticket(case, step) for step in case.workflow.steps]
    if len(shares) < 2:
        return 0.0
    return shares[0] - sum(shares[1:]) / (len(shares) - 1)


def opens_without_order(case: Case) -> float:
    """1 when the first step states something, less by the share of the others that do."""
    steps = case.workflow.steps
    if len(steps) < 2:
        return 0.0
    states = [0.0 if begins_with_verb(step.text) else 1.0 for step in steps]
    return states[0] - sum(states[1:]) / (len(states) - 1)


def ends_with_outcome(case: Case) -> float:
    """Share of the ends that say how it ends (resolved, verify, escalate), minus that before."""
    ends = {step.id for step in case.workflow.steps if not case.workflow.exits(step.id)}
    at_end = [closes(step.text) for step in case.workflow.steps if step.id in ends]
    before = [closes(step.text) for step in case.workflow.steps if step.id not in ends]
    return _share(at_end) - _share(before)


def _of_ticket(case: Case, step: Step) -> float:
    return case.evidence.share(terms_of(step.text), case.ticket_terms)


def _share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
