"""A step is taken out of its branch and told to everybody."""

from collections.abc import Iterator

from evaluation.perturbations.branches import behind, gate_of
from evaluation.perturbations.edit import Edit, inserted_before, without
from services.workflow.model import StepKind, Workflow


def unguarded(workflow: Workflow) -> Iterator[Edit]:
    """Each action that stands under an answer, put before the question."""
    gates = behind(workflow)
    for step in workflow.of_kind(StepKind.PROCESS):
        gate = gate_of(step.id, gates)
        if gate:
            yield inserted_before(without(workflow, step), step, gate.source)
