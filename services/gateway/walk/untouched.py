"""Whether anybody has worked with a ticket, so that nothing may change under their hands."""

from collections.abc import Collection

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from services.gateway.tables import TicketRow
from services.gateway.ticket.event_kinds import BY_SOURCE
from services.kit.access.caller import Kind
from services.kit.tables import AuditRow

BEFORE_WORK = ("received", "retried", "answered", "not_known", "not_settled", "went_on")
"""Kinds of events by which somebody told of a fault or answered a question: no work on a workflow
yet."""
_NO_WORK = (*(f"ticket.{kind}" for kind in BY_SOURCE), "ticket.looked")
"""What a ticket system says is no work of an engineer, nor is what the executor sees by itself."""


def is_worked_with(
    session: Session, ticket_id: str, since: float = 0.0, *, besides: Collection[str] = ()
) -> bool:
    """Whether anybody but the platform itself has changed something about it since then.

    Events of the kinds `besides` do not count.
    """
    passed_over = (*_NO_WORK, *(f"ticket.{kind}" for kind in besides))
    by_others = exists().where(
        AuditRow.subject == f"ticket {ticket_id}",
        AuditRow.at > since,
        AuditRow.kind != Kind.PLATFORM.value,
        AuditRow.action.not_in(passed_over),
    )
    return bool(session.scalar(select(by_others)))


def is_latest(row: TicketRow, walk: int, status: frozenset[str]) -> bool:
    """Whether this walk is its latest, has ended so, and its fault is not over."""
    return row.walks == walk and row.status in status and row.resolved_at is None
