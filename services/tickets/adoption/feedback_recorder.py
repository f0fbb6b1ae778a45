"""Marks and judgements on a workflow and its steps; repeating one changes nothing.

Author and time come from the caller. Each change is an event of the ticket and in the audit log.
"""

import re
import time
from dataclasses import replace

from sqlalchemy.orm import Session

from services.contracts.adoption import (
    Judgement,
    LeftBehind,
    LeftKind,
    MarkPatch,
    StepJudgement,
    StepMark,
    StepState,
    StepWork,
    WhyLeft,
)
from services.kit.access.caller import current_caller
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.runbook.checklist.build import HAND_OVER
from services.tickets.adoption.carry_over import FeedbackPlacement, StepSnapshot, snapshot_by_step
from services.tickets.adoption.doubts import queue_doubt
from services.tickets.adoption.step_feedback import (
    Lineage,
    archive,
    archive_feedback,
    feedback_from_row,
    lineage_of,
    load_feedback,
    placement_of,
    stored_workflow,
    verdict_of,
    with_nested,
    work_from_row,
)
from services.tickets.adoption.usage import recount, recount_shown
from services.tickets.tables import AdoptionRow, MarkRow, WorkflowRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import undo_rejection
from services.workflow.model import Step, StepKind, Workflow

_NAME_CHARACTERS = 200


class StepNotFoundError(NotFoundError):
    """The workflow has no step of that id."""


class UnusableMarkError(InvalidInputError):
    """A step was skipped without a reason, or a branch followed that it does not have."""


def put_judgement(
    session: Session, outbox: Outbox, workflow_id: str, step_id: str, requested: StepJudgement
) -> None:
    """Replace the judgement of a step in the caller's transaction; raises as `put_mark` does.

    A rejected step becomes a doubt about the reading that it comes from; that of a carried-over
    step is copied to its source, whose reading is in doubt too.
    """
    line = lineage_of(session, workflow_id, to_change=True)
    workflow = _workflow(session, line, step_id)
    placement = placement_of(session, line, workflow)
    row = _mark_row(session, line, workflow, step_id, placement)
    if (row.verdict, row.word) == (requested.verdict.value, requested.word):
        return
    if _is_lost(row.word, requested.word, by=row.judged_by, was=requested.was):
        _archive_words(session, line, row, {"verdict", "word", "judged_by", "judged_at"})
    row.verdict, row.word = requested.verdict.value, requested.word
    row.judged_by, row.judged_at = caller_name(), time.time()
    recount_shown(session, line)
    queue_doubt(session, outbox, line, step_id)
    source = session.get(MarkRow, (row.from_candidate, row.from_step)) if row.from_step else None
    if source is not None and source.verdict != row.verdict:
        source.verdict, source.word = row.verdict, row.word
        source.judged_by, source.judged_at = row.judged_by, row.judged_at
        row.from_at = row.judged_at
        queue_doubt(session, outbox, lineage_of(session, source.candidate_id), source.step_id)
    facts: dict[str, object] = {
        "step": step_id,
        "verdict": requested.verdict.value or "taken back",
        "by": caller_name(),
    }
    add_events(session, line.ticket_id, [Note("judged", facts)])


def put_mark(
    session: Session, workflow_id: str, step_id: str, requested: StepMark | MarkPatch
) -> None:
    """Replace the mark of a step, or a part of it, in the caller's transaction.

    Raises:
        WorkflowNotFoundError: No such workflow.
        StepNotFoundError: It has no such step.
        UnusableMarkError: Skipped without a reason, or by a branch that it does not have.
    """
    line = lineage_of(session, workflow_id, to_change=True)
    workflow = _workflow(session, line, step_id)
    placement = placement_of(session, line, workflow)
    row = _mark_row(session, line, workflow, step_id, placement)
    work = work_from_row(row)
    mark = changed_mark(workflow, placement, work, requested)
    if mark is None:
        return
    if lost := lost_fields(work, mark, is_form=isinstance(requested, MarkPatch)):
        _archive_words(session, line, row, lost)
    if row.seen != mark.seen:
        row.seen_by = caller_name()
    row.state, row.why, row.seen, row.branch = mark.state.value, mark.why, mark.seen, mark.branch
    row.marked_by, row.marked_at = caller_name(), time.time()
    recount_shown(session, line)
    facts: dict[str, object] = {"step": step_id, "mark": mark.state.value, "by": caller_name()}
    add_events(session, line.ticket_id, [Note("marked", facts)])


