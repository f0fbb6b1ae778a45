"""Feedback of people on a ticket, as one of its workflows shows it.

Marks are kept with the candidate that they were made on and are never moved: those that the
workflow of a later walk shows are looked up when it is read. So a mark sent for an earlier
workflow, while another one is being made or after that, is not lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from services.contracts.adoption import (
    Judgement,
    LeftBehind,
    LeftKind,
    StepState,
    StepWork,
    WhyLeft,
)
from services.kit.ids import time_ordered_id
from services.runbook.checklist.places import nesting
from services.tickets.adoption.carry_over import (
    FeedbackPlacement,
    StepFeedback,
    StepSnapshot,
    find_matching_step,
    place_feedback,
    snapshot_by_step,
)
from services.tickets.tables import (
    AdoptionRow,
    MarkRow,
    OrphanedFeedbackRow,
    WorkflowRow,
    to_datetime,
)
from services.tickets.ticket.lifecycle import lock_ticket_of
from services.tickets.ticket.queries import no_workflow
from services.workflow.model import Workflow


@dataclass(frozen=True)
class Lineage:
    """A workflow with its place in the line of its versions."""

    workflow_id: str
    ticket_id: str
    candidate_id: str
    latest_id: str
    """Id of the last version; that of the candidate if it has none."""
    walk: int
    """Number of the walk of its ticket that made the candidate."""


_NO_WALK = 1 << 30
"""Number above that of any walk."""


def placement_of(session: Session, line: Lineage, workflow: Workflow) -> FeedbackPlacement:
    """Place the feedback of the workflow's lineage and of earlier walks on its steps."""
    own = load_feedback(session, line.candidate_id)
    earlier = _earlier_feedback(session, line.ticket_id, line.walk, line.candidate_id)
    return place_feedback(own, earlier, workflow)


def list_left_behind(
    session: Session, line: Lineage, workflow: Workflow, placement: FeedbackPlacement
) -> tuple[LeftBehind, ...]:
    """List all feedback that is no mark of one of the workflow's steps, latest first."""
    of_ticket = _stored_left_behind(session, line.ticket_id, line.walk, workflow)
    return _latest_first((*placement.left_behind, *of_ticket))


def list_left_without_workflow(session: Session, ticket_id: str) -> tuple[LeftBehind, ...]:
    """List all feedback on a ticket that shows no workflow, latest first."""
    earlier = (
        feedback
        for feedback in _earlier_feedback(session, ticket_id, _NO_WALK)
        if not feedback.work.is_blank
    )
    gone = (feedback.as_left_behind(WhyLeft.GONE) for feedback in earlier)
    return _latest_first((*gone, *_stored_left_behind(session, ticket_id, _NO_WALK)))


def archive_feedback(
    session: Session, ticket_id: str, feedback: StepFeedback, reason: WhyLeft
) -> None:
    """Archive, in the caller's transaction, feedback that is about to be replaced."""
    archive(session, ticket_id, feedback.as_left_behind(reason), feedback.snapshot)


def archive(session: Session, ticket_id: str, left: LeftBehind, snapshot: StepSnapshot) -> None:
    """Archive listed feedback, with the step as it read at the time."""
    session.add(
        OrphanedFeedbackRow(
            id=time_ordered_id(),
            ticket_id=ticket_id,
            told=snapshot.model_dump(mode="json"),
            body=left.model_dump_json(),
        )
    )


def load_feedback(session: Session, candidate_id: str) -> list[StepFeedback]:
    """Return the feedback on the steps of a candidate and its versions, ordered by step id."""
    rows = select(MarkRow).where(MarkRow.candidate_id == candidate_id).order_by(MarkRow.step_id)
    return [feedback_from_row(session, row) for row in session.scalars(rows)]


def feedback_from_row(session: Session, row: MarkRow) -> StepFeedback:
    """Return the feedback in a row, with the step as it read at the time."""
    snapshot = StepSnapshot.model_validate(row.told) if row.told is not None else None
    if snapshot is None or not snapshot.model_fields_set.issuperset({"lines"}):
        step = stored_workflow(session, row.candidate_id).by_id.get(row.step_id)
        then = StepSnapshot.of(step) if step else StepSnapshot(text="")
        snapshot = then if snapshot is None or snapshot.says_same(then) else snapshot
    return StepFeedback(work_from_row(row), snapshot, row.candidate_id)


def work_from_row(row: MarkRow) -> StepWork:
    """Return the work on a step from its row."""
    return StepWork(
        step=row.step_id,
        state=StepState(row.state),
        why=row.why,
        seen=row.seen,
        seen_by=(row.seen_by or row.marked_by) if row.seen else "",
        branch=row.branch,
        marked_by=row.marked_by,
        marked_at=to_datetime(row.marked_at),
        verdict=Judgement(row.verdict),
        word=row.word,
        judged_by=row.judged_by,
        judged_at=to_datetime(row.judged_at),
        carried_from=row.from_candidate or "",
    )


def _earlier_feedback(
    session: Session, ticket_id: str, walk: int, candidate_id: str = ""
) -> list[StepFeedback]:
    """Return the feedback of earlier walks, except where a later mark continues it."""
    statement = (
        select(MarkRow, WorkflowRow.walk)
        .join(WorkflowRow, WorkflowRow.id == MarkRow.candidate_id)
        .where(WorkflowRow.ticket_id == ticket_id)
        .where((WorkflowRow.walk < walk) | (WorkflowRow.id == candidate_id))
    )
    rows = session.execute(statement).tuples().all()
    gone_on = {(row.from_candidate, row.from_step): row.from_at or 0.0 for row, _ in rows}
    feedback = (feedback_from_row(session, row) for row, of in rows if of < walk)
    return [
        each for each in feedback if gone_on.get((each.candidate_id, each.work.step), -1) < each.at
    ]


