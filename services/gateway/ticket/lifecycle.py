"""Every change of a ticket's state, with the events that tell of it, in the caller's transaction.

A ticket is received, walked, and concluded once for each walk; its fault is resolved and may break
again; people take its questions, its team and its workflow into their hands.
"""

import time
from collections.abc import Collection, Sequence
from contextvars import Context
from typing import Any, NamedTuple

from sqlalchemy import case, exists, func, select, true, update
from sqlalchemy.orm import Session

from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft, TicketStatus
from services.contracts.triage import MAX_NAME
from services.gateway.tables import (
    AlertRow,
    ScoreRow,
    ServedRow,
    TicketRow,
    TicketTeamRow,
    WorkflowRow,
)
from services.gateway.ticket.assignment import store_decision_of_walk
from services.gateway.ticket.citations import cite, note_nearest
from services.gateway.ticket.events import Note, add_events, add_first_events
from services.gateway.ticket.outcome import Outcome, Planned, Refused, Verdict
from services.gateway.ticket.queue import SOMEBODY_WAITS, WALK_TASK, first_walk, put_walk
from services.gateway.ticket.severity import priority_of
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.rows import changed
from services.workflow.model import Workflow, WorkflowKind

OPEN = (TicketStatus.RECEIVED.value, TicketStatus.PLANNING.value)
FINAL = tuple(status.value for status in TicketStatus if status.is_final)
FAILED = (TicketStatus.FAILED.value,)
_GIVEN_UP = (TicketStatus.HANDED_OVER.value, TicketStatus.REJECTED.value)
_NOT_HANDED_OVER = tuple(
    status.value for status in TicketStatus if status is not TicketStatus.HANDED_OVER
)
_UNLESS_PLANNED = case(
    (TicketRow.workflow_id.is_not(None), TicketStatus.PLANNED.value),
    else_=TicketStatus.FAILED.value,
)
"""A walk that breaks takes away no workflow that an earlier one has made."""


class Concluded(NamedTuple):
    """A ticket whose walk is over."""

    seconds: float
    """Since the ticket came."""
    walk: int
    workflow_id: str | None
    """What it shows since then; None where the walk made nothing."""


class Opening(NamedTuple):
    """A ticket that is about to be stored."""

    draft: TicketDraft
    ticket_id: str
    fingerprint: str
    family: str
    context: Context
    """Of the request that brings it, in whose name it is stored."""


def open_tickets(session: Session, outbox: Outbox, opened: Sequence[Opening]) -> None:
    """Store new tickets, each with its first event and its queued walk, in a few statements."""
    now = time.time()
    session.add_all(
        TicketRow(
            **each.draft.model_dump(),
            id=each.ticket_id,
            status=TicketStatus.RECEIVED.value,
            fingerprint=each.fingerprint,
            family=each.family,
            created_at=now,
            updated_at=now,
            last_at=now,
        )
        for each in opened
    )
    session.flush()
    for each in opened:
        named = {team[:MAX_NAME] for team in each.draft.teams}
        session.add_all(TicketTeamRow(ticket_id=each.ticket_id, team=t) for t in sorted(named))
    received = [Note("received", {"source": each.draft.source}, now) for each in opened]
    add_first_events(
        session,
        [(each.ticket_id, note, each.context) for each, note in zip(opened, received, strict=True)],
    )
    walks = [
        each.context.run(first_walk, each.ticket_id, priority_of(each.draft.severity))
        for each in opened
    ]
    outbox.put_all(session, WALK_TASK, walks)


