"""Tickets on their walk: opened, followed, concluded. Reading is for `queries.py`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from sqlalchemy import CursorResult, case, func, select, true, update
from sqlalchemy.orm import Session
from sqlalchemy.sql import Executable

from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft, TicketStatus
from services.gateway.clarify.asking import Asking, asked_about, rows_of
from services.gateway.clarify.dialogue import Asked, text_of
from services.gateway.tables import ScoreRow, TicketRow, WorkflowRow
from services.gateway.ticket.assignment import store_of_walk
from services.gateway.ticket.citations import cite, note_nearest
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.outcome import Failed, Outcome, Planned, Refused
from services.gateway.ticket.updates import LEARN_TICKET_TASK
from services.gateway.walk.catch_up import CatchingUp
from services.gateway.walk.fit import Verdict
from services.gateway.writeback.service import WriteBack
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

_OPEN = (TicketStatus.RECEIVED.value, TicketStatus.PLANNING.value)
_DRAFT = tuple(getattr(TicketRow, name) for name in TicketDraft.model_fields)
_UNLESS_PLANNED = case(
    (TicketRow.workflow_id.is_not(None), TicketStatus.PLANNED.value),
    else_=TicketStatus.FAILED.value,
)
"""A walk that breaks takes away no workflow that an earlier one has made."""


@dataclass(frozen=True)
class OpenTicket:
    """A ticket that waits for its workflow."""

    draft: TicketDraft
    created_at: float
    """Seconds since the epoch; of a later walk, when it was asked for."""
    walk: int = 1
    asked: Asked = field(default_factory=Asked)


class _Concluded(NamedTuple):
    seconds: float
    """Since the ticket came."""
    walk: int


class Tickets:
    """What the walk writes. A ticket is concluded once, whoever walks it how often."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        write_back: WriteBack,
        asking: Asking,
        catching_up: CatchingUp,
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._write_back = write_back
        self._asking = asking
        self.catching_up = catching_up

    def open(self, ticket_id: str) -> OpenTicket | None:
        """The ticket; None when it is concluded already, or unknown."""
        began = func.coalesce(TicketRow.began_at, TicketRow.created_at).label("began")
        statement = select(TicketRow.walks, began, *_DRAFT).where(
            TicketRow.id == ticket_id, TicketRow.status.in_(_OPEN)
        )
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
            turns = rows_of(session, ticket_id) if row and row.walks > 1 else ()
        if row is None:
            return None
        fields = dict(row._mapping)
        asked_for, walk = fields.pop("began"), fields.pop("walks")
        fields["teams"] = tuple(fields["teams"])
        draft = TicketDraft.model_construct(**fields)
        return OpenTicket(draft, asked_for, walk, asked_about(turns, text_of(draft)))

    def note(self, ticket_id: str, notes: Sequence[Note]) -> None:
        """Store how far the walk is; nothing when it is concluded already."""
        statement = (
            update(TicketRow)
            .where(TicketRow.id == ticket_id, TicketRow.status.in_(_OPEN))
            .values(status=TicketStatus.PLANNING.value, updated_at=time.time())
        )
        with self._database.session() as session:
            if notes and _changed(session, statement):
                add_events(session, ticket_id, notes)

    def conclude(
        self, ticket_id: str, outcome: Outcome, notes: Sequence[Note] = (), *, walk: int = 1
    ) -> float | None:
        """Store how the walk ended, with the last notes of its progress, all or nothing.

        The walk's task leaves the outbox with it. A system is told by whoever words the question,
        where a model does. Returns the seconds since the ticket came;
        None, and nothing is done to the ticket, when it is concluded already, or was answered since
        this `walk` began and is walked anew.

        Raises:
            LostClaimError: Another worker has taken the walk over; nothing is stored.
        """
        with self._database.session() as session:
            questions = () if isinstance(outcome, Failed) else outcome.questions
            degraded = () if isinstance(outcome, Failed) else outcome.degraded
            concluded = _conclude(session, ticket_id, outcome, notes, walk)
            if concluded is not None:
                asked = self._asking.ask(session, ticket_id, questions)
                add_events(session, ticket_id, asked)
                if not isinstance(outcome, Failed) and not (asked and self._asking.is_worded):
                    self._write_back.put(session, ticket_id)
                if degraded:
                    self.catching_up.put(session, ticket_id, concluded.walk)
                if isinstance(outcome, Planned):
                    self._learn_if_over(session, ticket_id, walk)
            self._outbox.finish(session)
        return concluded.seconds if concluded is not None else None

    def _learn_if_over(self, session: Session, ticket_id: str, walk: int) -> None:
        """A ticket that was resolved before it was planned is learned from again."""
        over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id)
        if session.scalar(over) is not None:
            key = f"{LEARN_TICKET_TASK}:{ticket_id}:{walk}"
            self._outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key)


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Mark the ticket of a walk that the queue has given up."""
    _conclude(session, arguments["ticket_id"], Failed(reason), (), None)


def _conclude(
    session: Session, ticket_id: str, outcome: Outcome, notes: Sequence[Note], walk: int | None
) -> _Concluded | None:
    ids = [time_ordered_id() for _ in outcome.ranked] if isinstance(outcome, Planned) else []
    values, facts = _told(outcome, ids)
    now = time.time()
    is_this_walk = TicketRow.walks == walk if walk else true()
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(_OPEN), is_this_walk)
        .values(**{"status": outcome.status.value, "updated_at": now, **values})
        .returning(TicketRow.created_at, TicketRow.walks)
    )
    row = session.execute(statement).one_or_none()
    if row is None:
        return None
    if isinstance(outcome, Planned):
        _add_candidates(session, ticket_id, outcome, ids, row.walks)
        cite(session, ticket_id, ids[0], outcome.ranked[0].candidate.workflow)
    if isinstance(outcome, Refused):
        note_nearest(session, ticket_id, outcome.nearest)
    if isinstance(outcome, Planned | Refused):
        decided = outcome.triage if isinstance(outcome, Refused) else None
        store_of_walk(session, ticket_id, decided)
    add_events(session, ticket_id, [*notes, Note(outcome.status.value, facts, now)])
    return _Concluded(now - float(row.created_at), row.walks)


def _told(outcome: Outcome, ids: Sequence[str]) -> tuple[dict[str, Any], dict[str, object]]:
    """What the ticket's row and its last event say about the outcome."""
    if isinstance(outcome, Planned):
        best = {
            "workflow_id": ids[0],
            "overall": outcome.ranked[0].score.overall,
            "fit": outcome.verdicts[0].fit.value,
            "against": list(outcome.verdicts[0].against),
        }
        facts = {**best, "candidates": len(ids), **_without(outcome.degraded)}
        return {**best, "reason": "", "nearest": [], "degraded": list(outcome.degraded)}, facts
    values: dict[str, Any] = {"reason": outcome.reason}
    if isinstance(outcome, Refused):
        values |= {"workflow_id": None, "overall": None, "fit": None, "against": []}
        values["nearest"] = [near.model_dump(mode="json") for near in outcome.nearest]
        values["degraded"] = list(outcome.degraded)
        return values, {"reason": outcome.reason, **_without(outcome.degraded)}
    values["status"] = _UNLESS_PLANNED
    return values, {"reason": outcome.reason}


