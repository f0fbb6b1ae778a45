"""The tickets of a delivery as its answer tells of them."""

from typing import Any

from sqlalchemy import Row

from services.contracts.gateway import AcceptedTicket
from services.contracts.ticket import Fit, TicketDraft, TicketStatus
from services.gateway.sources.delivery import Resolution
from services.gateway.tables import TicketRow
from services.gateway.ticket.addresses import ticket_url, workflow_url
from services.gateway.ticket.comments import Comment
from services.workflow.model import WorkflowKind

COLUMNS = (
    TicketRow.id,
    TicketRow.status,
    TicketRow.reason,
    TicketRow.fit,
    TicketRow.is_checked,
    TicketRow.conditions,
    TicketRow.doubtful,
    TicketRow.page_origin,
    TicketRow.kind,
    TicketRow.edited_by,
    TicketRow.against,
    TicketRow.workflow_id,
)
"""What `acknowledge` reads of a ticket."""


def received(draft: TicketDraft, ticket_id: str) -> AcceptedTicket:
    """A ticket that the delivery made."""
    return AcceptedTicket(
        id=ticket_id,
        status=TicketStatus.RECEIVED,
        status_url=ticket_url(ticket_id),
        source=draft.source,
        external_id=draft.external_id,
        occurrence=draft.occurrence,
        created=True,
    )


def acknowledge(
    row: Row[*tuple[Any, ...]], told: TicketDraft | Resolution | Comment, occurrence: str
) -> AcceptedTicket:
    """A ticket that was there before, at this time that it broke."""
    return AcceptedTicket(
        id=row.id,
        status=TicketStatus(row.status),
        status_url=ticket_url(row.id),
        source=told.source,
        external_id=told.external_id,
        occurrence=occurrence,
        created=False,
        reason=row.reason,
        fit=Fit(row.fit) if row.fit else None,
        is_checked=row.is_checked,
        conditions=row.conditions,
        doubtful=row.doubtful,
        page_origin=row.page_origin,
        kind=WorkflowKind(row.kind),
        edited_by=row.edited_by,
        against=tuple(row.against),
        workflow_url=workflow_url(row.workflow_id) if row.workflow_id else None,
    )
