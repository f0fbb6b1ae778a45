"""A model's choice of the page for a ticket, and what follows from it."""

from dataclasses import dataclass

from services.contracts.retrieval import RetrievedContext
from services.contracts.ticket import Fit, TicketDraft
from services.gateway.page_choice.by_model import Chosen, choose
from services.gateway.page_choice.chance import ChoiceChance
from services.gateway.page_choice.choices import Choices
from services.gateway.page_choice.preference import led_by, scores_of
from services.gateway.page_choice.shown import shown_of
from services.kit.sql.database import Database
from services.language.names import split_name
from services.language.words import tokenise
from services.llm.chat_model import ChatModel

_DOUBTED = 0.5
"""Below this chance a page that a model names takes the place of none that is likelier."""


@dataclass(frozen=True)
class Choice:
    """What a model says of the pages that were found for a ticket."""

    model: str
    chosen: Chosen
    first: str
    """The page that retrieval has first."""
    chance: float
    """That the page treats the fault which comes first with this choice."""
    is_sure: bool
    is_overruled: bool
    """It names another page, and retrieval's stays first: that one bears the alert's own name, or
    the model itself doubts what it names."""

    @property
    def fit(self) -> Fit:
        """How surely that page treats the fault: it is shown in any case."""
        return Fit.SURE if self.is_sure else Fit.UNSURE

    @property
    def page(self) -> str:
        """The page that comes first."""
        return self.first if self.is_overruled else self.chosen.page or self.first

    def applied(self, context: RetrievedContext) -> RetrievedContext:
        """The context with that page first."""
        return led_by(context, self.page, self.chance)

    def against(self, context: RetrievedContext) -> tuple[str, ...]:
        """What it says against the first page, in words."""
        if self.chosen.page is None:
            return (f"{self.model} read how the nearest pages begin: none treats this fault",)
        if not self.is_overruled:
            return ()
        titles = {page.document_id: page.title for page in context.pages}
        other = titles.get(self.chosen.page, self.chosen.page)
        return (f"{self.model} finds another page to fit better: {other}",)


class PageChoosing:
    """Asks a model which of the pages found treats a ticket's fault, each question once."""

    def __init__(
        self, database: Database, model: ChatModel, fitted: ChoiceChance, *, within_s: float
    ) -> None:
        """The model may take `within_s` seconds."""
        self._model = model
        self._choices = Choices(database, model.name)
        self._fitted = fitted
        self._within_s = within_s

    def known(self, ticket: TicketDraft, context: RetrievedContext) -> Choice | None:
        """What the model said before of these pages; None too where it is not listened to."""
        if not is_open(ticket, context):
            return None
        chosen = self._choices.known(shown_of(ticket, context))
        return self._weighed(ticket, context, chosen) if chosen else None

    def ask(self, ticket: TicketDraft, context: RetrievedContext) -> Choice | None:
        """The same, and the model is asked where it was not before.

        Raises:
            ModelAnswerError: It gave no answer that can be used.
            ModelUnavailableError: It did not answer in time.
            ModelRefusedError: It will not take the question.
        """
        if not is_open(ticket, context):
            return None
        shown = shown_of(ticket, context)
        chosen = self._choices.known(shown)
        if chosen is None:
            chosen = choose(self._model, shown, within_s=self._within_s)
            self._choices.keep(shown, chosen)
        return self._weighed(ticket, context, chosen)

    def _weighed(
        self, ticket: TicketDraft, context: RetrievedContext, chosen: Chosen
    ) -> Choice | None:
        if not self._choices.is_heard():
            return None
        return weighed(ticket, context, chosen, self._fitted, model=self._model.name)


def weighed(
    ticket: TicketDraft,
    context: RetrievedContext,
    chosen: Chosen,
    fitted: ChoiceChance,
    *,
    model: str,
) -> Choice:
    """What follows from a choice.

    The alert's own name outweighs a model that says otherwise, and so does a likelier page where
    the model doubts the one that it names.
    """
    first = next(iter(scores_of(context)))
    chance = fitted.of(chosen, first, context.confidence)
    is_other = chosen.page is not None and chosen.page != first
    is_overruled = is_other and (
        chance < min(_DOUBTED, context.confidence) or _bears_name(ticket, context, first)
    )
    return Choice(
        model=model,
        chosen=chosen,
        first=first,
        chance=min(chance, context.confidence) if is_overruled else chance,
        is_sure=not is_overruled and chosen.page is not None and chance >= fitted.sure_from,
        is_overruled=is_overruled,
    )


def is_open(ticket: TicketDraft, context: RetrievedContext) -> bool:
    """Whether a model has anything to say: not of one page, and not of a checked one so named."""
    found = [page for page in context.pages if page.score > 0]
    if len(found) < 2:
        return False
    first = found[0]
    return not (first.approved and _bears_name(ticket, context, first.document_id))


def _bears_name(ticket: TicketDraft, context: RetrievedContext, page: str) -> bool:
    """Whether an incident of the page is called what the alert is called."""
    alert = tokenise(split_name(ticket.alert_name))
    names = (
        name
        for hit in context.nodes
        if page in hit.node.document_ids
        for name in (hit.node.name, *hit.node.aliases)
    )
    return bool(alert) and any(tokenise(split_name(name)) == alert for name in names)
