"""Choice of the page for a ticket by a model: asked once, stored, and weighed against retrieval."""

import hashlib
import time
from dataclasses import dataclass

from sqlalchemy import select

from services.contracts.retrieval import RetrievedContext
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit
from services.kit.sql.database import Database
from services.language.names import split_name
from services.language.words import tokenise
from services.llm.chat_model import ChatModel
from services.runbook.checking.approvals import ApprovalUse
from services.tickets.clarify.dialogue import text_of
from services.tickets.page_choice.chance import ChoiceChance
from services.tickets.page_choice.model_choice import PROMPT, ModelChoice, choose
from services.tickets.page_choice.preference import promote_page, scores_of
from services.tickets.page_choice.shown_pages import ShownPages, show_pages
from services.tickets.tables import PageChoiceRow

_DOUBTED = 0.5
"""Chance below which a page that a model names replaces none that is likelier."""
_JUDGED_BY = 10
"""Latest choices by which it is seen whether a model only names one position, whatever is there:
the pages are shuffled, so that the right one may be anywhere.
"""


@dataclass(frozen=True)
class PageChoice:
    """Choice that a model made among a ticket's pages, weighed against retrieval."""

    model: str
    chosen: ModelChoice
    first: str
    """Page that retrieval has first."""
    chance: float
    """Chance that the page which comes first with this choice treats the fault."""
    is_sure: bool
    is_overruled: bool
    """True if it names another page and retrieval's stays first: that one bears the alert's own
    name, or the model itself doubts what it names.
    """

    @property
    def fit(self) -> Fit:
        """Fit of the first page, which is shown in any case."""
        return Fit.SURE if self.is_sure else Fit.UNSURE

    @property
    def page(self) -> str:
        """Page that comes first."""
        return self.first if self.is_overruled else self.chosen.page or self.first

    def apply_to(self, context: RetrievedContext) -> RetrievedContext:
        """Return the context with that page first."""
        return promote_page(context, self.page, self.chance)

    def objections(self, context: RetrievedContext) -> tuple[str, ...]:
        """Return its objections to the first page, in words."""
        if self.chosen.page is None:
            return (f"{self.model} read how the nearest pages begin: none treats this fault",)
        if not self.is_overruled:
            return ()
        titles = {page.document_id: page.title for page in context.pages}
        other = titles.get(self.chosen.page, self.chosen.page)
        return (f"{self.model} finds another page to fit better: {other}",)


class ModelChoiceStore:
    """Store of choices, kept as long as tickets are: a page that changes is another question."""

    def __init__(self, database: Database, model: str) -> None:
        """Keep the choices of one model, by its name."""
        self._database = database
        self._model = f"{PROMPT.label} {model}"[:200]

    def find(self, shown: ShownPages) -> ModelChoice | None:
        """Return what was chosen among these pages for this ticket; None if nothing was."""
        with self._database.session() as session:
            row = session.get(PageChoiceRow, self._key(shown))
        if row is None or (row.page and row.page not in shown.ids):
            return None
        return ModelChoice(page=row.page or None, stated=row.stated, place=row.place)

    def keep(self, shown: ShownPages, chosen: ModelChoice) -> None:
        """Store the choice, unless there is one already."""
        row = {
            "key": self._key(shown),
            "model": self._model,
            "page": chosen.page or "",
            "stated": chosen.stated,
            "place": chosen.place,
            "chosen_at": time.time(),
        }
        insert = self._database.insert(PageChoiceRow).values(row).on_conflict_do_nothing()
        with self._database.session() as session:
            session.execute(insert)

    def is_heard(self) -> bool:
        """Return True if the model looks at the pages: not if it always names one position."""
        latest = (
            select(PageChoiceRow.place)
            .where(PageChoiceRow.model == self._model)
            .order_by(PageChoiceRow.chosen_at.desc())
            .limit(_JUDGED_BY)
        )
        with self._database.session() as session:
            places = session.scalars(latest).all()
        return len(places) < _JUDGED_BY or len(set(places)) > 1

    def _key(self, shown: ShownPages) -> str:
        return hashlib.sha256(f"{self._model}\0{shown.content}".encode()).hexdigest()


class PageChooser:
    """Chooser of the page that treats a ticket's fault, by a model; asks each question once."""

    def __init__(
        self, database: Database, model: ChatModel, fitted: ChoiceChance, *, within_s: float
    ) -> None:
        """Let the model take `within_s` seconds."""
        self._model = model
        self._choices = ModelChoiceStore(database, model.name)
        self._fitted = fitted
        self._within_s = within_s

    def find(self, ticket: ScreenedTicket, context: RetrievedContext) -> PageChoice | None:
        """Return the earlier choice among these pages; None also if the model is not heard."""
        if not has_choice(ticket, context):
            return None
        chosen = self._choices.find(show_pages(ticket, context))
        return self._weigh(ticket, context, chosen) if chosen else None

    def ask(self, ticket: ScreenedTicket, context: RetrievedContext) -> PageChoice | None:
        """Return the choice among these pages; ask the model if it was not asked before.

        Raises:
            ModelAnswerError: It gave no answer that can be used.
            ModelUnavailableError: It did not answer in time.
            ModelRefusedError: It will not take the question.
        """
        if not has_choice(ticket, context):
            return None
        shown = show_pages(ticket, context)
        chosen = self._choices.find(shown)
        if chosen is None:
            chosen = choose(self._model, shown, within_s=self._within_s)
            self._choices.keep(shown, chosen)
        return self._weigh(ticket, context, chosen)

    def _weigh(
        self, ticket: ScreenedTicket, context: RetrievedContext, chosen: ModelChoice
    ) -> PageChoice | None:
        if not self._choices.is_heard():
            return None
        return weigh_choice(ticket, context, chosen, self._fitted, model=self._model.name)


def weigh_choice(
    ticket: ScreenedTicket,
    context: RetrievedContext,
    chosen: ModelChoice,
    fitted: ChoiceChance,
    *,
    model: str,
) -> PageChoice:
    """Weigh a model's choice against retrieval.

    The alert's own name outweighs a model that says otherwise, and so does a likelier page where
    the model doubts the one that it names.
    """
    first = next(iter(scores_of(context)))
    chance = fitted.chance_of(chosen, first, context.confidence)
    is_other = chosen.page is not None and chosen.page != first
    is_overruled = is_other and (
        chance < min(_DOUBTED, context.confidence) or _bears_name(ticket, context, first)
    )
    return PageChoice(
        model=model,
        chosen=chosen,
        first=first,
        chance=min(chance, context.confidence) if is_overruled else chance,
        is_sure=not is_overruled and chosen.page is not None and chance >= fitted.sure_from,
        is_overruled=is_overruled,
    )


def has_choice(ticket: ScreenedTicket, context: RetrievedContext) -> bool:
    """Return True if a model may choose: several pages, the first not checked and so named."""
    pages = [page for page in context.pages if page.score > 0]
    if len(pages) < 2:
        return False
    first = pages[0]
    is_checked = first.is_approved_for(ApprovalUse.PAGE_CHOICE, text_of(ticket.for_model()))
    return not (is_checked and _bears_name(ticket, context, first.document_id))


def _bears_name(ticket: ScreenedTicket, context: RetrievedContext, page: str) -> bool:
    """Return True if an incident of the page has the name of the alert."""
    alert = tokenise(split_name(ticket.for_person().alert_name))
    names = (
        name
        for hit in context.nodes
        if page in hit.node.document_ids
        for name in (hit.node.name, *hit.node.aliases)
    )
    return bool(alert) and any(tokenise(split_name(name)) == alert for name in names)
