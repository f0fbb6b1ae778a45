"""Steps disappear; what led to them leads to what followed."""

import random

from evaluation.perturbations.edit import faults, settled, share, without
from evaluation.perturbations.kinds import PerturbationError
from services.workflow.model import Workflow


def without_some(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """A share of the steps is gone."""
    for _ in range(share(len(workflow.steps), severity)):
        order = rng.sample(workflow.steps, len(workflow.steps))
        fewer = (settled(workflow, without(workflow, step)) for step in order)
        limit = faults(workflow)
        smaller = next((candidate for candidate in fewer if faults(candidate) <= limit), None)
        if smaller is None:
            raise PerturbationError("no step can be taken out and leave a workflow")
        workflow = smaller
    return workflow
