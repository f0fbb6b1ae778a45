"""A question to the engineer, and what each answer to it settles."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

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
