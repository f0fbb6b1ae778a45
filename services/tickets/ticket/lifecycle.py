"""State changes of tickets, each with its events, in the caller's transaction.

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
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import execute_and_count
from services.runbook.checking.approvals import ApprovalUse, is_approved_for
from services.tickets.tables import (
    AlertRow,
    ScoreRow,
    ServedRow,
    StoredVerdict,
    TicketRow,
    TicketTeamRow,
    WorkflowRow,
)
from services.tickets.ticket.assignment import store_decision_of_walk
from services.tickets.ticket.citations import store_citations, store_nearest
from services.tickets.ticket.events import Note, add_events, add_first_events, last_facts_of_kind
from services.tickets.ticket.outcome import FitVerdict, PlannedOutcome, RefusedOutcome, WalkOutcome
from services.tickets.ticket.queue import SOMEBODY_WAITS, WALK_TASK, first_walk, put_walk
from services.tickets.ticket.severity import priority_of

OPEN = (TicketStatus.RECEIVED.value, TicketStatus.PLANNING.value)
FINAL = tuple(status.value for status in TicketStatus if status.is_final)
FAILED = (TicketStatus.FAILED.value,)
_LEFT_TO_TEAM = (TicketStatus.HANDED_OVER.value, TicketStatus.REJECTED.value)
_NOT_HANDED_OVER = tuple(
    status.value for status in TicketStatus if status is not TicketStatus.HANDED_OVER
)
_UNLESS_PLANNED = case(
    (TicketRow.workflow_id.is_not(None), TicketStatus.PLANNED.value),
    else_=TicketStatus.FAILED.value,
)
"""SQL guard: a walk that fails never takes away the workflow of an earlier one."""


class ConcludedWalk(NamedTuple):
    """Walk that is over."""

    seconds: float
    """Seconds since the ticket came."""
    walk: int
    workflow_id: str | None
    """Workflow that the ticket shows since then; None if the walk made none."""


class NewTicket(NamedTuple):
    """Ticket that is about to be stored."""

    draft: TicketDraft
    ticket_id: str
    fingerprint: str
    family: str
    context: Context
    """Context of the request that brings it, in whose name it is stored."""


def open_tickets(session: Session, outbox: Outbox, opened: Sequence[NewTicket]) -> None:
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
    """Store the progress of a ticket's walk; do nothing if it is concluded already."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(OPEN))
        .values(status=TicketStatus.PLANNING.value, updated_at=time.time())
    )
    if notes and execute_and_count(session, statement):
        add_events(session, ticket_id, notes)


def conclude(
    session: Session,
    ticket_id: str,
    outcome: WalkOutcome,
    notes: Sequence[Note] = (),
    *,
    walk: int | None = None,
) -> ConcludedWalk | None:
    """Store the outcome of a walk, with the last events of its progress.

    Returns None, and does nothing, if the ticket is concluded already or this is not its latest
    `walk`.
    """
    ids = [time_ordered_id() for _ in outcome.ranked] if isinstance(outcome, PlannedOutcome) else []
    values, facts = _row_values_and_event_facts(outcome, ids)
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
    if isinstance(outcome, PlannedOutcome):
        _add_candidates(session, ticket_id, outcome, ids, row.walks)
        store_citations(session, ticket_id, ids[0], outcome.ranked[0].candidate.workflow)
    if isinstance(outcome, RefusedOutcome):
        store_nearest(session, ticket_id, outcome.nearest)
    if isinstance(outcome, PlannedOutcome | RefusedOutcome):
        if outcome.served is not None and row.walks == 1:
            pages = [page.model_dump() for page in outcome.served.pages]
            is_alert = outcome.served.is_alert
            session.add(ServedRow(ticket_id=ticket_id, is_alert=is_alert, pages=pages, at=now))
        decided = outcome.triage if isinstance(outcome, RefusedOutcome) else None
        store_decision_of_walk(session, ticket_id, decided)
    add_events(session, ticket_id, [*notes, Note(outcome.status.value, facts, now)])
    return ConcludedWalk(now - float(row.created_at), row.walks, ids[0] if ids else None)


def _row_values_and_event_facts(
    outcome: WalkOutcome, ids: Sequence[str]
) -> tuple[dict[str, Any], dict[str, object]]:
    """Return the column values and the event facts that describe the outcome."""
    without = {"without": list(outcome.degraded)} if outcome.degraded else {}
    if isinstance(outcome, PlannedOutcome):
        best: dict[str, object] = {
            "workflow_id": ids[0],
            "overall": outcome.ranked[0].score.overall,
            **_verdict(outcome.ranked[0], outcome.verdicts[0]).values(),
        }
        values = {**StoredVerdict.cleared(), **best, "reason": "", "nearest": []}
        facts = {**best, "candidates": len(ids), **without}
        return values | {"degraded": list(outcome.degraded)}, facts
    if isinstance(outcome, RefusedOutcome):
        nearest = [near.model_dump(mode="json") for near in outcome.nearest]
        values = {**StoredVerdict.cleared(), "reason": outcome.reason, "nearest": nearest}
        facts = {"reason": outcome.reason, **without}
        return values | {"degraded": list(outcome.degraded)}, facts
    return {"reason": outcome.reason, "status": _UNLESS_PLANNED}, {"reason": outcome.reason}


