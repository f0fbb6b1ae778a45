"""Questions to the engineer, what each answer settles, and how they are stored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState
from services.contracts.clarification import Clarification, ClarificationState, PageCard
from services.contracts.ticket import TicketStatus
from services.tickets.tables import (
    AdoptionRow,
    ClarificationRow,
    MarkRow,
    TicketRow,
    WorkflowRow,
    WriteBackRow,
    to_datetime,
)
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import MarkedSteps, left_aside

_NO_WORDS = re.compile(r"\W+")


class StoredValue(BaseModel):
    """Immutable value, compared by content and stored as JSON."""

    model_config = ConfigDict(frozen=True)


class DecisionAnswer(StoredValue):
    """Answer to one decision of a workflow."""

    decision: str
    """Text of the decision."""
    answer: str
    """Condition of the transition that holds, as the workflow words it."""
    said: str = ""
    """The answer in the engineer's own words."""
    node: str = ""
    """The node of the page's reading that asks it, if one does."""

    def is_of(self, step: Step) -> bool:
        """Return True if the step asks this decision."""
        apart = self.node and step.node and self.node != step.node
        return not apart and words(self.decision) == words(step.text)


class QuestionTopic(StrEnum):
    """Subject that a question tells apart."""

    STEPS = "steps"
    """Branches of the procedure."""
    PAGES = "pages"
    """Pages that fit about as well."""
    TICKET = "ticket"
    """Meaning of the ticket: it says too little to look anything up by."""


class AnswerChoice(StoredValue):
    """One of the likely answers."""

    text: str
    facts: tuple[DecisionAnswer, ...] = ()
    """Answers to decisions of the procedure that follow from this choice."""
    says: str = ""
    """Text that it adds to the words by which knowledge is searched."""


class ClarifyingQuestion(StoredValue):
    """Question that may be asked next, with its choices."""

    text: str
    choices: tuple[AnswerChoice, ...]
    about: QuestionTopic
    gain: float
    """Steps that an answer is expected to cut away."""
    decisions: tuple[str, ...] = ()
    """Texts of the decisions that it settles, in their order; for pages their ids."""
    cards: tuple[PageCard, ...] = ()
    """Cards of a question about pages, in the order of the choices."""

    def page_of(self, choice: AnswerChoice) -> str:
        """Return the page that is chosen; empty if none is, or it is no question about pages."""
        pages = zip(self.choices, self.decisions, strict=False)
        return next((page for each, page in pages if each == choice), "")

    def choice_of(self, page: str) -> AnswerChoice:
        """Return the choice of this page, or else the last choice: none of the pages."""
        return dict(zip(self.decisions, self.choices, strict=False)).get(page, self.choices[-1])


def words(text: str) -> str:
    """Return the words of a text alone, case-folded."""
    return " ".join(_NO_WORDS.split(text.casefold())).strip()


def answered_exits(workflow: Workflow, facts: Iterable[DecisionAnswer]) -> Mapping[str, str]:
    """Return the exits that hold, by decision id; of two answers to one the later counts."""
    exit_by_decision: dict[str, str] = {}
    decisions = list(workflow.of_kind(StepKind.DECISION))
    for fact in facts:
        for step in (each for each in decisions if fact.is_of(each)):
            exits = {edge.condition.casefold(): edge.condition for edge in workflow.exits(step.id)}
            if fact.answer.casefold() in exits:
                exit_by_decision[step.id] = exits[fact.answer.casefold()]
    return exit_by_decision


def questions_of(session: Session, ticket_id: str) -> Sequence[ClarificationRow]:
    """Return the stored questions about a ticket, in their order."""
    statement = select(ClarificationRow).where(ClarificationRow.ticket_id == ticket_id)
    return session.scalars(statement.order_by(ClarificationRow.turn)).all()


def to_clarification(row: ClarificationRow) -> Clarification:
    """Convert a stored question to its form in the API."""
    question = ClarifyingQuestion.model_validate(row.question)
    return Clarification(
        id=row.id,
        ticket_id=row.ticket_id,
        turn=row.turn,
        state=ClarificationState(row.state),
        question=row.wording,
        choices=tuple(choice.text for choice in question.choices),
        cards=question.cards,
        about=question.about.value,
        decisions=question.decisions,
        gain=round(question.gain, 2),
        worded_by=row.worded_by,
        answer=row.answer,
        answered_by=row.answered_by,
        said=tuple(row.said),
        asked_at=to_datetime(row.asked_at),
        answered_at=to_datetime(row.answered_at),
    )


