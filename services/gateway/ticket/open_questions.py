"""Whether a question still waits: it is gone where it was answered or nothing hangs on it.

It is looked up each time it is shown, so that what is taken back brings the question back too.
"""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState
from services.contracts.clarification import Clarification, ClarificationState
from services.contracts.ticket import TicketStatus
from services.gateway.tables import AdoptionRow, ClarificationRow, MarkRow, TicketRow, WorkflowRow
from services.gateway.ticket.question import About, Question, clarification, questions_of
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import Done, left_aside

_JUDGED = {
    Judgement.ACCEPTED.value: "the workflow was accepted",
    Judgement.REJECTED.value: "the workflow was rejected",
}


def told_questions(session: Session, ticket_id: str) -> tuple[Clarification, ...]:
    """The questions about a ticket in their order, each as it stands now."""
    return tuple(_standing(session, row) for row in questions_of(session, ticket_id))


def _standing(session: Session, row: ClarificationRow) -> Clarification:
    told = clarification(row)
    if told.state is not ClarificationState.OPEN:
        return told
    why = why_gone(session, row)
    return told.model_copy(
        update={"state": ClarificationState.CLOSED, "closed": why} if why else {}
    )


def why_gone(session: Session, row: ClarificationRow) -> str:
    """Why an open question need not be answered any more, in words; empty where it waits."""
    return why_quiet(session, row.ticket_id) or _why_passed(session, row)


def why_quiet(session: Session, ticket_id: str) -> str:
    """Why nothing is asked about a ticket at present; empty where something may be."""
    statement = select(TicketRow.status, TicketRow.resolved_at, TicketRow.workflow_id)
    ticket = session.execute(statement.where(TicketRow.id == ticket_id)).one()
    if ticket.resolved_at is not None:
        return "the fault is over"
    if ticket.status == TicketStatus.HANDED_OVER.value:
        return "a team has the ticket"
    said = select(AdoptionRow.verdict).where(
        AdoptionRow.candidate_id == _candidate_of(session, ticket.workflow_id)
    )
    return _JUDGED.get(session.scalar(said) or "", "")


def _candidate_of(session: Session, workflow_id: str | None) -> str | None:
    of = func.coalesce(WorkflowRow.candidate_id, WorkflowRow.id)
    return session.scalar(select(of).where(WorkflowRow.id == workflow_id))


def _why_passed(session: Session, row: ClarificationRow) -> str:
    """Of a question about steps: what the work on the workflow has made of it."""
    question = Question.model_validate(row.question)
    shown = select(WorkflowRow.body, WorkflowRow.id).join(
        TicketRow, TicketRow.workflow_id == WorkflowRow.id
    )
    stored = session.execute(shown.where(TicketRow.id == row.ticket_id)).one_or_none()
    if question.about is not About.STEPS or stored is None:
        return ""
    workflow = Workflow.model_validate_json(stored.body)
    marks = session.scalars(
        select(MarkRow).where(MarkRow.candidate_id == _candidate_of(session, stored.id))
    ).all()
    facts = [fact for choice in question.choices for fact in choice.facts]
    asks = [
        step
        for step in workflow.of_kind(StepKind.DECISION)
        if any(fact.is_of(step) for fact in facts)
    ]
    return _passed(workflow, asks, marks) if asks else "the workflow does not ask it any more"


def _passed(workflow: Workflow, asks: list[Step], marks: list[MarkRow]) -> str:
    """Empty where one of the decisions lies ahead still, with branches that lead apart."""
    so_far = Done(
        done=[mark.step_id for mark in marks if mark.state == StepState.DONE.value],
        skipped=[mark.step_id for mark in marks if mark.state == StepState.SKIPPED.value],
        followed={mark.step_id: mark.branch for mark in marks if mark.branch is not None},
    )
    behind = {*so_far.done, *so_far.skipped, *left_aside(workflow, so_far)}
    if any(
        step.id not in behind
        and not step.settled
        and len({edge.target for edge in workflow.exits(step.id)}) > 1
        for step in asks
    ):
        return ""
    followed = next((so_far.followed[s.id] for s in asks if s.id in so_far.followed), None)
    return f"answered in the workflow: {followed}" if followed else "the work has gone past it"