def _stored_left_behind(
    session: Session, ticket_id: str, walk: int, workflow: Workflow | None = None
) -> Iterator[LeftBehind]:
    """Yield replaced feedback, and verdicts on and versions of workflows of earlier walks."""
    steps = snapshot_by_step(workflow) if workflow is not None else {}
    kept = select(OrphanedFeedbackRow).where(OrphanedFeedbackRow.ticket_id == ticket_id)
    for row in session.scalars(kept):
        left = LeftBehind.model_validate_json(row.body)
        snapshot = StepSnapshot.model_validate(row.told)
        now = find_matching_step(snapshot, workflow, steps) if workflow is not None else ""
        yield left.model_copy(update={"step": now})
    before = (WorkflowRow.ticket_id == ticket_id, WorkflowRow.walk < walk)
    versions = select(WorkflowRow).where(*before, WorkflowRow.author != "")
    for version in session.scalars(versions):
        by = StepWork(step="", marked_by=version.author, marked_at=to_datetime(version.created_at))
        yield _workflow_left_behind(LeftKind.VERSION, version, by)
    judged = (
        select(AdoptionRow, WorkflowRow)
        .join(WorkflowRow, WorkflowRow.id == AdoptionRow.candidate_id)
        .where(*before, AdoptionRow.verdict != "")
    )
    for verdict, of in session.execute(judged).tuples():
        yield _workflow_left_behind(LeftKind.WORKFLOW, of, verdict_of(verdict))


def verdict_of(row: AdoptionRow) -> StepWork:
    """Return the verdict on a workflow as a whole."""
    return StepWork(
        step="",
        verdict=Judgement(row.verdict),
        word=row.word,
        judged_by=row.judged_by,
        judged_at=to_datetime(row.judged_at),
    )


def _workflow_left_behind(kind: LeftKind, row: WorkflowRow, work: StepWork) -> LeftBehind:
    return LeftBehind(kind=kind, reason=WhyLeft.GONE, workflow_id=row.id, text=row.title, said=work)


def _latest_first(left: Sequence[LeftBehind]) -> tuple[LeftBehind, ...]:
    def at(each: LeftBehind) -> float:
        times = (each.said.marked_at, each.said.judged_at)
        return max((time.timestamp() for time in times if time), default=0.0)

    return tuple(sorted(left, key=at, reverse=True))


def lineage_of(session: Session, workflow_id: str, *, to_change: bool = False) -> Lineage:
    """Return the lineage of a workflow.

    With `to_change` its ticket is locked against other changes until the transaction ends.

    Raises:
        WorkflowNotFoundError: No such workflow.
    """
    if to_change:
        lock_ticket_of(session, workflow_id)
    row = session.get(WorkflowRow, workflow_id)
    if row is None:
        raise no_workflow(workflow_id)
    candidate_id = row.candidate_id or row.id
    latest = (
        select(WorkflowRow.id)
        .where(
            WorkflowRow.ticket_id == row.ticket_id,
            WorkflowRow.walk == row.walk,
            or_(WorkflowRow.id == candidate_id, WorkflowRow.candidate_id == candidate_id),
        )
        .order_by(WorkflowRow.version.desc())
        .limit(1)
    )
    return Lineage(row.id, row.ticket_id, candidate_id, session.scalars(latest).one(), row.walk)


def stored_workflow(session: Session, workflow_id: str) -> Workflow:
    """Return the workflow as it is stored."""
    body = select(WorkflowRow.body).where(WorkflowRow.id == workflow_id)
    return Workflow.model_validate_json(session.scalars(body).one())


def next_rank(session: Session, row: WorkflowRow) -> int:
    """Return the rank after all workflows of the row's walk, versions included."""
    of_walk = (WorkflowRow.ticket_id == row.ticket_id, WorkflowRow.walk == row.walk)
    return (session.scalar(select(func.max(WorkflowRow.rank)).where(*of_walk)) or 0) + 1


class _InheritedMark(NamedTuple):
    """Mark of an outer box that its nested boxes take over."""

    at: float
    mark: StepWork


def with_nested(workflow: Workflow, works: Sequence[StepWork]) -> tuple[StepWork, ...]:
    """Return the work, with the nested boxes added that an inapplicable box takes along.

    A nested box goes with it unless it has a mark of its own: done or skipped at any time, or
    opened again since. Nothing of it is stored, so that it is open again once the outer mark is
    undone.
    """
    if not any(each.state is StepState.NOT_APPLICABLE for each in works):
        return tuple(works)
    around, by_step = nesting(workflow), {each.step: each for each in works}
    inherited: dict[str, _InheritedMark] = {}
    for step in workflow.steps:
        own, outer = by_step.get(step.id), inherited.get(around.get(step.id, ""))
        if own is not None and own.state is StepState.NOT_APPLICABLE:
            inherited[step.id] = _InheritedMark(_at(own), own)
        elif outer is not None and not (_is_open(own) and _at(own) > outer.at):
            inherited[step.id] = outer
            if _is_open(own):
                by_step[step.id] = (own or StepWork(step=step.id)).model_copy(
                    update={
                        "state": StepState.NOT_APPLICABLE,
                        "marked_by": outer.mark.marked_by,
                        "marked_at": outer.mark.marked_at,
                        "with_step": outer.mark.step,
                    }
                )
    return tuple(by_step.values())


def _is_open(work: StepWork | None) -> bool:
    return work is None or work.state is StepState.OPEN


def _at(work: StepWork | None) -> float:
    return work.marked_at.timestamp() if work is not None and work.marked_at else 0.0
