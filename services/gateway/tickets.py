"""Tickets on their walk: begun, followed, concluded. Reading is for `queries.py`."""

import time
from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import CursorResult, update
from sqlalchemy.orm import Session

from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft, TicketStatus
from services.gateway.events import add_event
from services.gateway.outcome import Failed, Outcome, Planned, Refused
from services.gateway.tables import ScoreRow, TicketRow, WorkflowRow
from services.kit.database import Database
from services.kit.ids import time_ordered_id
from services.kit.outbox import Outbox

_OPEN = (TicketStatus.RECEIVED.value, TicketStatus.PLANNING.value)


class Tickets:
    """What the walk writes. A ticket is concluded once, whoever walks it how often."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def begin(self, ticket_id: str) -> TicketDraft | None:
        """The ticket, now being planned; None when it is concluded already, or unknown."""
        statement = (
            update(TicketRow)
            .where(TicketRow.id == ticket_id, TicketRow.status.in_(_OPEN))
            .values(status=TicketStatus.PLANNING.value, updated_at=time.time())
            .returning(*(getattr(TicketRow, name) for name in TicketDraft.model_fields))
        )
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
            if row is None:
                return None
            add_event(session, ticket_id, "planning", {})
        return TicketDraft.model_construct(**row._mapping)

    def note(self, ticket_id: str, kind: str, facts: dict[str, object]) -> None:
        """Tell whoever watches how far the walk is."""
        with self._database.session() as session:
            add_event(session, ticket_id, kind, facts)

    def conclude(self, ticket_id: str, outcome: Outcome) -> None:
        """Store how the walk ended and take its task out of the outbox, all or nothing.

        Does nothing to a ticket that is concluded already.

        Raises:
            LostClaimError: Another worker has taken the walk over; nothing is stored.
        """
        with self._database.session() as session:
            if isinstance(outcome, Planned):
                _conclude_planned(session, ticket_id, outcome)
            else:
                _conclude_without(session, ticket_id, outcome)
            self._outbox.finish(session)


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Mark the ticket of a walk that the queue has given up."""
    _conclude_without(session, arguments["ticket_id"], Failed(reason))


def _conclude_planned(session: Session, ticket_id: str, outcome: Planned) -> None:
    ids = [time_ordered_id() for _ in outcome.ranked]
    overall = outcome.ranked[0].score.overall
    if not _close(session, ticket_id, outcome, workflow_id=ids[0], overall=overall):
        return
    for rank, (workflow_id, scored) in enumerate(zip(ids, outcome.ranked, strict=True), start=1):
        session.add(_workflow_row(ticket_id, workflow_id, rank, scored, outcome.seconds))
    session.flush()  # the scores refer to the workflows
    for workflow_id, scored in zip(ids, outcome.ranked, strict=True):
        session.add(_score_row(workflow_id, scored))
    facts = {"workflow_id": ids[0], "overall": overall, "candidates": len(ids)}
    add_event(session, ticket_id, outcome.status.value, facts)


def _conclude_without(session: Session, ticket_id: str, outcome: Refused | Failed) -> None:
    values: dict[str, object] = {"reason": outcome.reason}
    if isinstance(outcome, Refused):
        values["nearest"] = [near.model_dump(mode="json") for near in outcome.nearest]
    if _close(session, ticket_id, outcome, **values):
        add_event(session, ticket_id, outcome.status.value, {"reason": outcome.reason})


def _close(session: Session, ticket_id: str, outcome: Outcome, **values: object) -> bool:
    """Give the ticket its final status, unless it has one: then False."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(_OPEN))
        .values(status=outcome.status.value, updated_at=time.time(), **values)
    )
    return cast("CursorResult[Any]", session.execute(statement)).rowcount == 1


def _workflow_row(
    ticket_id: str,
    workflow_id: str,
    rank: int,
    scored: ScoredCandidate,
    seconds: dict[str, float],
) -> WorkflowRow:
    workflow = scored.candidate.workflow
    return WorkflowRow(
        id=workflow_id,
        ticket_id=ticket_id,
        rank=rank,
        title=workflow.title,
        planner=workflow.provenance.planner if workflow.provenance else "",
        steps=len(workflow.steps),
        body=workflow.model_dump_json(),
        seconds=seconds,
        created_at=time.time(),
    )


def _score_row(workflow_id: str, scored: ScoredCandidate) -> ScoreRow:
    score = scored.score
    return ScoreRow(
        workflow_id=workflow_id,
        overall=score.overall,
        body=score.model_dump_json(),
        findings=list(scored.findings),
        **{name: dimension.value for name, dimension in score.dimensions.items()},
    )
