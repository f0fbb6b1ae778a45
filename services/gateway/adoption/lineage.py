"""A candidate and the versions that people made of it, which share all that is said of them."""

from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from services.gateway.tables import WorkflowRow
from services.gateway.ticket.lifecycle import lock_ticket_of
from services.gateway.ticket.queries import no_workflow
from services.workflow.model import Workflow


@dataclass(frozen=True)
class Lineage:
    """One workflow in the line of its versions."""

    workflow_id: str
    ticket_id: str
    candidate_id: str
    latest_id: str
    """The last version; the candidate itself where there is none."""
    walk: int
    """The walk of its ticket that made the candidate."""


def lineage_of(session: Session, workflow_id: str, *, to_change: bool = False) -> Lineage:
    """The line that a workflow is of.

    With `to_change` nobody else changes anything about its ticket until the transaction ends.

    Raises:
        WorkflowNotFoundError: No such workflow.
    """
    if to_change:
        lock_ticket_of(session, workflow_id)
    row = session.get(WorkflowRow, workflow_id)
    if row is None:
        raise no_workflow(workflow_id)
    candidate_id = row.candidate_id or row.id
    latest = (
        select(WorkflowRow.id)
        .where(
            WorkflowRow.ticket_id == row.ticket_id,
            WorkflowRow.walk == row.walk,
            or_(WorkflowRow.id == candidate_id, WorkflowRow.candidate_id == candidate_id),
        )
        .order_by(WorkflowRow.version.desc())
        .limit(1)
    )
    return Lineage(row.id, row.ticket_id, candidate_id, session.scalars(latest).one(), row.walk)


def stored_workflow(session: Session, workflow_id: str) -> Workflow:
    """The workflow as it is stored."""
    body = select(WorkflowRow.body).where(WorkflowRow.id == workflow_id)
    return Workflow.model_validate_json(session.scalars(body).one())


def next_rank(session: Session, row: WorkflowRow) -> int:
    """Behind all that the walk and people made."""
    of_walk = (WorkflowRow.ticket_id == row.ticket_id, WorkflowRow.walk == row.walk)
    return (session.scalar(select(func.max(WorkflowRow.rank)).where(*of_walk)) or 0) + 1
