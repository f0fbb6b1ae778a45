"""What an engineer does with the steps of a workflow and says of them; again changes nothing.

Who did it, and when, is of the caller. Each change is an event of the ticket and in the audit log.
"""

import re
import time
from dataclasses import replace

from sqlalchemy.orm import Session

from services.contracts.adoption import (
    Acceptance,
    Judgement,
    LeftBehind,
    LeftKind,
    PartOfMark,
    StepJudgement,
    StepMark,
    StepState,
    StepWork,
    WhyLeft,
)
from services.gateway.adoption.doubts import put_doubt
from services.gateway.adoption.lineage import Lineage, lineage_of, stored_workflow
from services.gateway.adoption.not_applicable import with_nested
from services.gateway.adoption.placing import Placing
from services.gateway.adoption.records import recount, recount_shown
from services.gateway.adoption.standing import (
    keep,
    keep_said,
    placing_of,
    said_in,
    said_of,
    step_work,
    verdict_of,
)
from services.gateway.adoption.told import StepTold, snapshot_by_step
from services.gateway.tables import AdoptionRow, MarkRow, WorkflowRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import take_back_rejection
from services.kit.access.caller import current_caller
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.procedure.checklist.build import HAND_OVER
from services.workflow.model import Step, StepKind, Workflow

_NAME_CHARACTERS = 200


class StepNotFoundError(NotFoundError):
    """The workflow has no step of that id."""


class UnusableMarkError(InvalidInputError):
    """A step was skipped without a word why, or a branch followed that it does not have."""


class Marking:
    """Takes down what is done and said."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox

    def mark(self, workflow_id: str, step_id: str, given: StepMark | PartOfMark) -> None:
        """Put what was done with a step in the place of what was said before, or a part of it.

        Raises:
            WorkflowNotFoundError: No such workflow.
            StepNotFoundError: It has no such step.
            UnusableMarkError: Skipped without a word, or by a branch that is not there.
        """
        with self._database.session() as session:
            put_mark(session, workflow_id, step_id, given)

    def judge(self, workflow_id: str, step_id: str, given: StepJudgement) -> None:
        """Put what is thought of a step in the place of what was; raises as `mark` does.

        A rejected step becomes a doubt of the page's reading that it comes from.
        """
        with self._database.session() as session:
            line = lineage_of(session, workflow_id, to_change=True)
            workflow = _workflow(session, line, step_id)
            placing = placing_of(session, line, workflow)
            row = _mark_row(session, line, workflow, step_id, placing)
            if (row.verdict, row.word) == (given.verdict.value, given.word):
                return
            if _is_lost(row.word, given.word, by=row.judged_by, was=given.was):
                _keep_words(session, line, row, {"verdict", "word", "judged_by", "judged_at"})
            row.verdict, row.word = given.verdict.value, given.word
            row.judged_by, row.judged_at = caller_name(), time.time()
            recount_shown(session, line)
            put_doubt(session, self._outbox, line, step_id)
            if row.from_candidate and row.from_step:
                self._judge_source(session, row)
            facts: dict[str, object] = {
                "step": step_id,
                "verdict": given.verdict.value or "taken back",
                "by": caller_name(),
            }
            _tell(session, line, "judged", facts)

    def _judge_source(self, session: Session, row: MarkRow) -> None:
        """What was carried over is judged where it was said too: that is what its doubt is of."""
        source = session.get(MarkRow, (row.from_candidate, row.from_step))
        if source is None or source.verdict == row.verdict:
            return
        source.verdict, source.word = row.verdict, row.word
        source.judged_by, source.judged_at = row.judged_by, row.judged_at
        row.from_at = row.judged_at
        before = lineage_of(session, source.candidate_id)
        put_doubt(session, self._outbox, before, source.step_id)

    def accept(self, workflow_id: str, given: Acceptance) -> None:
        """Say that the workflow as a whole was the answer, or take it back.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        verdict = Judgement.ACCEPTED if given.accepted else Judgement.NONE
        with self._database.session() as session:
            record_verdict(session, workflow_id, verdict, given.word)