def _verdict(scored: ScoredCandidate, verdict: FitVerdict) -> StoredVerdict:
    workflow = scored.candidate.workflow
    origin = workflow.provenance
    return StoredVerdict(
        fit=verdict.fit.value,
        is_checked=is_approved_for(ApprovalUse.VERDICT, origin),
        has_checked_boxes=is_approved_for(ApprovalUse.BOXES_VERDICT, origin),
        page_origin=origin.page_origin if origin else "",
        kind=workflow.kind.value,
        against=list(verdict.against),
    ).recount(workflow)


def _add_candidates(
    session: Session, ticket_id: str, outcome: PlannedOutcome, ids: Sequence[str], walk: int
) -> None:
    stored = zip(ids, outcome.ranked, outcome.verdicts, strict=True)
    for rank, (workflow_id, scored, verdict) in enumerate(stored, start=1):
        workflow = scored.candidate.workflow
        session.add(
            WorkflowRow(
                id=workflow_id,
                ticket_id=ticket_id,
                walk=walk,
                rank=rank,
                title=workflow.title,
                planner=workflow.provenance.planner if workflow.provenance else "",
                steps=len(workflow.steps),
                body=workflow.model_dump_json(),
                **_verdict(scored, verdict).values(),
                seconds=outcome.seconds,
                created_at=time.time(),
            )
        )
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


def walk_again(
    session: Session, outbox: Outbox, ticket_id: str, *, priority: int = SOMEBODY_WAITS
) -> bool:
    """Queue another walk; the ticket keeps its workflow until that is over.

    Returns False for a ticket that was handed over: it is not walked again.
    """
    values = {"status": TicketStatus.PLANNING.value, "walks": TicketRow.walks + 1}
    walk = _begin_walk(session, ticket_id, values, _NOT_HANDED_OVER)
    if walk is not None:
        put_walk(session, outbox, ticket_id, walk, priority=priority)
    return walk is not None


def restart_walk(session: Session, ticket_id: str, from_: Collection[str]) -> int | None:
    """Undo how a ticket's walk ended, so that it is tried again.

    Returns the number of the walk; None, and nothing is done, if the status is not one of `from_`.
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
    """Count further alerts on the ticket; one that `is_open` reopens it.

    Returns the event to store, or None if the change is too small to tell.
    """
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


def reopen_by_source(session: Session, ticket_id: str) -> bool:
    """Reopen a ticket that its own system had ended; one that a person ended stays resolved.

    Returns False if it stays as it is.
    """
    if "by_person" in (last_facts_of_kind(session, ticket_id, "resolved") or {}):
        return False
    mine = update(TicketRow).where(TicketRow.id == ticket_id, TicketRow.resolved_at.is_not(None))
    if not execute_and_count(session, mine.values(resolved_at=None, updated_at=time.time())):
        return False
    add_events(session, ticket_id, [Note("reopened_there")])
    return True


def resolve(session: Session, ticket_id: str, *, by_person: bool = False) -> bool:
    """Resolve the ticket if none of its alerts is open.

    Returns True if it was resolved by this call and its walk was over by then.
    """
    of_ticket = AlertRow.ticket_id == ticket_id
    is_open = exists().where(of_ticket, AlertRow.over_at.is_(None))
    last_over_at = select(func.max(AlertRow.over_at)).where(of_ticket).scalar_subquery()
    resolved = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.resolved_at.is_(None), ~is_open)
        .values(resolved_at=last_over_at, updated_at=time.time())
        .returning(TicketRow.status)
    )
    status = session.scalar(resolved)
    if status is None:
        return False
    add_events(session, ticket_id, [Note("resolved", {"by_person": True} if by_person else {})])
    return TicketStatus(status).is_final


def mark_unresolved(session: Session, ticket_id: str, by: str) -> bool:
    """Undo a ticket's resolution, with that of the alerts that ended then.

    Returns False if the ticket was not resolved.
    """
    over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id).scalar_subquery()
    ended = (AlertRow.ticket_id == ticket_id, AlertRow.over_at == over)
    session.execute(update(AlertRow).where(*ended).values(over_at=None))
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id, TicketRow.resolved_at.is_not(None)
    )
    if not execute_and_count(session, statement.values(resolved_at=None, updated_at=time.time())):
        return False
    add_events(session, ticket_id, [Note("not_over", {"by": by})])
    return True


def stop_questions(session: Session, ticket_id: str) -> bool:
    """Stop the questions about a ticket; return True if this call was the first to do so."""
    statement = update(TicketRow).where(TicketRow.id == ticket_id, TicketRow.asks.is_(True))
    return execute_and_count(session, statement.values(asks=False)) == 1


def set_holder(
    session: Session, ticket_id: str, to: tuple[str, str] | None, *, instead_of: str | None
) -> bool:
    """Give the ticket to somebody, by name and id, or to nobody.

    Returns False, and does nothing, unless `instead_of`, by id, has it now.
    """
    name, id_ = to or (None, None)
    has_it = (
        TicketRow.holder_id.is_(None) if instead_of is None else (TicketRow.holder_id == instead_of)
    )
    statement = update(TicketRow).where(TicketRow.id == ticket_id, has_it)
    now = time.time()
    values = {"holder": name, "holder_id": id_, "held_at": now if to else None, "updated_at": now}
    return execute_and_count(session, statement.values(**values)) == 1


def hand_over(session: Session, ticket_id: str) -> None:
    """Hand the ticket over to a team, unless it is being walked: then the outcome decides."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status.in_(FINAL))
        .values(status=TicketStatus.HANDED_OVER.value, updated_at=time.time())
    )
    session.execute(statement)