def note_progress(session: Session, ticket_id: str, notes: Sequence[Note]) -> None:
    """Store how far its walk is; nothing when it is concluded already."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(OPEN))
        .values(status=TicketStatus.PLANNING.value, updated_at=time.time())
    )
    if notes and changed(session, statement):
        add_events(session, ticket_id, notes)


def conclude(
    session: Session,
    ticket_id: str,
    outcome: Outcome,
    notes: Sequence[Note] = (),
    *,
    walk: int | None = None,
) -> Concluded | None:
    """Store how its walk ended, with the last notes of its progress.

    None, and nothing is done, when it is concluded already, or this is not its latest `walk`.
    """
    ids = [time_ordered_id() for _ in outcome.ranked] if isinstance(outcome, Planned) else []
    values, facts = _told(outcome, ids)
    now = time.time()
    is_this_walk = TicketRow.walks == walk if walk else true()
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(OPEN), is_this_walk)
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
        if outcome.served is not None and row.walks == 1:
            pages = [page.model_dump() for page in outcome.served.pages]
            is_alert = outcome.served.is_alert
            session.add(ServedRow(ticket_id=ticket_id, is_alert=is_alert, pages=pages, at=now))
        decided = outcome.triage if isinstance(outcome, Refused) else None
        store_decision_of_walk(session, ticket_id, decided)
    add_events(session, ticket_id, [*notes, Note(outcome.status.value, facts, now)])
    return Concluded(now - float(row.created_at), row.walks, ids[0] if ids else None)


def _told(outcome: Outcome, ids: Sequence[str]) -> tuple[dict[str, Any], dict[str, object]]:
    """What the ticket's row and its last event say about the outcome."""
    without = {"without": list(outcome.degraded)} if outcome.degraded else {}
    if isinstance(outcome, Planned):
        best: dict[str, object] = {
            "workflow_id": ids[0],
            "overall": outcome.ranked[0].score.overall,
            "fit": outcome.verdicts[0].fit.value,
            "is_checked": _is_checked(outcome.ranked[0]),
            **doubts_of(outcome.ranked[0].candidate.workflow),
            "page_origin": origin_of(outcome.ranked[0].candidate.workflow),
            "kind": outcome.ranked[0].candidate.workflow.kind.value,
            "against": list(outcome.verdicts[0].against),
        }
        facts = {**best, "candidates": len(ids), **without}
        return {
            **best,
            "edited_by": "",
            "better_page": "",
            "reason": "",
            "nearest": [],
            "degraded": list(outcome.degraded),
        }, facts
    values: dict[str, Any] = {"reason": outcome.reason}
    if isinstance(outcome, Refused):
        values |= {"workflow_id": None, "overall": None, "fit": None, "against": []}
        values |= {"is_checked": False, "conditions": 0, "doubtful": 0, "edited_by": ""}
        values |= {"page_origin": "", "kind": WorkflowKind.PROCEDURE.value}
        values["nearest"] = [near.model_dump(mode="json") for near in outcome.nearest]
        values["degraded"] = list(outcome.degraded)
        return values, {"reason": outcome.reason, **without}
    values["status"] = _UNLESS_PLANNED
    return values, {"reason": outcome.reason}


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
        ScoreRow(
            workflow_id=workflow_id,
            overall=scored.score.overall,
            body=scored.score.model_dump_json(),
            findings=list(scored.findings),
            **{name: each.value for name, each in scored.score.dimensions.items()},
        )
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
        is_checked=_is_checked(scored),
        **doubts_of(workflow),
        page_origin=origin_of(workflow),
        kind=workflow.kind.value,
        against=list(verdict.against),
        created_at=time.time(),
    )


def doubts_of(workflow: Workflow) -> dict[str, int]:
    """How many of its steps were judged, and are doubtful."""
    judged = workflow.judged
    return {"conditions": len(judged), "doubtful": sum(bool(step.doubt) for step in judged)}


def origin_of(workflow: Workflow) -> str:
    """How a page that it follows came about, where nobody wrote it by hand."""
    return workflow.provenance.page_origin if workflow.provenance else ""


def _is_checked(scored: ScoredCandidate) -> bool:
    origin = scored.candidate.workflow.provenance
    return origin is not None and origin.is_approved


def walk_again(
    session: Session, outbox: Outbox, ticket_id: str, *, priority: int = SOMEBODY_WAITS
) -> bool:
    """Queue another walk; until it is over the workflow stays.

    A ticket that was handed over stays so: then it is False.
    """
    values = {"status": TicketStatus.PLANNING.value, "walks": TicketRow.walks + 1}
    walk = _begin_walk(session, ticket_id, values, _NOT_HANDED_OVER)
    if walk is not None:
        put_walk(session, outbox, ticket_id, walk, priority=priority)
    return walk is not None


