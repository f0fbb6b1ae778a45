"""Assignment of a ticket: to one person or key at a time, who takes it and gives it back."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.gateway import Taking
from services.kit.access.caller import Caller
from services.kit.errors import ConflictError
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import set_holder
from services.tickets.ticket.queries import no_ticket


class HeldByAnotherError(ConflictError):
    """The ticket is assigned to another person or key."""


def assign(session: Session, ticket_id: str, caller: Caller, request: Taking) -> None:
    """Assign the ticket to the caller, under the caller's present name.

    Raises:
        TicketNotFoundError: No such ticket.
        HeldByAnotherError: It is assigned to somebody whom `request` does not name.
    """
    own_id = caller.lasting_id
    holder, holder_id = _current_assignee(session, ticket_id)
    if holder_id == own_id:
        if holder != caller.name:
            set_holder(session, ticket_id, (caller.name, own_id), instead_of=own_id)
        return
    expected = holder_id if holder and holder == request.from_ else None
    if (holder and expected is None) or not set_holder(
        session, ticket_id, (caller.name, own_id), instead_of=expected
    ):
        name = holder or _current_assignee(session, ticket_id)[0]
        raise HeldByAnotherError(
            f"{name} has this ticket: speak to them, or take it over by naming them"
        )
    kind = "taken_over" if holder else "taken"
    add_events(session, ticket_id, [Note(kind, {"by": caller.name, "from": holder or ""})])


def unassign(session: Session, ticket_id: str, caller: Caller) -> None:
    """Unassign the ticket; a ticket that nobody has stays as it is.

    Raises:
        TicketNotFoundError: No such ticket.
        HeldByAnotherError: It is assigned to somebody else.
    """
    own_id = caller.lasting_id
    holder, holder_id = _current_assignee(session, ticket_id)
    if holder_id is None:
        return
    if holder_id != own_id or not set_holder(session, ticket_id, None, instead_of=own_id):
        raise HeldByAnotherError(f"{holder} has this ticket: who wants it takes it over")
    add_events(session, ticket_id, [Note("given_back", {"by": caller.name})])


def _current_assignee(session: Session, ticket_id: str) -> tuple[str | None, str | None]:
    statement = select(TicketRow.holder, TicketRow.holder_id).where(TicketRow.id == ticket_id)
    row = session.execute(statement).one_or_none()
    if row is None:
        raise no_ticket(ticket_id)
    return row.holder, row.holder_id
