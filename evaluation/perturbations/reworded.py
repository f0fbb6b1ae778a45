"""Steps say the same in other words."""

import random

from evaluation.perturbations.edit import changed, share
from evaluation.perturbations.kinds import PerturbationError
from evaluation.perturbations.wording import reword
from services.workflow.model import Workflow


def reworded(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """A share of the steps is told otherwise."""
    steps = list(workflow.steps)
    places = [i for i, step in enumerate(steps) if step.text.strip()]
    if not places:
        raise PerturbationError("no step has a text to reword")
    for place in rng.sample(places, min(len(places), share(len(steps), severity))):
        text = reword(steps[place].text, rng)
        steps[place] = steps[place].model_copy(update={"text": text})
    return changed(workflow, steps, workflow.transitions)
