"""Steps disappear; what led to them leads to what followed."""

import random

from services.workflow.model import Workflow
from services.workflow.perturbing.edit import faults, settled, share, without
from services.workflow.perturbing.kinds import PerturbationError


def without_some(workflow: Workflow, severity: float, rng: random.Random) -> Workflow:
    """A share of the steps is gone."""
    for _ in range(share(len(workflow.steps), severity)):
        order = rng.sample(workflow.steps, len(workflow.steps))
        fewer = (settled(workflow, without(workflow, step)) for step in order)
        limit = faults(workflow)
        found = next((candidate for candidate in fewer if faults(candidate) <= limit), None)
        if found is None:
            raise PerturbationError("no step can be taken out and leave a workflow")
        workflow = found
    return workflow
