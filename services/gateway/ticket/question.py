"""Questions to the engineer, what each answer settles, and how they are stored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from pydantic import BaseModel, ConfigDict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, StepState
from services.contracts.clarification import Clarification, ClarificationState, PageCard
from services.contracts.ticket import TicketStatus
from services.gateway.tables import (
    AdoptionRow,
    ClarificationRow,
    MarkRow,
    TicketRow,
    ToldRow,
    WorkflowRow,
    moment,
)
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import Done, left_aside

_NO_WORDS = re.compile(r"\W+")


class Noun(BaseModel):
    """Compared by content, never changed in place; kept as JSON."""

    model_config = ConfigDict(frozen=True)


class Fact(Noun):
    """The answer to one decision of a workflow."""

    decision: str
    """Its text."""
    answer: str
    """As it stands at the arrow that holds."""
    said: str = ""
    """The answer in the words in which it was given."""
    node: str = ""
    """The node of the page's reading that asks it, where one does."""

    def is_of(self, step: Step) -> bool:
        """Whether the step asks this."""
        apart = self.node and step.node and self.node != step.node
        return not apart and words(self.decision) == words(step.text)


class About(StrEnum):
    """What a question tells apart."""

    STEPS = "steps"
    """The branches of the procedure."""
    PAGES = "pages"
    """Pages that fit about as well."""
    TICKET = "ticket"
    """What the ticket means: it says too little to look anything up by."""


class Choice(Noun):
    """One of the likely answers."""

    text: str
    facts: tuple[Fact, ...] = ()
    """What is known of the procedure once it is chosen."""
    says: str = ""
    """What it adds to the words that knowledge is searched by."""


class Question(Noun):
    """What may be asked next."""

    text: str
    choices: tuple[Choice, ...]
    about: About
    gain: float
    """Steps that an answer is expected to cut away."""
    decisions: tuple[str, ...] = ()
    """Texts of the decisions that it settles, in their order; of pages their ids."""
    cards: tuple[PageCard, ...] = ()
    """Of a question about pages, in the order of the choices."""

    def page_of(self, choice: Choice) -> str:
        """Of a question about pages the one that is chosen; empty where none of them is."""
        pages = zip(self.choices, self.decisions, strict=False)
        return next((page for each, page in pages if each == choice), "")

    def choice_of(self, page: str) -> Choice:
        """Of a question about pages the choice of this one; the last, that none is, without it."""
        return dict(zip(self.decisions, self.choices, strict=False)).get(page, self.choices[-1])


@lru_cache(maxsize=16384)
def words(text: str) -> str:
    """The text by its words alone."""
    return " ".join(_NO_WORDS.split(text.casefold())).strip()


def known_in(workflow: Workflow, facts: Iterable[Fact]) -> Mapping[str, str]:
    """The exits that hold, by the id of their decision; of two facts about one the later counts."""
    known: dict[str, str] = {}
    decisions = list(workflow.of_kind(StepKind.DECISION))
    for fact in facts:
        for step in (each for each in decisions if fact.is_of(each)):
            exits = {edge.condition.casefold(): edge.condition for edge in workflow.exits(step.id)}
            if fact.answer.casefold() in exits:
                known[step.id] = exits[fact.answer.casefold()]
    return known


def questions_of(session: Session, ticket_id: str) -> Sequence[ClarificationRow]:
    """The questions about a ticket in their order."""
    statement = select(ClarificationRow).where(ClarificationRow.ticket_id == ticket_id)
    return session.scalars(statement.order_by(ClarificationRow.turn)).all()


def clarification(row: ClarificationRow) -> Clarification:
    """The question as it is told."""
    question = Question.model_validate(row.question)
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
        asked_at=moment(row.asked_at),
        answered_at=moment(row.answered_at),
    )


def is_shown_elsewhere(session: Session, ticket_id: str, question_id: str) -> bool:
    """Whether some system shows this question, as it was told last."""
    statement = select(ToldRow.target).where(
        ToldRow.ticket_id == ticket_id, ToldRow.question_id == question_id
    )
    return session.scalar(statement.limit(1)) is not None


_JUDGED = {
    Judgement.ACCEPTED.value: "the workflow was accepted",
    Judgement.REJECTED.value: "the workflow was rejected",
}


def told_questions(session: Session, ticket_id: str) -> tuple[Clarification, ...]:
    """The questions about a ticket in their order, each as it stands now.

    An open one is gone where it was answered in the workflow or nothing hangs on it any more. That
    is looked up each time, so that what is taken back brings the question back too.
    """
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


def _passed(workflow: Workflow, asks: Sequence[Step], marks: Sequence[MarkRow]) -> str:
    """Empty where one of the decisions lies ahead still, with branches that lead apart."""
    so_far = Done(
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
