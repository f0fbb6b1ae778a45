"""Read access to tickets and workflows; stored JSON is passed on without validation."""

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.orm import Session

from services.contracts.gateway import (
    CandidateSummary,
    NearestDocument,
    RelatedTicket,
    StoredWorkflow,
    TicketDetail,
)
from services.contracts.scorer import DIMENSIONS, Score
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft, TicketStatus
from services.contracts.verdict import JudgedWorkflow
from services.kit.errors import NotFoundError
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.kit.sql.short_ids import complete_short_id, get_by_short_id
from services.tickets.tables import ID, ScoreRow, StoredVerdict, TicketRow, WorkflowRow, to_datetime
from services.tickets.ticket.addresses import workflow_url
from services.tickets.ticket.assignment import decision_of
from services.tickets.ticket.comments import list_comments
from services.tickets.ticket.question import current_questions
from services.workflow.lint import lint
from services.workflow.model import Workflow


class TicketNotFoundError(NotFoundError):
    """No ticket has that id."""


class WorkflowNotFoundError(NotFoundError):
    """No workflow has that id."""


_TIMES = ("created_at", "updated_at", "resolved_at", "last_at", "held_at")
_VERDICT = tuple(each.name for each in fields(StoredVerdict))
_ENVELOPE = (
    *("id", "ticket_id", "rank", *_VERDICT, "seconds"),
    *("version", "candidate_id", "base_id", "author"),
)
TICKET_COLUMNS = tuple(getattr(TicketRow, name) for name in TicketDraft.model_fields)
SCORED = func.coalesce(WorkflowRow.candidate_id, WorkflowRow.id)
"""SQL id of the workflow whose scores count: a version has those of its candidate."""
RELATED_WITHIN_S = 3600.0
"""Seconds between two tickets that may have one cause."""
MOST_RELATED = 20