def put_mark(
    session: Session, workflow_id: str, step_id: str, given: StepMark | PartOfMark
) -> None:
    """Do the same as `Marking.mark` in the caller's transaction; raises as it does."""
    line = lineage_of(session, workflow_id, to_change=True)
    workflow = _workflow(session, line, step_id)
    placing = placing_of(session, line, workflow)
    row = _mark_row(session, line, workflow, step_id, placing)
    before = _mark(row, _state(workflow, step_id, placing))
    whole = given.put_on(before) if isinstance(given, PartOfMark) else given
    mark = checked_mark(workflow, step_id, whole)
    if before == mark.model_copy(update={"was": None}):
        return
    _keep_note(session, line, row, mark, is_form=isinstance(given, PartOfMark))
    if row.seen != mark.seen:
        row.seen_by = caller_name()
    row.state, row.why, row.seen, row.branch = (
        mark.state.value,
        mark.why,
        mark.seen,
        mark.branch,
    )
    row.marked_by, row.marked_at = caller_name(), time.time()
    recount_shown(session, line)
    facts: dict[str, object] = {"step": step_id, "mark": mark.state.value, "by": caller_name()}
    _tell(session, line, "marked", facts)


def record_verdict(session: Session, workflow_id: str, verdict: Judgement, word: str) -> None:
    """Write down, in the caller's transaction, what is thought of a workflow as a whole."""
    line = lineage_of(session, workflow_id, to_change=True)
    known = session.get(AdoptionRow, line.candidate_id)
    before = (known.verdict, known.word) if known else (Judgement.NONE.value, "")
    if before == (verdict.value, word):
        return
    row = recount(session, line) if known is None else known
    if not _says(word, row.word):
        _keep_verdict(session, line, row)
    row.verdict, row.word = verdict.value, word
    row.judged_by, row.judged_at = caller_name(), time.time()
    recount(session, line)
    if verdict is not Judgement.REJECTED:
        take_back_rejection(session, line.ticket_id)
    kind = verdict.value or "taken_back"
    _tell(session, line, kind, {"workflow_id": line.workflow_id, "by": caller_name()})


def record_hand_over(session: Session, workflow_id: str, step_id: str | None) -> None:
    """Say that the work ended with a hand-over, and tick the box that says so, if one does.

    It is written in the caller's transaction.

    Raises:
        WorkflowNotFoundError: No such workflow.
        StepNotFoundError: It has no such step.
    """
    workflow = stored_workflow(session, lineage_of(session, workflow_id).workflow_id)
    seen = None
    if step_id is not None:
        put_mark(session, workflow_id, step_id, PartOfMark(state=StepState.DONE))
        seen = f"at “{workflow.by_id[step_id].text}”"
    if ending := _ending(workflow):
        put_mark(session, workflow_id, ending.id, PartOfMark(branch=HAND_OVER, seen=seen))


def take_back_hand_over(session: Session, workflow_id: str) -> None:
    """Open again how the work ended, where it was with a hand-over; the box stays ticked.

    Raises:
        WorkflowNotFoundError: No such workflow.
    """
    line = lineage_of(session, workflow_id)
    ending = _ending(stored_workflow(session, workflow_id))
    marks = {said.work.step: said.work for said in said_of(session, line.candidate_id)}
    if ending and ending.id in marks and marks[ending.id].branch == HAND_OVER:
        put_mark(session, workflow_id, ending.id, PartOfMark(state=StepState.OPEN, seen=""))


def _ending(workflow: Workflow) -> Step | None:
    """Return the question how the work ended; a workflow that was read from a page has none."""
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


def checked_mark(workflow: Workflow, step_id: str, given: StepMark) -> StepMark:
    """The mark as it is kept: a branch that was followed makes its step done.

    A step whose condition does not hold needs no word why.

    Raises:
        UnusableMarkError: It contradicts itself or the workflow.
    """
    is_left_out = given.state in {StepState.SKIPPED, StepState.NOT_APPLICABLE}
    if given.branch is not None and not is_left_out:
        given = given.model_copy(update={"state": StepState.DONE})
    conditions = [edge.condition for edge in workflow.exits(step_id)]
    has_choice = len(conditions) > 1
    if given.state is StepState.SKIPPED and not given.why:
        raise UnusableMarkError("say why the step is skipped: whoever takes over will ask")
    if given.state is StepState.DONE and has_choice and given.branch not in conditions:
        known = ", ".join(map(repr, conditions))
        raise UnusableMarkError(f"say which branch was followed: {known}")
    keeps_branch = given.state is StepState.DONE and has_choice
    return given.model_copy(
        update={
            "why": given.why if given.state is StepState.SKIPPED else "",
            "branch": given.branch if keeps_branch else None,
        }
    )


