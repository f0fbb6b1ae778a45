"""What was asked about a ticket so far, what was learned, and the query that it makes."""

from services.contracts.ticket import TicketDraft
from services.gateway.clarify.question import About, Choice, Fact, Noun, Question


class Asked(Noun):
    """Everything that decides what is asked next."""

    ticket_text: str = ""
    """What the ticket said at first; what it says need not be asked."""
    facts: tuple[Fact, ...] = ()
    unknown: tuple[str, ...] = ()
    """Decisions that the engineer could not answer."""
    says: tuple[str, ...] = ()
    """What was learned, as words to search by."""
    terms: tuple[str, ...] = ()
    """Words of the ticket that a model found to be worth looking up."""
    is_page_told: bool = False
    """Whether it was asked which page is meant."""
    is_described: bool = False
    """Whether it was asked what exactly is seen."""
    turns: int = 0
    """Questions that were asked."""

    def after(self, question: Question, choice: Choice | None, own_words: str = "") -> "Asked":
        """With one question more; no choice where the engineer did not know, or had other words."""
        said = _said(question, choice) if choice else ""
        facts = [f.model_copy(update={"said": said}) for f in choice.facts] if choice else []
        settles = question.decisions if question.about is About.STEPS else ()
        says = choice.says if choice else own_words
        return self.model_copy(
            update={
                "facts": (*self.facts, *facts),
                "unknown": self.unknown if choice else (*self.unknown, *settles),
                "says": (*self.says, says) if says else self.says,
                "is_page_told": self.is_page_told or question.about is About.PAGES,
                "is_described": self.is_described or question.about is About.TICKET,
                "turns": self.turns + 1,
            }
        )


def _said(question: Question, choice: Choice) -> str:
    """A choice that is a question itself stands alone."""
    return choice.text if "?" in choice.text else f"{question.text} {choice.text}"


def well_formed(ticket: TicketDraft, asked: Asked) -> TicketDraft:
    """The ticket with what was learned behind its own text; its own text stays as it is.

    States that do not hold are left out: a search would find the pages that treat them.
    """
    learned = [*asked.says, " ".join(asked.terms)]
    if not any(learned):
        return ticket
    description = "\n".join(filter(None, (ticket.description, *learned)))
    return ticket.model_copy(update={"description": description})


def text_of(ticket: TicketDraft) -> str:
    """What a ticket says in words and labels."""
    labels = (f"{name}: {value}" for name, value in ticket.labels.items())
    return "\n".join((ticket.title, ticket.alert_name, ticket.description, *labels))
