"""Human activity on a ticket: where there is some, nothing may change under people's hands."""

from collections.abc import Collection

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from services.kit.access.caller import CallerKind
from services.kit.tables import AuditRow
from services.tickets.tables import TicketRow
from services.tickets.ticket.event_kinds import BY_SOURCE

BEFORE_WORK = ("received", "retried", "answered", "not_known", "not_settled", "went_on")
"""Kinds of events by which somebody told of a fault or answered a question: no work on a workflow
yet.
"""
_NO_WORK = (*(f"ticket.{kind}" for kind in BY_SOURCE), "ticket.looked")
"""Audit actions of ticket systems, and of the executor by itself: no work of an engineer."""


def has_human_activity(
    session: Session, ticket_id: str, since: float = 0.0, *, besides: Collection[str] = ()
) -> bool:
    """Return True if anybody but the platform has changed something about it since then.

    Events of the kinds `besides` do not count.
    """
    passed_over = (*_NO_WORK, *(f"ticket.{kind}" for kind in besides))
    by_others = exists().where(
        AuditRow.subject == f"ticket {ticket_id}",
        AuditRow.at > since,
        AuditRow.kind != CallerKind.PLATFORM.value,
        AuditRow.action.not_in(passed_over),
    )
    return bool(session.scalar(select(by_others)))


def is_latest(row: TicketRow, walk: int, status: frozenset[str]) -> bool:
    """Return True if the walk is the latest, ended in this status, and the fault is not over."""
    return row.walks == walk and row.status in status and row.resolved_at is None