def reopen(session: Session, ticket_id: str, from_: Collection[str]) -> int | None:
    """Take back how its walk ended, since that is tried again.

    The number of its walk; None, and nothing is done, where its state is none of these.
    """
    values = {"status": TicketStatus.RECEIVED.value, "reason": ""}
    walk = _begin_walk(session, ticket_id, values, from_)
    if walk is not None:
        add_events(session, ticket_id, [Note("retried")])
    return walk


def _begin_walk(
    session: Session, ticket_id: str, values: dict[str, Any], from_: Collection[str]
) -> int | None:
    now = time.time()
    is_from = TicketRow.status.in_(from_)
    statement = update(TicketRow).where(TicketRow.id == ticket_id, is_from)
    begun = statement.values(**values, began_at=now, updated_at=now)
    return session.scalar(begun.returning(TicketRow.walks))


def count_repeats(session: Session, ticket_id: str, more: int, *, is_open: bool) -> Note | None:
    """Count further alerts on the ticket; one that `is_open` opens it again. What is to be told."""
    now = time.time()
    row = session.execute(
        update(TicketRow)
        .where(TicketRow.id == ticket_id)
        .values(alerts=TicketRow.alerts + more, last_at=now, updated_at=now)
        .returning(TicketRow.alerts, TicketRow.resolved_at)
    ).one_or_none()
    if row is None:
        return None
    if row.resolved_at is not None and is_open:
        again = update(TicketRow).where(TicketRow.id == ticket_id).values(resolved_at=None)
        session.execute(again)
        return Note("reopened", {"alerts": row.alerts})
    # Told when it has come to twice what was last told: a storm tells a dozen times.
    is_worth_telling = row.alerts.bit_length() > (row.alerts - more).bit_length()
    return Note("repeated", {"alerts": row.alerts}) if is_worth_telling else None


def resolve(session: Session, ticket_id: str) -> bool:
    """Resolve the ticket if none of its alerts is open; whether its walk was over by then."""
    of_ticket = AlertRow.ticket_id == ticket_id
    is_open = exists().where(of_ticket, AlertRow.over_at.is_(None))
    said_at = select(func.max(AlertRow.over_at)).where(of_ticket).scalar_subquery()
    resolved = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.resolved_at.is_(None), ~is_open)
        .values(resolved_at=said_at, updated_at=time.time())
        .returning(TicketRow.status)
    )
    status = session.scalar(resolved)
    if status is None:
        return False
    add_events(session, ticket_id, [Note("resolved")])
    return TicketStatus(status).is_final


def open_again(session: Session, ticket_id: str, by: str) -> bool:
    """Take back that the fault is over, with the alerts that ended then; False where it is open."""
    over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id).scalar_subquery()
    ended = (AlertRow.ticket_id == ticket_id, AlertRow.over_at == over)
    session.execute(update(AlertRow).where(*ended).values(over_at=None))
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id, TicketRow.resolved_at.is_not(None)
    )
    if not changed(session, statement.values(resolved_at=None, updated_at=time.time())):
        return False
    add_events(session, ticket_id, [Note("not_over", {"by": by})])
    return True


def end_questions(session: Session, ticket_id: str) -> bool:
    """Ask nothing more about it; whether this was the first to say so."""
    statement = update(TicketRow).where(TicketRow.id == ticket_id, TicketRow.asks.is_(True))
    return changed(session, statement.values(asks=False)) == 1


def set_holder(
    session: Session, ticket_id: str, to: tuple[str, str] | None, *, instead_of: str | None
) -> bool:
    """Give it to somebody by name and id, or to nobody; only if `instead_of`, by id, has it now."""
    name, id_ = to or (None, None)
    has_it = (
        TicketRow.holder_id.is_(None) if instead_of is None else (TicketRow.holder_id == instead_of)
    )
    statement = update(TicketRow).where(TicketRow.id == ticket_id, has_it)
    now = time.time()
    held = {"holder": name, "holder_id": id_, "held_at": now if to else None, "updated_at": now}
    return changed(session, statement.values(**held)) == 1


