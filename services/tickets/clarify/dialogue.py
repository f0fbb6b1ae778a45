"""Dialogue about a ticket: its questions and answers so far, and the query that they make."""

from collections.abc import Sequence

from services.contracts.scorer import ScoredCandidate
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.tickets.ticket.question import (
    AnswerChoice,
    ClarifyingQuestion,
    DecisionAnswer,
    QuestionTopic,
    StoredValue,
    answered_exits,
)
from services.workflow.model import Workflow


class Dialogue(StoredValue):
    """State that decides which question is asked next."""

    ticket_text: str = ""
    """Original text of the ticket; nothing it says is asked."""
    facts: tuple[DecisionAnswer, ...] = ()
    unknown: tuple[str, ...] = ()
    """Decisions that the engineer could not answer."""
    says: tuple[str, ...] = ()
    """Answers as words to search by."""
    own_words: tuple[str, ...] = ()
    """Words among them that the engineer wrote, and no page did."""
    ruled_out: tuple[str, ...] = ()
    """Documents that the engineer says the ticket is not about."""
    page: str = ""
    """The document that the engineer chose."""
    is_no_page: bool = False
    """True if the engineer says that none of the closest pages treats the fault."""
    terms: tuple[str, ...] = ()
    """Words of the ticket that a model found to be worth looking up."""
    has_page_question: bool = False
    """True if it was asked which page applies."""
    has_ticket_question: bool = False
    """True if it was asked what exactly is seen."""
    turns: int = 0
    """Number of questions that were asked."""

    def with_answer(
        self, question: ClarifyingQuestion, choice: AnswerChoice | None, own_words: str = ""
    ) -> "Dialogue":
        """Return a copy with one more question; `choice` is None for own words or “not known”."""
        statement = (
            (choice.text if "?" in choice.text else f"{question.text} {choice.text}")
            if choice
            else ""
        )
        facts = [f.model_copy(update={"said": statement}) for f in choice.facts] if choice else []
        settles = question.decisions if question.about is QuestionTopic.STEPS else ()
        says = choice.says if choice else own_words
        chosen = choice if question.about is QuestionTopic.PAGES else None
        offered = question.decisions if chosen else ()
        ruled_out = (each for each in offered if question.choice_of(each) != chosen)
        page = question.page_of(chosen) if chosen else ""
        return self.model_copy(
            update={
                "facts": (*self.facts, *facts),
                "unknown": self.unknown if choice else (*self.unknown, *settles),
                "says": (*self.says, says) if says else self.says,
                "own_words": self.own_words if choice else (*self.own_words, own_words),
                "ruled_out": (*self.ruled_out, *ruled_out),
                "page": page or self.page,
                "is_no_page": self.is_no_page or (chosen is not None and not page),
                "has_page_question": self.has_page_question
                or question.about is QuestionTopic.PAGES,
                "has_ticket_question": self.has_ticket_question
                or question.about is QuestionTopic.TICKET,
                "turns": self.turns + 1,
            }
        )

    def with_own_words(self, own_words: Sequence[str]) -> "Dialogue":
        """Return a copy that also searches by words of the engineer that settled nothing."""
        return self.model_copy(
            update={
                "says": (*self.says, *own_words),
                "own_words": (*self.own_words, *own_words),
            }
        )


def ticket_in_own_words(ticket: ScreenedTicket, dialogue: Dialogue) -> ScreenedTicket:
    """Return the ticket with the engineer's own words added, and nothing that a page says.

    The confidence in a page is computed from this text: a page's own words, put to the engineer,
    would speak for it whatever the ticket is about.
    """
    return ticket.with_lines(dialogue.own_words)


def ticket_with_answers(ticket: ScreenedTicket, dialogue: Dialogue) -> ScreenedTicket:
    """Return the ticket with what was learned after its own text, which stays as it is.

    States that do not hold are left out: a search would find the pages that treat them.
    """
    return ticket.with_lines((*dialogue.says, " ".join(dialogue.terms)))


def text_of(ticket: TicketDraft) -> str:
    """Return the words and labels of a ticket as one text."""
    labels = (f"{name}: {value}" for name, value in ticket.labels.items())
    return "\n".join((ticket.title, ticket.alert_name, ticket.description, *labels))


def mark_settled(
    ranked: Sequence[ScoredCandidate], dialogue: Dialogue
) -> tuple[ScoredCandidate, ...]:
    """Mark the answered decisions in the workflows of the candidates."""
    marked = []
    for scored in ranked:
        workflow = _mark_workflow(scored.candidate.workflow, dialogue)
        candidate = scored.candidate.model_copy(update={"workflow": workflow})
        marked.append(scored.model_copy(update={"candidate": candidate}))
    return tuple(marked) if dialogue.facts else tuple(ranked)


def _mark_workflow(workflow: Workflow, dialogue: Dialogue) -> Workflow:
    if workflow.is_checklist:  # its page is shown as it is
        return workflow
    answers = answered_exits(workflow, dialogue.facts)
    if not answers:
        return workflow
    steps = []
    for step in workflow.steps:
        marked = {}
        if step.id in answers:
            statement = next(fact.said for fact in reversed(dialogue.facts) if fact.is_of(step))
            marked = {"settled": answers[step.id], "settled_by": f"Answered: {statement}"}
        steps.append(step.model_copy(update=marked))
    return workflow.model_copy(update={"steps": tuple(steps)})
