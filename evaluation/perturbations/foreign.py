"""Steps of another workflow come in between."""

import random
from collections.abc import Sequence

from evaluation.perturbations.edit import changed, share, unused_id
from evaluation.perturbations.kinds import PerturbationError
from services.workflow.model import Step, StepKind, Transition, Workflow


def with_foreign(
    workflow: Workflow, severity: float, rng: random.Random, foreign_steps: Sequence[Step]
) -> Workflow:
    """As many of them as a share of the workflow's own steps."""
    if not foreign_steps:
        raise PerturbationError("expected steps of another workflow to put between these")
    number = min(share(len(workflow.steps), severity), len(foreign_steps))
    for step in rng.sample(list(foreign_steps), number):
        workflow = _with_inserted(workflow, step, rng)
    return workflow


def _with_inserted(workflow: Workflow, step: Step, rng: random.Random) -> Workflow:
    """`step` as an action on one of the arrows, or before the start when there is none."""
    new = {"id": unused_id(workflow.steps), "kind": StepKind.PROCESS}
    inserted = step.model_copy(update=new)
    transitions = list(workflow.transitions)
    if not transitions:
        onward = Transition(source=inserted.id, target=workflow.steps[0].id)
        return changed(workflow, [inserted, *workflow.steps], [onward])
    place = rng.randrange(len(transitions))
    edge = transitions[place]
    transitions[place : place + 1] = [
        edge.model_copy(update={"target": inserted.id}),
        Transition(source=inserted.id, target=edge.target),
    ]
    position = workflow.steps.index(workflow.by_id[edge.source]) + 1
    steps = [*workflow.steps[:position], inserted, *workflow.steps[position:]]
    return changed(workflow, steps, transitions)
