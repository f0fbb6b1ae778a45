"""What had to be asked or checked before a step is gone; the step stays."""

from collections.abc import Iterator

from evaluation.perturbations.branches import behind
from evaluation.perturbations.edit import Edit, pruned, without
from services.language.deeds import is_inspection
from services.workflow.model import StepKind, Transition, Workflow


def without_precondition(workflow: Workflow) -> Iterator[Edit]:
    """Each decision before an action under its answer, and each check before an action."""
    for gate, inside in behind(workflow).items():
        if gate.target in inside and workflow.by_id[gate.target].kind is StepKind.PROCESS:
            yield pruned(_unasked(workflow, gate))
    for edge in workflow.transitions:
        if _is_action(workflow, edge.target) and _is_check(workflow, edge.source):
            yield without(workflow, workflow.by_id[edge.source])


def _unasked(workflow: Workflow, gate: Transition) -> Edit:
    """The decision is gone, and everybody goes the way of this answer."""
    kept = [edge for edge in workflow.transitions if edge.source != gate.source]
    moved = [
        edge.model_copy(update={"target": gate.target}) if edge.target == gate.source else edge
        for edge in kept
    ]
    steps = [step for step in workflow.steps if step.id != gate.source]
    if workflow.steps[0].id == gate.source:
        steps.sort(key=lambda step: step.id != gate.target)
    return Edit(steps, moved)


def _is_action(workflow: Workflow, step_id: str) -> bool:
    step = workflow.by_id[step_id]
    return step.kind is StepKind.PROCESS and not is_inspection(step.text)


def _is_check(workflow: Workflow, step_id: str) -> bool:
    step = workflow.by_id[step_id]
    return step.kind is StepKind.PROCESS and is_inspection(step.text)
