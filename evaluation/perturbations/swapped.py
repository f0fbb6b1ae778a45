"""Decisions exchange the targets of two exits."""

import random

from evaluation.perturbations.edit import changed, share
from evaluation.perturbations.kinds import PerturbationError
from services.workflow.model import StepKind, Workflow


def with_swapped(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """A share of the decisions is answered wrongly."""
    decisions = list(workflow.of_kind(StepKind.DECISION))
    choices = [step for step in decisions if len({e.target for e in workflow.exits(step.id)}) > 1]
    if not choices:
        raise PerturbationError("no decision leads to two different steps")
    transitions = list(workflow.transitions)
    for step in rng.sample(choices, min(len(choices), share(len(decisions), severity))):
        exits = [i for i, edge in enumerate(workflow.transitions) if edge.source == step.id]
        first = rng.choice(exits)
        targets = workflow.transitions[first].target
        second = rng.choice([i for i in exits if workflow.transitions[i].target != targets])
        for place, other in ((first, second), (second, first)):
            target = workflow.transitions[other].target
            transitions[place] = transitions[place].model_copy(update={"target": target})
    return changed(workflow, workflow.steps, transitions)
