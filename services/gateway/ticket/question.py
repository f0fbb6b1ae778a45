"""Questions to the engineer, what each answer settles, and how they are stored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.clarification import Clarification, ClarificationState
from services.gateway.tables import ClarificationRow, ToldRow, moment
from services.workflow.model import Step, StepKind, Workflow

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
        about=question.about.value,
        decisions=question.decisions,
        gain=round(question.gain, 2),
        worded_by=row.worded_by,
        answer=row.answer,
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
