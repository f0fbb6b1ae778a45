"""Related tickets: of one family of alerts or of one service, at about the same time."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from services.contracts.gateway import RelatedTicket
from services.contracts.ticket import TicketStatus
from services.kit.ids import first_id_at
from services.tickets.tables import TicketRow

WITHIN_S = 3600.0
"""Seconds between two tickets that may have one cause."""

MOST = 20

_COLUMNS = (TicketRow.id, TicketRow.title, TicketRow.status, TicketRow.created_at)


def related_to(session: Session, ticket: TicketRow) -> tuple[RelatedTicket, ...]:
    """Return other tickets of its family, then of its service, each newest first.

    At most `MOST`, within `WITHIN_S` of the ticket.
    """
    related: dict[str, RelatedTicket] = {}
    for column, value, why in (
        (TicketRow.family, ticket.family, "same alert"),
        (TicketRow.service, ticket.service, "same service"),
    ):
        if value:
            for row in session.execute(_near(ticket).where(column == value)):
                related.setdefault(row.id, _related(row, why))
    return tuple(related.values())[:MOST]


def _near(ticket: TicketRow) -> Select[*tuple[Any, ...]]:
    """Select the tickets around its time; ids sort by time, so that an index is used."""
    return (
        select(*_COLUMNS)
        .where(
            TicketRow.id != ticket.id,
            TicketRow.id >= first_id_at(ticket.created_at - WITHIN_S),
            TicketRow.id < first_id_at(ticket.created_at + WITHIN_S),
        )
        .order_by(TicketRow.id.desc())
        .limit(MOST)
    )


def _related(row: Row[*tuple[Any, ...]], why: str) -> RelatedTicket:
    return RelatedTicket(
        id=row.id,
        title=row.title,
        status=TicketStatus(row.status),
        why=why,
        created_at=datetime.fromtimestamp(row.created_at, UTC),
    )
