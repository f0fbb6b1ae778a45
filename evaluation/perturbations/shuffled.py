"""Steps exchange places."""

import random

from evaluation.perturbations.edit import changed, share
from evaluation.perturbations.kinds import PerturbationError
from services.workflow.model import StepKind, Workflow


def shuffled(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """Contents move, the graph stays; decisions keep theirs while two other steps can move."""
    steps = list(workflow.steps)
    actions = [i for i, step in enumerate(steps) if step.kind is not StepKind.DECISION]
    places = actions if len(actions) >= 2 else list(range(len(steps)))
    if len(places) < 2:
        raise PerturbationError("one step alone cannot change places")
    chosen = rng.sample(places, min(len(places), max(2, share(len(steps), severity))))
    for place, origin in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        old, new = workflow.steps[place], workflow.steps[origin]
        steps[place] = new.model_copy(update={"id": old.id, "kind": old.kind})
    return changed(workflow, steps, workflow.transitions)
