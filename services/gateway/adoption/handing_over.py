"""A page that is followed to the box which says to hand over: ticked, and its work ended there."""

from sqlalchemy.orm import Session

from services.contracts.adoption import PartOfMark, StepState
from services.gateway.adoption.lineage import lineage_of, stored_workflow
from services.gateway.adoption.marking import put_mark
from services.gateway.adoption.standing import said_of
from services.procedure.checklist.build import HAND_OVER
from services.workflow.model import Step, StepKind, Workflow


def record_hand_over(session: Session, workflow_id: str, step_id: str) -> None:
    """Tick the box and say that the work ended with a hand-over, in the caller's transaction.

    Raises:
        WorkflowNotFoundError: No such workflow.
        StepNotFoundError: It has no such step.
    """
    workflow = stored_workflow(session, lineage_of(session, workflow_id).workflow_id)
    put_mark(session, workflow_id, step_id, PartOfMark(state=StepState.DONE))
    if ending := _ending(workflow):
        seen = f"at “{workflow.by_id[step_id].text}”"
        put_mark(session, workflow_id, ending.id, PartOfMark(branch=HAND_OVER, seen=seen))


def take_back_hand_over(session: Session, workflow_id: str) -> None:
    """Open again how the work ended, where it was with a hand-over; the box stays ticked.

    Raises:
        WorkflowNotFoundError: No such workflow.
    """
    line = lineage_of(session, workflow_id)
    ending = _ending(stored_workflow(session, workflow_id))
    marks = {said.work.step: said.work for said in said_of(session, line.candidate_id)}
    if ending and ending.id in marks and marks[ending.id].branch == HAND_OVER:
        put_mark(session, workflow_id, ending.id, PartOfMark(state=StepState.OPEN, seen=""))


def _ending(workflow: Workflow) -> Step | None:
    """Return the question how the work ended; a workflow that was read from a page has none."""
    return next(
        (
            step
            for step in workflow.of_kind(StepKind.DECISION)
            if step.implied and any(edge.condition == HAND_OVER for edge in workflow.exits(step.id))
        ),
        None,
    )