def hand_over(session: Session, ticket_id: str) -> None:
    """Make it a team's, unless it is on its way: then the walk says how it ends."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(FINAL))
        .values(status=TicketStatus.HANDED_OVER.value, updated_at=time.time())
    )
    session.execute(statement)


def hand_over_once(session: Session, ticket_id: str, *, has_team: bool) -> bool:
    """Make it a team's, or let it wait for one; False where it is so, on its way, or over."""
    status = TicketStatus.HANDED_OVER if has_team else TicketStatus.REJECTED
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id,
        TicketRow.status.in_(FINAL),
        TicketRow.status.not_in(_GIVEN_UP),
        TicketRow.resolved_at.is_(None),
    )
    return changed(session, statement.values(status=status.value, updated_at=time.time())) == 1


def take_over_again(session: Session, ticket_id: str) -> bool:
    """Take back that it is a team's, or is to be; False where it is neither."""
    status = case(
        (TicketRow.workflow_id.is_not(None), TicketStatus.PLANNED.value),
        else_=TicketStatus.REFUSED.value,
    )
    statement = update(TicketRow).where(TicketRow.id == ticket_id, TicketRow.status.in_(_GIVEN_UP))
    return changed(session, statement.values(status=status, updated_at=time.time())) == 1


def note_rejected(session: Session, ticket_id: str) -> None:
    """Its workflow is not the answer, or says to hand over, and no team was found."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status == TicketStatus.PLANNED.value)
        .values(status=TicketStatus.REJECTED.value, updated_at=time.time())
    )
    session.execute(statement)


def take_back_rejection(session: Session, ticket_id: str) -> None:
    """Its workflow may be the answer after all."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status == TicketStatus.REJECTED.value)
        .values(status=TicketStatus.PLANNED.value, updated_at=time.time())
    )
    session.execute(statement)


def show_version(
    session: Session, row: WorkflowRow, new_id: str, candidate_id: str, *, edited_by: str
) -> None:
    """Make a version what the ticket shows, unless a later walk has made something else."""
    overall = select(ScoreRow.overall).where(ScoreRow.workflow_id == candidate_id)
    of_walk = select(WorkflowRow.id).where(
        WorkflowRow.ticket_id == row.ticket_id, WorkflowRow.walk == row.walk
    )
    session.execute(
        update(TicketRow)
        .where(TicketRow.id == row.ticket_id, TicketRow.workflow_id.in_(of_walk))
        .values(
            workflow_id=new_id,
            fit=row.fit,
            is_checked=row.is_checked,
            conditions=row.conditions,
            doubtful=row.doubtful,
            page_origin=row.page_origin,
            kind=row.kind,
            edited_by=edited_by,
            against=list(row.against),
            overall=overall.scalar_subquery(),
        )
    )


def offer_page(session: Session, ticket_id: str, document_id: str) -> None:
    """Say that another page fits better; nothing that is shown changes."""
    mine = update(TicketRow).where(TicketRow.id == ticket_id)
    session.execute(mine.values(better_page=document_id, updated_at=time.time()))


def keep_workflow(session: Session, ticket_id: str, walk: int, better_page: str) -> bool:
    """End this walk with the workflow that is there, and offer the page that it was for.

    False, and nothing is done, when it is concluded already.
    """
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id, TicketRow.status.in_(OPEN), TicketRow.walks == walk
    )
    kept = {"status": TicketStatus.PLANNED.value, "better_page": better_page}
    return changed(session, statement.values(**kept, updated_at=time.time())) == 1


def lock_ticket_of(session: Session, workflow_id: str) -> None:
    """Let nobody else change anything about a workflow's ticket until the transaction ends."""
    ticket = select(WorkflowRow.ticket_id).where(WorkflowRow.id == workflow_id)
    mine = TicketRow.id == ticket.scalar_subquery()
    session.execute(update(TicketRow).where(mine).values(walks=TicketRow.walks))


def lock_ticket(session: Session, ticket_id: str) -> None:
    """The same of a ticket."""
    mine = TicketRow.id == ticket_id
    session.execute(update(TicketRow).where(mine).values(walks=TicketRow.walks))


def touch(session: Session, ticket_id: str, now: float) -> None:
    """Note that something was done with it: it is kept for so much longer."""
    session.execute(update(TicketRow).where(TicketRow.id == ticket_id).values(updated_at=now))