def _without(degraded: Sequence[str]) -> dict[str, object]:
    return {"without": list(degraded)} if degraded else {}


def _add_candidates(
    session: Session, ticket_id: str, outcome: Planned, ids: Sequence[str], walk: int
) -> None:
    stored = zip(ids, outcome.ranked, outcome.verdicts, strict=True)
    for rank, (workflow_id, scored, verdict) in enumerate(stored, start=1):
        row = _workflow_row(workflow_id, scored, verdict)
        row.ticket_id, row.rank, row.seconds = ticket_id, rank, outcome.seconds
        row.walk = walk
        session.add(row)
    session.flush()  # the scores refer to the workflows
    session.add_all(
        _score_row(workflow_id, scored)
        for workflow_id, scored in zip(ids, outcome.ranked, strict=True)
    )


def _workflow_row(workflow_id: str, scored: ScoredCandidate, verdict: Verdict) -> WorkflowRow:
    workflow = scored.candidate.workflow
    return WorkflowRow(
        id=workflow_id,
        title=workflow.title,
        planner=workflow.provenance.planner if workflow.provenance else "",
        steps=len(workflow.steps),
        body=workflow.model_dump_json(),
        fit=verdict.fit.value,
        against=list(verdict.against),
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


def _changed(session: Session, statement: Executable) -> int:
    return cast("CursorResult[Any]", session.execute(statement)).rowcount
