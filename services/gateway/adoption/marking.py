"""What an engineer does with the steps of a workflow and says of them; again changes nothing.

Who did it, and when, is of the caller. Each change is an event of the ticket and in the audit log.
"""

import time

from sqlalchemy.orm import Session

from services.contracts.adoption import (
    Acceptance,
    Judgement,
    PartOfMark,
    StepJudgement,
    StepMark,
    StepState,
)
from services.gateway.adoption.doubts import put_doubt
from services.gateway.adoption.lineage import Lineage, lineage_of, stored_workflow
from services.gateway.adoption.records import recount
from services.gateway.tables import AdoptionRow, MarkRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import take_back_rejection
from services.kit.access.caller import current_caller
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.workflow.model import Workflow

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
            line = lineage_of(session, workflow_id, to_change=True)
            workflow = _workflow(session, line, step_id)
            row = _mark_row(session, line, step_id)
            whole = given.put_on(_mark(row)) if isinstance(given, PartOfMark) else given
            mark = _checked(workflow, step_id, whole)
            before = (row.state, row.why, row.seen, row.branch)
            if before == (mark.state.value, mark.why, mark.seen, mark.branch):
                return
            row.state, row.why, row.seen, row.branch = (
                mark.state.value,
                mark.why,
                mark.seen,
                mark.branch,
            )
            row.marked_by, row.marked_at = _who(), time.time()
            recount(session, line)
            facts: dict[str, object] = {"step": step_id, "mark": mark.state.value, "by": _who()}
            _tell(session, line, "marked", facts)

    def judge(self, workflow_id: str, step_id: str, given: StepJudgement) -> None:
        """Put what is thought of a step in the place of what was; raises as `mark` does.

        A rejected step becomes a doubt of the page's reading that it comes from.
        """
        with self._database.session() as session:
            line = lineage_of(session, workflow_id, to_change=True)
            _workflow(session, line, step_id)
            row = _mark_row(session, line, step_id)
            if (row.verdict, row.word) == (given.verdict.value, given.word):
                return
            row.verdict, row.word = given.verdict.value, given.word
            row.judged_by, row.judged_at = _who(), time.time()
            recount(session, line)
            put_doubt(session, self._outbox, line, step_id)
            facts: dict[str, object] = {
                "step": step_id,
                "verdict": given.verdict.value or "taken back",
                "by": _who(),
            }
            _tell(session, line, "judged", facts)

    def accept(self, workflow_id: str, given: Acceptance) -> None:
        """Say that the workflow as a whole was the answer, or take it back.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        verdict = Judgement.ACCEPTED if given.accepted else Judgement.NONE
        with self._database.session() as session:
            record_verdict(session, workflow_id, verdict, given.word)


def record_verdict(session: Session, workflow_id: str, verdict: Judgement, word: str) -> None:
    """Write down, in the caller's transaction, what is thought of a workflow as a whole."""
    line = lineage_of(session, workflow_id, to_change=True)
    known = session.get(AdoptionRow, line.candidate_id)
    before = (known.verdict, known.word) if known else (Judgement.NONE.value, "")
    if before == (verdict.value, word):
        return
    row = recount(session, line) if known is None else known
    row.verdict, row.word = verdict.value, word
    row.judged_by, row.judged_at = _who(), time.time()
    recount(session, line)
    if verdict is not Judgement.REJECTED:
        take_back_rejection(session, line.ticket_id)
    kind = verdict.value or "taken_back"
    _tell(session, line, kind, {"workflow_id": line.workflow_id, "by": _who()})


def record_rejection(session: Session, workflow_id: str, reason: str) -> None:
    """Write down that a workflow as a whole was rejected."""
    record_verdict(session, workflow_id, Judgement.REJECTED, reason)


def _workflow(session: Session, line: Lineage, step_id: str) -> Workflow:
    workflow = stored_workflow(session, line.workflow_id)
    if step_id not in workflow.by_id:
        raise StepNotFoundError(f"the workflow has no step {step_id[:60]!r}")
    return workflow


def _checked(workflow: Workflow, step_id: str, given: StepMark) -> StepMark:
    """The mark as it is kept: a branch that was followed makes its step done.

    Raises:
        UnusableMarkError: It contradicts itself or the workflow.
    """
    if given.branch is not None and given.state is not StepState.SKIPPED:
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


def _mark_row(session: Session, line: Lineage, step_id: str) -> MarkRow:
    row = session.get(MarkRow, (line.candidate_id, step_id))
    if row is None:
        row = MarkRow(
            candidate_id=line.candidate_id,
            step_id=step_id,
            state=StepState.OPEN.value,
            why="",
            seen="",
            marked_by="",
            verdict=Judgement.NONE.value,
            word="",
            judged_by="",
        )
        session.add(row)
    return row


def _mark(row: MarkRow) -> StepMark:
    return StepMark(state=StepState(row.state), why=row.why, seen=row.seen, branch=row.branch)


def _who() -> str:
    return current_caller().name[:_NAME_CHARACTERS]


def _tell(session: Session, line: Lineage, kind: str, facts: dict[str, object]) -> None:
    add_events(session, line.ticket_id, [Note(kind, facts)])
