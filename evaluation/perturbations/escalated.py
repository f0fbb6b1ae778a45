"""Everybody is escalated."""

from collections.abc import Iterator

from evaluation.perturbations.branches import behind, gate_of, hands_over
from evaluation.perturbations.edit import Edit, inserted_before, pruned, without
from services.workflow.model import Step, StepKind, Transition, Workflow


def escalated(workflow: Workflow) -> Iterator[Edit]:
    """Each escalation, put at the end of every path or before the question that it stands under."""
    gates = behind(workflow)
    for step in filter(hands_over, workflow.steps):
        gate = gate_of(step.id, gates)
        if step.kind is StepKind.TERMINAL:
            yield pruned(_at_every_end(workflow, step))
        elif step.kind is StepKind.PROCESS and gate:
            yield inserted_before(without(workflow, step), step, gate.source)


def _at_every_end(workflow: Workflow, last: Step) -> Edit:
    """Ends that a line says are done first; the others are replaced."""
    ends = [e for e in workflow.of_kind(StepKind.TERMINAL) if e != last and not hands_over(e)]
    bare = {end.id for end in ends if not end.citations}
    moved = [
        edge.model_copy(update={"target": last.id}) if edge.target in bare else edge
        for edge in workflow.transitions
    ]
    onward = [Transition(source=e.id, target=last.id) for e in ends if e.id not in bare]
    return Edit(workflow.steps, [*moved, *onward])
