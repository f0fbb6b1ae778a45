"""Index of the document lines on which tickets rest."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from services.contracts.clarification import PageCard
from services.contracts.gateway import Citing, NearestDocument
from services.contracts.ticket import TicketStatus
from services.kit.sql.database import Database
from services.tickets.tables import CitationRow, TicketRow
from services.workflow.model import Workflow

MOST_CITING = 50
"""Most tickets listed for one document: the newest."""


def store_citations(session: Session, ticket_id: str, workflow_id: str, workflow: Workflow) -> None:
    """Store the lines that the steps of a ticket's chosen workflow cite, each range once."""
    spans = dict.fromkeys(
        (each.document_id, each.start_line, each.end_line)
        for step in workflow.steps
        for each in step.citations
    )
    _add(session, ticket_id, workflow_id, spans)


def store_nearest(
    session: Session, ticket_id: str, nearest: Iterable[NearestDocument | PageCard]
) -> None:
    """Store the documents that came nearest to a ticket: nothing fits it, or they are a choice."""
    _add(
        session,
        ticket_id,
        None,
        ((each.document_id, each.start_line, each.end_line) for each in nearest),
    )


def _add(
    session: Session,
    ticket_id: str,
    workflow_id: str | None,
    spans: Iterable[tuple[str, int, int]],
) -> None:
    rows = [
        {
            "ticket_id": ticket_id,
            "workflow_id": workflow_id,
            "document_id": document_id,
            "start_line": start,
            "end_line": end,
        }
        for document_id, start, end in spans
    ]
    if rows:
        session.execute(insert(CitationRow), rows)


class Citations:
    """Reader of what `store_citations` and `store_nearest` wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_document(self, document_id: str) -> list[Citing]:
        """Return the newest tickets that cite the document or came near it, by latest workflow."""
        mine = CitationRow.document_id == document_id
        newest = (
            select(CitationRow.ticket_id)
            .where(mine)
            .distinct()
            .order_by(CitationRow.ticket_id.desc())
            .limit(MOST_CITING)
        )
        with self._database.session() as session:
            ids = session.scalars(newest).all()
            tickets = session.execute(_TICKETS.where(TicketRow.id.in_(ids))).all()
            rows = session.execute(_SPANS.where(mine, CitationRow.ticket_id.in_(ids))).all()
        lines: dict[tuple[str, str | None], list[tuple[int, int]]] = {}
        for ticket_id, workflow_id, start, end in rows:
            lines.setdefault((ticket_id, workflow_id), []).append((start, end))
        return [
            Citing(
                ticket_id=ticket.id,
                title=ticket.title,
                status=TicketStatus(ticket.status),
                workflow_id=ticket.workflow_id,
                lines=tuple(lines[ticket.id, ticket.workflow_id]),
                created_at=datetime.fromtimestamp(ticket.created_at, UTC),
            )
            for ticket in tickets
            if (ticket.id, ticket.workflow_id) in lines
        ]


_TICKETS = select(
    TicketRow.id, TicketRow.title, TicketRow.status, TicketRow.workflow_id, TicketRow.created_at
).order_by(TicketRow.id.desc())
_SPANS = select(
    CitationRow.ticket_id, CitationRow.workflow_id, CitationRow.start_line, CitationRow.end_line
).order_by(CitationRow.start_line)
