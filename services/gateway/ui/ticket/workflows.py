"""Workflows by the addresses of a ticket's forms."""

from services.contracts.gateway import StoredWorkflow
from services.gateway.ports import Tickets
from services.gateway.ticket.queries import WorkflowNotFoundError


def workflow_of(tickets: Tickets, ticket_id: str, workflow_id: str) -> StoredWorkflow:
    """Return a workflow of this ticket, of an earlier walk or a version too.

    Raises:
        WorkflowNotFoundError: There is no such workflow, or it is another ticket's.
    """
    stored = tickets.workflow(workflow_id)
    if stored.ticket_id != ticket_id:
        raise WorkflowNotFoundError(f"the ticket {ticket_id[:60]!r} has no workflow of that id")
    return stored