def record_verdict(session: Session, workflow_id: str, verdict: Judgement, word: str) -> None:
    """Record, in the caller's transaction, the verdict on a workflow as a whole."""
    line = lineage_of(session, workflow_id, to_change=True)
    existing = session.get(AdoptionRow, line.candidate_id)
    before = (existing.verdict, existing.word) if existing else (Judgement.NONE.value, "")
    if before == (verdict.value, word):
        return
    row = recount(session, line) if existing is None else existing
    if not _is_contained(word, row.word):
        left = LeftBehind(
            kind=LeftKind.WORKFLOW,
            reason=WhyLeft.REPLACED,
            workflow_id=line.candidate_id,
            text=session.get_one(WorkflowRow, line.candidate_id).title,
            said=verdict_of(row),
        )
        archive(session, line.ticket_id, left, StepSnapshot(text=""))
    row.verdict, row.word = verdict.value, word
    row.judged_by, row.judged_at = caller_name(), time.time()
    recount(session, line)
    if verdict is not Judgement.REJECTED:
        undo_rejection(session, line.ticket_id)
    kind = verdict.value or "taken_back"
    facts: dict[str, object] = {"workflow_id": line.workflow_id, "by": caller_name()}
    add_events(session, line.ticket_id, [Note(kind, facts)])


def record_hand_over(session: Session, workflow_id: str, step_id: str | None) -> None:
    """Record that the work ended with a hand-over, and tick the box for it, if there is one.

    It is written in the caller's transaction.

    Raises:
        WorkflowNotFoundError: No such workflow.
        StepNotFoundError: It has no such step.
    """
    workflow = stored_workflow(session, lineage_of(session, workflow_id).workflow_id)
    seen = None
    if step_id is not None:
        put_mark(session, workflow_id, step_id, MarkPatch(state=StepState.DONE))
        seen = f"at “{workflow.by_id[step_id].text}”"
    if ending := _ending(workflow):
        put_mark(session, workflow_id, ending.id, MarkPatch(branch=HAND_OVER, seen=seen))


def undo_hand_over(session: Session, workflow_id: str) -> None:
    """Reopen the question how the work ended, if by a hand-over; the ticked box stays ticked.

    Raises:
        WorkflowNotFoundError: No such workflow.
    """
    line = lineage_of(session, workflow_id)
    ending = _ending(stored_workflow(session, workflow_id))
    marks = {
        feedback.work.step: feedback.work for feedback in load_feedback(session, line.candidate_id)
    }
    if ending and ending.id in marks and marks[ending.id].branch == HAND_OVER:
        put_mark(session, workflow_id, ending.id, MarkPatch(state=StepState.OPEN, seen=""))


def _ending(workflow: Workflow) -> Step | None:
    """Return the decision about how the work ended; a workflow read from a page has none."""
    return next(
        (
            step
            for step in workflow.of_kind(StepKind.DECISION)
            if step.implied and any(edge.condition == HAND_OVER for edge in workflow.exits(step.id))
        ),
        None,
    )


def _workflow(session: Session, line: Lineage, step_id: str) -> Workflow:
    workflow = stored_workflow(session, line.workflow_id)
    if step_id not in workflow.by_id:
        raise StepNotFoundError(f"the workflow has no step {step_id[:60]!r}")
    return workflow


def changed_mark(
    workflow: Workflow,
    placement: FeedbackPlacement,
    work: StepWork,
    requested: StepMark | MarkPatch,
) -> StepMark | None:
    """Return the mark of a step as it is to be stored; None if nothing changes by it.

    Raises:
        UnusableMarkError: It contradicts itself or the workflow.
    """
    works = with_nested(workflow, [feedback.work for feedback in placement.by_step.values()])
    state = next((each.state for each in works if each.step == work.step), StepState.OPEN)
    before = StepMark(state=state, why=work.why, seen=work.seen, branch=work.branch)
    whole = requested.apply_to(before) if isinstance(requested, MarkPatch) else requested
    mark = _checked_mark(workflow, work.step, whole)
    return None if before == mark.model_copy(update={"was": None}) else mark


