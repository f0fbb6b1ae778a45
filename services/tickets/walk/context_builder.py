"""Retrieval for a ticket with all that was learned of it, and how surely the result fits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import ScoredCandidate
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit
from services.tickets.clarify.dialogue import ticket_in_own_words, ticket_with_answers
from services.tickets.page_choice.page_chooser import PageChoice, PageChooser, has_choice
from services.tickets.page_choice.preference import promote_page, scores_of
from services.tickets.page_feedback import PageFeedback, PageFeedbackStore
from services.tickets.walk.fit import Thresholds
from services.tickets.walk.walk_store import OpenTicket


class TicketContext(NamedTuple):
    """Context that was retrieved for one ticket, with how surely it fits."""

    ticket: ScreenedTicket
    """Ticket whose text has what was learned of it."""
    context: RetrievedContext
    fit: Fit | None
    """Fit of the first page to the fault; None if nothing comes near."""
    choice: PageChoice | None = None
    """Choice that a model made among the pages, if it was asked before."""
    words: PageFeedback = PageFeedback()
    """Feedback of people on the pages, from tickets of the same family."""


def put_page_first(ranked: Sequence[ScoredCandidate], page: str) -> tuple[ScoredCandidate, ...]:
    """Put the candidates first that follow the page which the engineer chose."""

    def is_other(scored: ScoredCandidate) -> bool:
        origin = scored.candidate.workflow.provenance
        return origin is None or page not in origin.document_ids

    return tuple(sorted(ranked, key=is_other) if page else ranked)


def mark_chosen(
    ranked: Iterable[ScoredCandidate], choice: PageChoice | None
) -> tuple[ScoredCandidate, ...]:
    """Name the model on the candidates of the page that it chose."""
    if choice is None or choice.is_overruled:
        return tuple(ranked)
    marked = []
    for scored in ranked:
        candidate = scored.candidate
        origin = candidate.workflow.provenance
        if origin is not None and choice.chosen.page in origin.document_ids:
            signed = origin.model_copy(update={"chosen_by": choice.model})
            workflow = candidate.workflow.model_copy(update={"provenance": signed})
            candidate = candidate.model_copy(update={"workflow": workflow})
        marked.append(scored.model_copy(update={"candidate": candidate}))
    return tuple(marked)


class ContextBuilder:
    """Builder of a ticket's context: retrieval, then the page first that was chosen."""

    def __init__(
        self,
        retrieval: Retrieval,
        thresholds: Thresholds,
        chooser: PageChooser | None,
        words: PageFeedbackStore,
    ) -> None:
        self._retrieval = retrieval
        self._thresholds = thresholds
        self._words = words
        self.chooser = chooser

    def build(self, opened: OpenTicket) -> TicketContext:
        """Retrieve the ticket's context, led by an earlier choice of a model.

        Raises:
            UnavailableError: Retrieval did not answer.
        """
        retrieved = self.retrieve(opened)
        if self.chooser is None or retrieved.fit is None or opened.dialogue.has_page_question:
            return retrieved
        choice = self.chooser.find(retrieved.ticket, retrieved.context)
        if choice is None or choice.page in retrieved.words.refused_by:
            return retrieved
        return retrieved._replace(
            context=choice.apply_to(retrieved.context), fit=choice.fit, choice=choice
        )

    def needs_model(self, opened: OpenTicket, retrieved: TicketContext) -> bool:
        """Return True if a model is to be asked after this walk."""
        return (
            self.chooser is not None
            and retrieved.choice is None
            and not opened.dialogue.has_page_question
            and has_choice(retrieved.ticket, retrieved.context)
        )

    def retrieve(self, opened: OpenTicket) -> TicketContext:
        """Retrieve the context without any model, led by what people said of the pages.

        The page that the ticket's engineer chose is first, and shown however unsure it is. Else, of
        an unsure ticket, the nearest one with what was said on others of its family.
        """
        retrieved = self._search(opened)
        if chosen := opened.dialogue.page:
            if not scores_of(retrieved.context).get(chosen):
                return retrieved
            context = promote_page(retrieved.context, chosen, retrieved.context.confidence)
            return retrieved._replace(context=context, fit=retrieved.fit or Fit.UNSURE)
        if retrieved.fit is not Fit.UNSURE:
            return retrieved
        words = self._words.feedback(opened.family, retrieved.context.pages)
        context, nearest = retrieved.context, words.nearest(retrieved.context.pages)
        if nearest and words != PageFeedback():
            context = promote_page(context, nearest[0].document_id, context.confidence)
        return retrieved._replace(context=context, words=words)

    def _search(self, opened: OpenTicket) -> TicketContext:
        """Search with the ticket's text and what was learned of it.

        Words of a page that an engineer agrees to find it; they do not make it sure.
        """
        ticket, without = (
            ticket_with_answers(opened.ticket, opened.dialogue),
            opened.dialogue.ruled_out,
        )
        context = self._retrieval.retrieve(RetrieveRequest.of_ticket(ticket, without=without))
        fit = self._thresholds.fit_of(context)
        own = ticket_in_own_words(opened.ticket, opened.dialogue)
        if own == ticket or fit is None:
            return TicketContext(ticket, context, fit)
        own_context = self._retrieval.retrieve(RetrieveRequest.of_ticket(own, without=without))
        chance = min(context.confidence, own_context.confidence)
        context = context.model_copy(update={"confidence": chance})
        return TicketContext(ticket, context, self._thresholds.fit_of(context) or Fit.UNSURE)
