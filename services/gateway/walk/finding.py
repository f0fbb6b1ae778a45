"""What is known for a ticket with all that was learned of it, and how surely it fits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import Fit, TicketDraft
from services.gateway.clarify.dialogue import in_own_words, well_formed
from services.gateway.page_choice.choosing import Choice, PageChoosing, is_open
from services.gateway.page_choice.preference import led_by, scores_of
from services.gateway.page_words.store import PageWordStore
from services.gateway.page_words.words import PageWords
from services.gateway.walk.fit import Thresholds
from services.gateway.walk.tickets import OpenTicket


class Found(NamedTuple):
    """For one ticket."""

    ticket: TicketDraft
    """Its text with what was learned."""
    context: RetrievedContext
    fit: Fit | None
    """How surely the first page treats the fault; None where nothing comes near."""
    choice: Choice | None = None
    """What a model says of the pages, where it was asked before."""
    words: PageWords = PageWords()
    """What people said of the pages on tickets of the same family."""


def with_page_first(ranked: Sequence[ScoredCandidate], page: str) -> tuple[ScoredCandidate, ...]:
    """The candidates, those first that follow the page which the engineer chose."""

    def is_other(scored: ScoredCandidate) -> bool:
        origin = scored.candidate.workflow.provenance
        return origin is None or page not in origin.document_ids

    return tuple(sorted(ranked, key=is_other) if page else ranked)


def with_choice(
    ranked: Iterable[ScoredCandidate], choice: Choice | None
) -> tuple[ScoredCandidate, ...]:
    """The candidates; those of the page that a model chose say who chose it."""
    return tuple(_signed(each, choice) for each in ranked)


def _signed(scored: ScoredCandidate, choice: Choice | None) -> ScoredCandidate:
    workflow = scored.candidate.workflow
    origin = workflow.provenance
    chosen = choice.chosen.page if choice and not choice.is_overruled else None
    if choice is None or origin is None or chosen not in origin.document_ids:
        return scored
    signed = workflow.model_copy(
        update={"provenance": origin.model_copy(update={"chosen_by": choice.model})}
    )
    candidate = scored.candidate.model_copy(update={"workflow": signed})
    return scored.model_copy(update={"candidate": candidate})


class Finding:
    """Asks retrieval, then puts the page first that a person or a model chose."""

    def __init__(
        self,
        retrieval: Retrieval,
        thresholds: Thresholds,
        choosing: PageChoosing | None,
        words: PageWordStore,
    ) -> None:
        self._retrieval = retrieval
        self._thresholds = thresholds
        self._words = words
        self.choosing = choosing

    def of(self, opened: OpenTicket) -> Found:
        """What the walk goes on with.

        Raises:
            UnavailableError: Retrieval did not answer.
        """
        found = self.by_retrieval(opened)
        if self.choosing is None or found.fit is None or opened.asked.is_page_told:
            return found
        choice = self.choosing.known(found.ticket, found.context)
        if choice is None or choice.page in found.words.refused_by:
            return found
        return found._replace(context=choice.applied(found.context), fit=choice.fit, choice=choice)

    def asks(self, opened: OpenTicket, found: Found) -> bool:
        """Whether a model is to be asked behind this walk."""
        return (
            self.choosing is not None
            and found.choice is None
            and not opened.asked.is_page_told
            and is_open(found.ticket, found.context)
        )

    def by_retrieval(self, opened: OpenTicket) -> Found:
        """Before any model is heard, led by what people said of the pages.

        The page that the ticket's engineer chose is first, and shown however unsure it is. Else, of
        an unsure ticket, the nearest one with what was said on others of its family.
        """
        found = self._by_texts(opened)
        if chosen := opened.asked.page:
            if not scores_of(found.context).get(chosen):
                return found
            context = led_by(found.context, chosen, found.context.confidence)
            return found._replace(context=context, fit=found.fit or Fit.UNSURE)
        if found.fit is not Fit.UNSURE:
            return found
        words = self._words.words(opened.family, found.context.pages)
        context, nearest = found.context, words.nearest(found.context.pages)
        if nearest and words != PageWords():
            context = led_by(context, nearest[0].document_id, context.confidence)
        return found._replace(context=context, words=words)

    def _by_texts(self, opened: OpenTicket) -> Found:
        """What comes near the ticket with what was learned of it.

        Words of a page that an engineer agrees to find it; they do not make it sure.
        """
        ticket, without = well_formed(opened.draft, opened.asked), opened.asked.ruled_out
        context = self._retrieval.retrieve(RetrieveRequest.of_ticket(ticket, without=without))
        fit = self._thresholds.fit_of(context)
        own = in_own_words(opened.draft, opened.asked)
        if own == ticket or fit is None:
            return Found(ticket, context, fit)
        told = self._retrieval.retrieve(RetrieveRequest.of_ticket(own, without=without))
        chance = min(context.confidence, told.confidence)
        context = context.model_copy(update={"confidence": chance})
        return Found(ticket, context, self._thresholds.fit_of(context) or Fit.UNSURE)