def _checked_mark(workflow: Workflow, step_id: str, mark: StepMark) -> StepMark:
    """Return the mark in the form that is stored: a branch followed makes its step done.

    A step whose condition does not hold needs no reason.
    """
    is_left_out = mark.state in {StepState.SKIPPED, StepState.NOT_APPLICABLE}
    if mark.branch is not None and not is_left_out:
        mark = mark.model_copy(update={"state": StepState.DONE})
    conditions = [edge.condition for edge in workflow.exits(step_id)]
    has_choice = len(conditions) > 1
    if mark.state is StepState.SKIPPED and not mark.why:
        raise UnusableMarkError("say why the step is skipped: whoever takes over will ask")
    if mark.state is StepState.DONE and has_choice and mark.branch not in conditions:
        expected = ", ".join(map(repr, conditions))
        raise UnusableMarkError(f"say which branch was followed: {expected}")
    keeps_branch = mark.state is StepState.DONE and has_choice
    return mark.model_copy(
        update={
            "why": mark.why if mark.state is StepState.SKIPPED else "",
            "branch": mark.branch if keeps_branch else None,
        }
    )


def _mark_row(
    session: Session, line: Lineage, workflow: Workflow, step_id: str, placement: FeedbackPlacement
) -> MarkRow:
    """Return the row of a step, to be changed: its own, or filled from an earlier walk.

    Feedback from when the step had another text is archived.
    """
    feedback = placement.by_step.get(step_id)
    is_own = feedback is not None and feedback.candidate_id == line.candidate_id
    row = session.get(MarkRow, (line.candidate_id, step_id))
    if row is None:
        row = MarkRow(candidate_id=line.candidate_id, step_id=step_id)
        _fill(row, StepWork(step=step_id))
        session.add(row)
    elif not is_own:
        previous = feedback_from_row(session, row)
        if not previous.work.is_blank:
            archive_feedback(session, line.ticket_id, previous, WhyLeft.CHANGED)
        _fill(row, StepWork(step=step_id))
    if feedback is not None and not is_own:
        _fill(row, feedback.work)
        row.from_candidate, row.from_step = feedback.candidate_id, feedback.source_step
        row.from_at = feedback.at
    row.told = snapshot_by_step(workflow)[step_id].model_dump(mode="json")
    return row


def _fill(row: MarkRow, work: StepWork) -> None:
    row.state, row.why, row.seen, row.branch = work.state.value, work.why, work.seen, work.branch
    row.marked_by, row.seen_by = work.marked_by, work.seen_by or None
    row.marked_at = work.marked_at.timestamp() if work.marked_at else None
    row.verdict, row.word, row.judged_by = work.verdict.value, work.word, work.judged_by
    row.judged_at = work.judged_at.timestamp() if work.judged_at else None


def lost_fields(before: StepWork, mark: StepMark, *, is_form: bool) -> set[str]:
    """Return the fields of a mark that a new one would erase unseen, their authors included."""
    lost = set[str]()
    # Who sends neither the note nor the one that was seen does not know of it.
    is_unaware = mark.was is None and "seen" not in mark.model_fields_set
    seen_before = "" if is_unaware else mark.was
    if _is_lost(before.seen, mark.seen, by=before.seen_by, was=seen_before):
        lost |= {"seen", "seen_by"}
    # A form does not show why a step was skipped, but for the button that opens it again.
    was = "" if is_form and mark.state is not StepState.OPEN else None
    if _is_lost(before.why, mark.why, by=before.marked_by, was=was):
        lost |= {"why", "state"}
    return {*lost, "marked_by", "marked_at"} if lost else lost


def _archive_words(session: Session, line: Lineage, row: MarkRow, fields: set[str]) -> None:
    """Archive the named fields of the feedback on a step."""
    feedback = feedback_from_row(session, row)
    words = StepWork(step=row.step_id, **feedback.work.model_dump(include=fields))
    archive_feedback(session, line.ticket_id, replace(feedback, work=words), WhyLeft.REPLACED)


def _is_lost(before: str, now: str, *, by: str, was: str | None) -> bool:
    """Return True if words are erased of another author, or that the caller has not seen."""
    if _is_contained(now, before):
        return False
    return by != caller_name() or was not in {None, before}


def _is_contained(text: str, words: str) -> bool:
    """Return True if the words occur in the text unchanged."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None if words else True


def caller_name() -> str:
    """Return the caller's name as it is stored."""
    return current_caller().name[:_NAME_CHARACTERS]
