"""Boxes under a condition that does not hold: those nested in them go with them."""

from collections.abc import Sequence
from typing import NamedTuple

from services.contracts.adoption import StepState, StepWork
from services.procedure.checklist.places import nesting
from services.workflow.model import Workflow


class _Since(NamedTuple):
    """The mark that a box goes with."""

    at: float
    mark: StepWork


def with_nested(workflow: Workflow, works: Sequence[StepWork]) -> tuple[StepWork, ...]:
    """Return the work with the nested boxes that go with one whose condition does not hold.

    A nested box goes with it unless it was marked by itself: done or skipped at any time, or opened
    again since. Nothing is stored of it, so that it is open again when the outer mark is undone.
    """
    if not any(each.state is StepState.NOT_APPLICABLE for each in works):
        return tuple(works)
    around, by_step = nesting(workflow), {each.step: each for each in works}
    given_on: dict[str, _Since] = {}
    for step in workflow.steps:
        own, since = by_step.get(step.id), given_on.get(around.get(step.id, ""))
        if own is not None and own.state is StepState.NOT_APPLICABLE:
            given_on[step.id] = _Since(_at(own), own)
        elif since is not None and not (_is_open(own) and _at(own) > since.at):
            given_on[step.id] = since
            if _is_open(own):
                by_step[step.id] = _going_with(own or StepWork(step=step.id), since.mark)
    return tuple(by_step.values())


def _is_open(work: StepWork | None) -> bool:
    return work is None or work.state is StepState.OPEN


def _at(work: StepWork | None) -> float:
    return work.marked_at.timestamp() if work is not None and work.marked_at else 0.0


def _going_with(work: StepWork, outer: StepWork) -> StepWork:
    return work.model_copy(
        update={
            "state": StepState.NOT_APPLICABLE,
            "marked_by": outer.marked_by,
            "marked_at": outer.marked_at,
            "with_step": outer.step,
        }
    )
