"""What led back, or past some steps, leads to the next step instead."""

from collections.abc import Iterator

from evaluation.perturbations.branches import next_after
from evaluation.perturbations.edit import Edit, redirected
from services.workflow.model import StepKind, Workflow


def without_jump(workflow: Workflow) -> Iterator[Edit]:
    """Each arrow to a step that is neither the next one nor an end."""
    for edge in workflow.transitions:
        following = next_after(workflow, edge.source)
        is_end = workflow.by_id[edge.target].kind is StepKind.TERMINAL
        if following and not is_end and following.id != edge.target:
            yield Edit(workflow.steps, redirected(workflow, edge, following.id))
