"""A path that ended goes on with the next step instead."""

from collections.abc import Iterator

from evaluation.perturbations.branches import next_after
from evaluation.perturbations.edit import Edit, pruned, redirected
from services.workflow.model import StepKind, Transition, Workflow


def without_stop(workflow: Workflow) -> Iterator[Edit]:
    """Each way to an end; an end that a line says is done before the work goes on."""
    for edge in workflow.transitions:
        end = workflow.by_id[edge.target]
        following = next_after(workflow, edge.source)
        if end.kind is not StepKind.TERMINAL or following is None:
            continue
        if end.citations:
            onward = Transition(source=end.id, target=following.id)
            yield Edit(workflow.steps, [*workflow.transitions, onward])
        else:
            moved = redirected(workflow, edge, following.id)
            yield pruned(Edit(workflow.steps, moved))
