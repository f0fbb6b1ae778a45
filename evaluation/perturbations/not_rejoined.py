"""A branch that came back to the common path ends."""

from collections.abc import Iterator

from evaluation.perturbations.branches import Behind, behind, gate_of, plain_end
from evaluation.perturbations.edit import Edit, redirected
from services.workflow.model import StepKind, Transition, Workflow


def ended(workflow: Workflow) -> Iterator[Edit]:
    """Each action that leads out of its branch, now leading to an end or being one."""
    gates, end = behind(workflow), plain_end(workflow)
    for edge in workflow.transitions:
        if _rejoins(workflow, edge, gates):
            others = [other for other in workflow.transitions if other != edge]
            yield Edit(workflow.steps, redirected(workflow, edge, end.id) if end else others)


def _rejoins(workflow: Workflow, edge: Transition, gates: Behind) -> bool:
    source, target = workflow.by_id[edge.source], workflow.by_id[edge.target]
    gate = gate_of(source.id, gates)
    is_out = gate is not None and target.id not in gates[gate]
    return is_out and source.kind is StepKind.PROCESS and target.kind is not StepKind.TERMINAL