class Queries:
    """Read access to tickets and workflows, for the API and the pages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ticket(self, ticket_id: str) -> TicketDetail:
        """Return a ticket with its candidates, questions, comments, team and related tickets.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            row = get_by_short_id(session, TicketRow, ticket_id)
            ticket_id = row.id if row else ticket_id
            best = row.workflow_id if row else None
            candidates = session.execute(_candidates(best)).all() if best else ()
            triage = decision_of(session, ticket_id)
            related = _related_tickets(session, row) if row else ()
            clarifications = current_questions(session, ticket_id)
            comments = list_comments(session, ticket_id)
        if row is None:
            raise no_ticket(ticket_id)
        fields = {name: getattr(row, name) for name in TicketDetail.model_fields if name in _stored}
        nearest = tuple(NearestDocument.model_validate(near) for near in row.nearest)
        summaries = tuple(_candidate(joined) for joined in candidates)
        times = {name: to_datetime(getattr(row, name)) for name in _TIMES}
        joined: dict[str, Any] = {"nearest": nearest, "candidates": summaries, "triage": triage}
        joined |= {"related": related, "clarifications": clarifications, "comments": comments}
        return TicketDetail(**fields | times | joined)

    def candidates(self, workflow_id: str) -> tuple[CandidateSummary, ...]:
        """Return all candidates that competed with a workflow, itself included, best first.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        with self._database.session() as session:
            rows = session.execute(_candidates(workflow_id)).all()
        if not rows:
            raise no_workflow(workflow_id)
        return tuple(map(_candidate, rows))

    def workflow_json(self, workflow_id: str) -> str:
        """Return a `StoredWorkflow` as JSON.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        row = self._workflow_row(workflow_id)
        judged = JudgedWorkflow(
            **{
                name: getattr(row, name)
                for name in JudgedWorkflow.model_fields
                if hasattr(row, name)
            }
        )
        envelope = {
            **{name: getattr(row, name) for name in _ENVELOPE},
            "findings": _findings(row),
            "created_at": datetime.fromtimestamp(row.created_at, UTC).isoformat(),
            **judged.model_dump(mode="json", include={"verdict", "verdict_words"}),
        }
        return f'{json.dumps(envelope)[:-1]}, "workflow": {row.body}, "score": {row.score_body}}}'

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """Return a candidate or version with its scores.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        row = self._workflow_row(workflow_id)
        return StoredWorkflow(
            **{name: getattr(row, name) for name in _ENVELOPE},
            workflow=Workflow.model_validate_json(row.body),
            score=Score.model_validate_json(row.score_body),
            findings=tuple(_findings(row)),
            created_at=datetime.fromtimestamp(row.created_at, UTC),
        )

    def ticket_id(self, short_id: str) -> str:
        """Return the id of the only ticket whose id begins so; what came if there is none.

        Raises:
            AmbiguousIdError: Several begin so.
        """
        with self._database.session() as session:
            return complete_short_id(session, TicketRow.id, short_id) or short_id

    def workflow_id(self, short_id: str) -> str:
        """Return the id of a workflow as `ticket_id` does that of a ticket."""
        if len(short_id) == ID.length:
            return short_id
        with self._database.session() as session:
            return complete_short_id(session, WorkflowRow.id, short_id) or short_id

    def _workflow_row(self, workflow_id: str) -> Row[*tuple[Any, ...]]:
        statement = (
            select(
                *WorkflowRow.__table__.columns,
                ScoreRow.body.label("score_body"),
                ScoreRow.findings,
                TicketRow.labels,
            )
            .join(ScoreRow, ScoreRow.workflow_id == SCORED)
            .join(TicketRow, TicketRow.id == WorkflowRow.ticket_id)
            .where(WorkflowRow.id == self.workflow_id(workflow_id))
        )
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
        if row is None:
            raise no_workflow(workflow_id)
        return row


def ticket_of_row(row: Row[*tuple[Any, ...]]) -> ScreenedTicket:
    """Return the ticket of a row that has `TICKET_COLUMNS`, and perhaps others."""
    fields = {name: row._mapping[name] for name in TicketDraft.model_fields}
    return ScreenedTicket(TicketDraft.model_construct(**fields | {"teams": tuple(row.teams)}))


def no_ticket(ticket_id: str) -> TicketNotFoundError:
    """Build the error for an id that no ticket has."""
    return TicketNotFoundError(f"no ticket has the id {ticket_id[:60]!r}")


def no_workflow(workflow_id: str) -> WorkflowNotFoundError:
    """Build the error for an id that no workflow has."""
    return WorkflowNotFoundError(f"no workflow has the id {workflow_id[:60]!r}")


_stored = {column.key for column in TicketRow.__table__.columns}


def _candidates(workflow_id: str) -> Select[*tuple[Any, ...]]:
    """Select all candidates of the walk that made a workflow."""
    of = select(WorkflowRow.ticket_id, WorkflowRow.walk).where(WorkflowRow.id == workflow_id)
    walk = of.subquery()
    return (
        select(
            WorkflowRow.id,
            WorkflowRow.title,
            WorkflowRow.rank,
            WorkflowRow.planner,
            WorkflowRow.steps,
            *StoredVerdict.columns(WorkflowRow),
            WorkflowRow.version,
            WorkflowRow.author,
            ScoreRow.overall,
            *(getattr(ScoreRow, name) for name in DIMENSIONS),
        )
        .join(ScoreRow, ScoreRow.workflow_id == SCORED)
        .join(
            walk, and_(WorkflowRow.ticket_id == walk.c.ticket_id, WorkflowRow.walk == walk.c.walk)
        )
        .order_by(WorkflowRow.rank)
    )


def _candidate(row: Row[*tuple[Any, ...]]) -> CandidateSummary:
    summary = dict(row._mapping)
    scores = {name: summary.pop(name) for name in DIMENSIONS}
    return CandidateSummary(**summary, scores=scores, url=workflow_url(row.id))


def _related_tickets(session: Session, ticket: TicketRow) -> tuple[RelatedTicket, ...]:
    """Return other tickets of its family, then of its service, each newest first.

    At most `MOST_RELATED`, within `RELATED_WITHIN_S` of the ticket.
    """
    near = (
        select(TicketRow.id, TicketRow.title, TicketRow.status, TicketRow.created_at)
        .where(
            TicketRow.id != ticket.id,  # ids sort by time, so that an index is used
            TicketRow.id >= first_id_at(ticket.created_at - RELATED_WITHIN_S),
            TicketRow.id < first_id_at(ticket.created_at + RELATED_WITHIN_S),
        )
        .order_by(TicketRow.id.desc())
        .limit(MOST_RELATED)
    )
    related: dict[str, RelatedTicket] = {}
    for column, value, why in (
        (TicketRow.family, ticket.family, "same alert"),
        (TicketRow.service, ticket.service, "same service"),
    ):
        for row in session.execute(near.where(column == value)) if value else ():
            ticket_near = RelatedTicket(
                id=row.id,
                title=row.title,
                status=TicketStatus(row.status),
                why=why,
                created_at=datetime.fromtimestamp(row.created_at, UTC),
            )
            related.setdefault(row.id, ticket_near)
    return tuple(related.values())[:MOST_RELATED]


def _findings(row: Row[*tuple[Any, ...]]) -> list[str]:
    """Return the stored findings of a candidate; lint a version as it is now."""
    if row.candidate_id is None:
        return list(row.findings)
    workflow = Workflow.model_validate_json(row.body)
    return list(map(str, lint(workflow, bindings=row.labels)))
