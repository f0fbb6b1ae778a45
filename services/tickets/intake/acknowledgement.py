"""Tickets of a delivery, as its answer lists them."""

from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from services.contracts.gateway import AcceptedTicket
from services.contracts.ticket import Fit, TicketDraft, TicketStatus
from services.tickets.intake.delivery import Resolution
from services.tickets.tables import StoredVerdict, TicketRow
from services.tickets.ticket.addresses import ticket_url, workflow_url
from services.tickets.ticket.comments import Comment
from services.tickets.ticket.lifecycle import NewTicket
from services.workflow.model import WorkflowKind

COLUMNS = (
    TicketRow.id.label("ticket_id"),
    TicketRow.status,
    TicketRow.reason,
    TicketRow.workflow_id,
    TicketRow.edited_by,
    *StoredVerdict.columns(TicketRow),
)
"""Columns of a ticket that answers are made of."""


def acknowledge(
    ticket: NewTicket | Row[*tuple[Any, ...]],
    item: TicketDraft | Resolution | Comment,
    occurrence: str,
    *,
    created: bool = False,
) -> AcceptedTicket:
    """Build the answer for a ticket, new or with its `COLUMNS`, at this occurrence of its fault."""
    accepted = AcceptedTicket(
        id=ticket.ticket_id,
        status=TicketStatus.RECEIVED,
        status_url=ticket_url(ticket.ticket_id),
        source=item.source,
        external_id=item.external_id,
        occurrence=occurrence,
        created=created,
    )
    if isinstance(ticket, NewTicket):
        return accepted
    return accepted.model_copy(update=current_state(ticket))


def current_state(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    """Return the fields of an answer that change with the ticket, from its `COLUMNS`."""
    return {
        "status": TicketStatus(row.status),
        "reason": row.reason,
        **StoredVerdict.of(row).values(),
        "fit": Fit(row.fit) if row.fit else None,
        "kind": WorkflowKind(row.kind),
        "edited_by": row.edited_by,
        "against": tuple(row.against),
        "workflow_url": workflow_url(row.workflow_id) if row.workflow_id else None,
    }


def read_tickets(session: Session, ids: list[str]) -> dict[str, Row[*tuple[Any, ...]]]:
    """Return the `COLUMNS` of each existing ticket."""
    rows = session.execute(select(*COLUMNS).where(TicketRow.id.in_(ids)))
    return {row.ticket_id: row for row in rows}
