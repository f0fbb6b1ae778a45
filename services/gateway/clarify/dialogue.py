"""What was asked about a ticket so far, what was learned, and the query that it makes."""

from collections.abc import Sequence

from services.contracts.ticket import TicketDraft
from services.gateway.ticket.question import About, Choice, Fact, Noun, Question


class Dialogue(Noun):
    """Everything that decides what is asked next."""

    ticket_text: str = ""
    """What the ticket said at first; what it says need not be asked."""
    facts: tuple[Fact, ...] = ()
    unknown: tuple[str, ...] = ()
    """Decisions that the engineer could not answer."""
    says: tuple[str, ...] = ()
    """What was learned, as words to search by."""
    own_words: tuple[str, ...] = ()
    """Those of them that the engineer wrote, and no page did."""
    ruled_out: tuple[str, ...] = ()
    """Documents that the engineer says the ticket is not about."""
    page: str = ""
    """The document that the engineer chose."""
    is_no_page: bool = False
    """Whether the engineer says that none of the closest pages treats the fault."""
    terms: tuple[str, ...] = ()
    """Words of the ticket that a model found to be worth looking up."""
    is_page_told: bool = False
    """Whether it was asked which page is meant."""
    is_described: bool = False
    """Whether it was asked what exactly is seen."""
    turns: int = 0
    """Questions that were asked."""

    def after(self, question: Question, choice: Choice | None, own_words: str = "") -> "Dialogue":
        """With one question more; no choice where the engineer did not know, or had other words."""
        said = _said(question, choice) if choice else ""
        facts = [f.model_copy(update={"said": said}) for f in choice.facts] if choice else []
        settles = question.decisions if question.about is About.STEPS else ()
        says = choice.says if choice else own_words
        chosen = choice if question.about is About.PAGES else None
        page = question.page_of(chosen) if chosen else ""
        return self.model_copy(
            update={
                "facts": (*self.facts, *facts),
                "unknown": self.unknown if choice else (*self.unknown, *settles),
                "says": (*self.says, says) if says else self.says,
                "own_words": self.own_words if choice else (*self.own_words, own_words),
                "ruled_out": (*self.ruled_out, *_ruled_out(question, choice)),
                "page": page or self.page,
                "is_no_page": self.is_no_page or (chosen is not None and not page),
                "is_page_told": self.is_page_told or question.about is About.PAGES,
                "is_described": self.is_described or question.about is About.TICKET,
                "turns": self.turns + 1,
            }
        )

    def also_told(self, own_words: Sequence[str]) -> "Dialogue":
        """With words of the engineer that settled nothing: they are searched by."""
        return self.model_copy(
            update={
                "says": (*self.says, *own_words),
                "own_words": (*self.own_words, *own_words),
            }
        )


def _said(question: Question, choice: Choice) -> str:
    """A choice that is a question itself stands alone."""
    return choice.text if "?" in choice.text else f"{question.text} {choice.text}"


def _ruled_out(question: Question, choice: Choice | None) -> tuple[str, ...]:
    """Of pages that are told apart all but the chosen one."""
    if choice is None or question.about is not About.PAGES:
        return ()
    return tuple(page for page in question.decisions if question.choice_of(page) != choice)


def in_own_words(ticket: TicketDraft, asked: Dialogue) -> TicketDraft:
    """The ticket with what its engineer added to it, and nothing that a page says.

    How surely a page fits is told by this: its own words, put to the engineer, would speak for it
    whatever the ticket is about.
    """
    return _with(ticket, asked.own_words)


def well_formed(ticket: TicketDraft, asked: Dialogue) -> TicketDraft:
    """The ticket with what was learned behind its own text; its own text stays as it is.

    States that do not hold are left out: a search would find the pages that treat them.
    """
    return _with(ticket, (*asked.says, " ".join(asked.terms)))


def _with(ticket: TicketDraft, learned: Sequence[str]) -> TicketDraft:
    if not any(learned):
        return ticket
    description = "\n".join(filter(None, (ticket.description, *learned)))
    return ticket.model_copy(update={"description": description})


def text_of(ticket: TicketDraft) -> str:
    """What a ticket says in words and labels."""
    labels = (f"{name}: {value}" for name, value in ticket.labels.items())
    return "\n".join((ticket.title, ticket.alert_name, ticket.description, *labels))