def _mark_row(
    session: Session, line: Lineage, workflow: Workflow, step_id: str, placing: Placing
) -> MarkRow:
    """What is known of the step so far, to be changed: its own, or what an earlier walk left.

    What was said of the step while it said something else is kept aside.
    """
    found = placing.under.get(step_id)
    is_own = found is not None and found.candidate_id == line.candidate_id
    row = session.get(MarkRow, (line.candidate_id, step_id))
    if row is None:
        row = MarkRow(candidate_id=line.candidate_id, step_id=step_id)
        _fill(row, StepWork(step=step_id))
        session.add(row)
    elif not is_own:
        said = said_in(session, row)
        if not said.work.is_blank:
            keep_said(session, line.ticket_id, said, WhyLeft.CHANGED)
        _fill(row, StepWork(step=step_id))
    if found is not None and not is_own:
        _fill(row, found.work)
        row.from_candidate, row.from_step = found.candidate_id, found.source_step
        row.from_at = found.at
    row.told = snapshot_by_step(workflow)[step_id].model_dump(mode="json")
    return row


def _fill(row: MarkRow, work: StepWork) -> None:
    row.state, row.why, row.seen, row.branch = work.state.value, work.why, work.seen, work.branch
    row.marked_by, row.seen_by = work.marked_by, work.seen_by or None
    row.marked_at = work.marked_at.timestamp() if work.marked_at else None
    row.verdict, row.word, row.judged_by = work.verdict.value, work.word, work.judged_by
    row.judged_at = work.judged_at.timestamp() if work.judged_at else None


def _keep_note(
    session: Session, line: Lineage, row: MarkRow, mark: StepMark, *, is_form: bool
) -> None:
    """Keep the words of a mark that the new one would erase unseen."""
    if lost := lost_fields(step_work(row), mark, is_form=is_form):
        _keep_words(session, line, row, lost)


def lost_fields(before: StepWork, mark: StepMark, *, is_form: bool) -> set[str]:
    """Return the fields of a mark whose words a new one would erase unseen, and who wrote them."""
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


def _keep_words(session: Session, line: Lineage, row: MarkRow, fields: set[str]) -> None:
    """Keep so much of what was said of the step aside."""
    said = said_in(session, row)
    words = StepWork(step=row.step_id, **said.work.model_dump(include=fields))
    keep_said(session, line.ticket_id, replace(said, work=words), WhyLeft.REPLACED)


def _is_lost(before: str, now: str, *, by: str, was: str | None) -> bool:
    """Whether words go that somebody else wrote, or that whoever writes now has not seen."""
    if _says(now, before):
        return False
    return by != caller_name() or was not in {None, before}


def _says(text: str, words: str) -> bool:
    """Whether the words stand in the text as they are."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None if words else True


def _keep_verdict(session: Session, line: Lineage, row: AdoptionRow) -> None:
    title = session.get_one(WorkflowRow, line.candidate_id).title
    left = LeftBehind(
        kind=LeftKind.WORKFLOW,
        reason=WhyLeft.REPLACED,
        workflow_id=line.candidate_id,
        text=title,
        said=verdict_of(row),
    )
    keep(session, line.ticket_id, left, StepTold(text=""))


def _state(workflow: Workflow, step_id: str, placing: Placing) -> StepState:
    """How the step stands, also where it goes with a box whose condition does not hold."""
    works = with_nested(workflow, [said.work for said in placing.under.values()])
    return next((each.state for each in works if each.step == step_id), StepState.OPEN)


def _mark(row: MarkRow, state: StepState) -> StepMark:
    return StepMark(state=state, why=row.why, seen=row.seen, branch=row.branch)


def caller_name() -> str:
    """Return the name of whoever asks, as it is kept."""
    return current_caller().name[:_NAME_CHARACTERS]


def _tell(session: Session, line: Lineage, kind: str, facts: dict[str, object]) -> None:
    add_events(session, line.ticket_id, [Note(kind, facts)])
