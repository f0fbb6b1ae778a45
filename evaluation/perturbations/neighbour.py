"""Remedies stand under the answer of the neighbouring cause."""

from collections.abc import Iterator
from itertools import pairwise

from evaluation.perturbations.branches import behind
from evaluation.perturbations.edit import Edit
from services.workflow.model import Step, StepKind, Workflow


def exchanged(workflow: Workflow) -> Iterator[Edit]:
    """Each two neighbouring branches, their first actions having changed places."""
    gates = behind(workflow)
    openings = {
        edge.target: edge
        for edge, inside in gates.items()
        if edge.target in inside and workflow.by_id[edge.target].kind is StepKind.PROCESS
    }
    ordered = [step for step in workflow.steps if step.id in openings]
    for one, other in pairwise(ordered):
        is_apart = other.id not in gates[openings[one.id]]
        if is_apart and one.id not in gates[openings[other.id]]:
            steps = [_exchanged(step, one, other) for step in workflow.steps]
            yield Edit(steps, workflow.transitions)


def _exchanged(step: Step, one: Step, other: Step) -> Step:
    """Contents move, the graph stays."""
    content = {one.id: other, other.id: one}.get(step.id, step)
    return content.model_copy(update={"id": step.id})