def hand_over_once(session: Session, ticket_id: str, *, has_team: bool) -> bool:
    """Hand the ticket over to a team, or let it wait for one.

    Returns False, and does nothing, if that was done before, or the ticket is being walked or
    resolved.
    """
    status = TicketStatus.HANDED_OVER if has_team else TicketStatus.REJECTED
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id,
        TicketRow.status.in_(FINAL),
        TicketRow.status.not_in(_LEFT_TO_TEAM),
        TicketRow.resolved_at.is_(None),
    )
    return (
        execute_and_count(session, statement.values(status=status.value, updated_at=time.time()))
        == 1
    )


def undo_hand_over(session: Session, ticket_id: str) -> bool:
    """Undo a hand-over; return False if no team has the ticket or is to have it."""
    status = case(
        (TicketRow.workflow_id.is_not(None), TicketStatus.PLANNED.value),
        else_=TicketStatus.REFUSED.value,
    )
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id, TicketRow.status.in_(_LEFT_TO_TEAM)
    )
    return execute_and_count(session, statement.values(status=status, updated_at=time.time())) == 1


def mark_rejected(session: Session, ticket_id: str) -> None:
    """Mark a planned ticket as rejected: its workflow is no answer, and no team was found."""
    statement = (
        update(TicketRow)
        .where(TicketRow.id == ticket_id, TicketRow.status == TicketStatus.PLANNED.value)
        .values(status=TicketStatus.REJECTED.value, updated_at=time.time())
    )
    session.execute(statement)


def undo_rejection(session: Session, ticket_id: str) -> None:
    """Set a rejected ticket back to planned: its workflow may be the answer after all."""
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
            **StoredVerdict.of(row).values(),
            workflow_id=new_id,
            edited_by=edited_by,
            overall=overall.scalar_subquery(),
        )
    )


def offer_page(session: Session, ticket_id: str, document_id: str) -> None:
    """Record that another page fits better; what the ticket shows does not change."""
    mine = update(TicketRow).where(TicketRow.id == ticket_id)
    session.execute(mine.values(better_page=document_id, updated_at=time.time()))


def keep_workflow(session: Session, ticket_id: str, walk: int, better_page: str) -> bool:
    """End this walk with the existing workflow, and offer the page that the walk was for.

    Returns False, and does nothing, if the walk is concluded already.
    """
    statement = update(TicketRow).where(
        TicketRow.id == ticket_id, TicketRow.status.in_(OPEN), TicketRow.walks == walk
    )
    kept = {"status": TicketStatus.PLANNED.value, "better_page": better_page}
    return execute_and_count(session, statement.values(**kept, updated_at=time.time())) == 1


def lock_ticket_of(session: Session, workflow_id: str) -> None:
    """Lock the ticket row of a workflow until the transaction ends, by an UPDATE of no effect."""
    ticket = select(WorkflowRow.ticket_id).where(WorkflowRow.id == workflow_id)
    mine = TicketRow.id == ticket.scalar_subquery()
    session.execute(update(TicketRow).where(mine).values(walks=TicketRow.walks))


def lock_ticket(session: Session, ticket_id: str) -> None:
    """Lock the ticket row until the transaction ends, by an UPDATE of no effect."""
    mine = TicketRow.id == ticket_id
    session.execute(update(TicketRow).where(mine).values(walks=TicketRow.walks))


def touch(session: Session, ticket_id: str, now: float) -> None:
    """Set the ticket's time of change, from which retention is counted."""
    session.execute(update(TicketRow).where(TicketRow.id == ticket_id).values(updated_at=now))
