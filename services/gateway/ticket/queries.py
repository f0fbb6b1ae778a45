"""Reading tickets and workflows; stored JSON is handed on as it is, not checked again."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, func, select

from services.contracts.gateway import (
    CandidateSummary,
    NearestDocument,
    StoredWorkflow,
    TicketDetail,
)
from services.contracts.scorer import DIMENSIONS, Score
from services.contracts.verdict import JudgedWorkflow
from services.gateway.tables import ScoreRow, TicketRow, WorkflowRow, moment
from services.gateway.ticket.addresses import workflow_url
from services.gateway.ticket.assignment import decision_of
from services.gateway.ticket.comments import comments_of
from services.gateway.ticket.listing.related_tickets import related_to
from services.gateway.ticket.question import told_questions
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database
from services.workflow.lint import lint
from services.workflow.model import Workflow


class TicketNotFoundError(NotFoundError):
    """No ticket has that id."""


class WorkflowNotFoundError(NotFoundError):
    """No workflow has that id."""


_TIMES = ("created_at", "updated_at", "resolved_at", "last_at", "held_at")
_ENVELOPE = (
    *(
        "id",
        "ticket_id",
        "rank",
        "fit",
        "is_checked",
        "conditions",
        "doubtful",
        "page_origin",
        "kind",
        "against",
        "seconds",
    ),
    *("version", "candidate_id", "base_id", "author"),
)
SCORED = func.coalesce(WorkflowRow.candidate_id, WorkflowRow.id)
"""Whose scores a workflow has: a version those of its candidate."""


class Queries:
    """What the API and the pages show."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ticket(self, ticket_id: str) -> TicketDetail:
        """A ticket with its candidates, its questions, its comments, its team and its neighbours.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            row = session.get(TicketRow, ticket_id)
            best = row.workflow_id if row else None
            candidates = session.execute(_candidates(best)).all() if best else ()
            triage = decision_of(session, ticket_id)
            related = related_to(session, row) if row else ()
            asked = told_questions(session, ticket_id)
            said = comments_of(session, ticket_id)
        if row is None:
            raise no_ticket(ticket_id)
        fields = {name: getattr(row, name) for name in TicketDetail.model_fields if name in _stored}
        nearest = tuple(NearestDocument.model_validate(near) for near in row.nearest)
        summaries = tuple(_candidate(found) for found in candidates)
        times = {name: moment(getattr(row, name)) for name in _TIMES}
        found: dict[str, Any] = {"nearest": nearest, "candidates": summaries, "triage": triage}
        found |= {"related": related, "clarifications": asked, "comments": said}
        return TicketDetail(**fields | times | found)

    def standing(self, ticket_ids: Sequence[str]) -> dict[str, Row[*tuple[Any, ...]]]:
        """Status, reason, workflow id and fit of each ticket that exists."""
        statement = select(
            TicketRow.id,
            TicketRow.status,
            TicketRow.reason,
            TicketRow.workflow_id,
            TicketRow.fit,
            TicketRow.is_checked,
            TicketRow.conditions,
            TicketRow.doubtful,
            TicketRow.page_origin,
            TicketRow.kind,
            TicketRow.edited_by,
            TicketRow.against,
        ).where(TicketRow.id.in_(ticket_ids))
        with self._database.session() as session:
            return {row.id: row for row in session.execute(statement)}

    def candidates(self, workflow_id: str) -> tuple[CandidateSummary, ...]:
        """All that competed with a workflow, itself included, best first.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        with self._database.session() as session:
            found = session.execute(_candidates(workflow_id)).all()
        if not found:
            raise no_workflow(workflow_id)
        return tuple(map(_candidate, found))

    def workflow_json(self, workflow_id: str) -> str:
        """A `StoredWorkflow` as JSON.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        row = self._workflow_row(workflow_id)
        envelope = {
            **{name: getattr(row, name) for name in _ENVELOPE},
            "findings": _findings(row),
            "created_at": datetime.fromtimestamp(row.created_at, UTC).isoformat(),
            **_verdict(row),
        }
        return f'{json.dumps(envelope)[:-1]}, "workflow": {row.body}, "score": {row.score_body}}}'

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """A candidate with its scores.

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
            .where(WorkflowRow.id == workflow_id)
        )
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
        if row is None:
            raise no_workflow(workflow_id)
        return row


def no_ticket(ticket_id: str) -> TicketNotFoundError:
    """The refusal of an id that no ticket has."""
    return TicketNotFoundError(f"no ticket has the id {ticket_id[:60]!r}")


def no_workflow(workflow_id: str) -> WorkflowNotFoundError:
    """The refusal of an id that no workflow has."""
    return WorkflowNotFoundError(f"no workflow has the id {workflow_id[:60]!r}")


_stored = {column.key for column in TicketRow.__table__.columns}


def _candidates(workflow_id: str) -> Select[*tuple[Any, ...]]:
    """All that competed with a workflow, in the walk that made it."""
    of = select(WorkflowRow.ticket_id, WorkflowRow.walk).where(WorkflowRow.id == workflow_id)
    walk = of.subquery()
    return (
        select(
            WorkflowRow.id,
            WorkflowRow.title,
            WorkflowRow.rank,
            WorkflowRow.planner,
            WorkflowRow.steps,
            WorkflowRow.fit,
            WorkflowRow.is_checked,
            WorkflowRow.conditions,
            WorkflowRow.doubtful,
            WorkflowRow.page_origin,
            WorkflowRow.kind,
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
    fields = dict(row._mapping)
    scores = {name: fields.pop(name) for name in DIMENSIONS}
    return CandidateSummary(**fields, scores=scores, url=workflow_url(row.id))


def _verdict(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    judged = JudgedWorkflow(
        fit=row.fit,
        is_checked=row.is_checked,
        conditions=row.conditions,
        doubtful=row.doubtful,
        page_origin=row.page_origin,
        kind=row.kind,
        author=row.author,
    )
    return judged.model_dump(mode="json", include={"verdict", "verdict_words"})


def _findings(row: Row[*tuple[Any, ...]]) -> list[str]:
    """Of a candidate as its scorer told them; a version is checked as it is now."""
    if row.candidate_id is None:
        return list(row.findings)
    workflow = Workflow.model_validate_json(row.body)
    return list(map(str, lint(workflow, bindings=row.labels)))