def is_shown_elsewhere(session: Session, ticket_id: str, question_id: str) -> bool:
    """Return True if a system was last sent this question, and shows it."""
    statement = select(WriteBackRow.target).where(
        WriteBackRow.ticket_id == ticket_id, WriteBackRow.question_id == question_id
    )
    return session.scalar(statement.limit(1)) is not None


_JUDGED = {
    Judgement.ACCEPTED.value: "the workflow was accepted",
    Judgement.REJECTED.value: "the workflow was rejected",
}


def current_questions(session: Session, ticket_id: str) -> tuple[Clarification, ...]:
    """Return the questions about a ticket in their order, each in its current state.

    An open one is closed if it was answered in the workflow or nothing depends on it any more. That
    is looked up each time, so that what is taken back brings the question back too.
    """
    questions = []
    for row in questions_of(session, ticket_id):
        question = to_clarification(row)
        if question.state is ClarificationState.OPEN and (why := why_closed(session, row)):
            closed = {"state": ClarificationState.CLOSED, "closed": why}
            question = question.model_copy(update=closed)
        questions.append(question)
    return tuple(questions)


def why_closed(session: Session, row: ClarificationRow) -> str:
    """Return why an open question need not be answered any more; empty if it still waits."""
    return why_no_question(session, row.ticket_id) or _why_passed(session, row)


def why_no_question(session: Session, ticket_id: str) -> str:
    """Return why nothing is asked about a ticket at present; empty if something may be."""
    statement = select(TicketRow.status, TicketRow.resolved_at, TicketRow.workflow_id)
    ticket = session.execute(statement.where(TicketRow.id == ticket_id)).one()
    if ticket.resolved_at is not None:
        return "the fault is over"
    if ticket.status == TicketStatus.HANDED_OVER.value:
        return "a team has the ticket"
    verdict = select(AdoptionRow.verdict).where(
        AdoptionRow.candidate_id == _candidate_of(session, ticket.workflow_id)
    )
    return _JUDGED.get(session.scalar(verdict) or "", "")


def _candidate_of(session: Session, workflow_id: str | None) -> str | None:
    of = func.coalesce(WorkflowRow.candidate_id, WorkflowRow.id)
    return session.scalar(select(of).where(WorkflowRow.id == workflow_id))


def _why_passed(session: Session, row: ClarificationRow) -> str:
    """Return why work on the workflow has settled a question about steps; empty if it has not."""
    question = ClarifyingQuestion.model_validate(row.question)
    shown = select(WorkflowRow.body, WorkflowRow.id).join(
        TicketRow, TicketRow.workflow_id == WorkflowRow.id
    )
    stored = session.execute(shown.where(TicketRow.id == row.ticket_id)).one_or_none()
    if question.about is not QuestionTopic.STEPS or stored is None:
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
    return (
        _why_work_passed(workflow, asks, marks) if asks else "the workflow does not ask it any more"
    )


def _why_work_passed(workflow: Workflow, asks: Sequence[Step], marks: Sequence[MarkRow]) -> str:
    """Return why the work has passed the decisions; empty if one with real branches is ahead."""
    so_far = MarkedSteps(
        done=[mark.step_id for mark in marks if mark.state == StepState.DONE.value],
        skipped=[mark.step_id for mark in marks if mark.state == StepState.SKIPPED.value],
        followed={mark.step_id: mark.branch for mark in marks if mark.branch is not None},
        not_applicable=[
            mark.step_id for mark in marks if mark.state == StepState.NOT_APPLICABLE.value
        ],
    )
    behind = so_far.marked | left_aside(workflow, so_far)
    if any(
        step.id not in behind
        and not step.settled
        and len({edge.target for edge in workflow.exits(step.id)}) > 1
        for step in asks
    ):
        return ""
    followed = next((so_far.followed[s.id] for s in asks if s.id in so_far.followed), None)
    return f"answered in the workflow: {followed}" if followed else "the work has gone past it"
