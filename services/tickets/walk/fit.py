"""Fit of what is known to a ticket: sure, unsure, or none.

Retrieval says how likely its best hit treats this very fault, and the scorer how good a workflow
is; whether that is enough is decided here and nowhere else.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field

from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import Fit, TicketDraft
from services.kit.fits.fitted import FittedFile
from services.knowledge.model import KnowledgeContext
from services.tickets.page_choice.page_chooser import PageChoice
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.outcome import FitVerdict
from services.tickets.walk.objections import Objections

Chance = Annotated[float, Field(ge=0, le=1)]


class Thresholds(FittedFile):
    """Chances from which something is said to fit; fitted by `flowxpert bench calibrate`."""

    SHIPPED: ClassVar = Path(__file__).with_name("fit.json")

    sure_from: Chance
    unsure_from: Chance
    provenance: str = ""
    """Data on which they were fitted, and the command that did it."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Metrics on the ids they were fitted on, and on the others."""

    def with_settings(self, settings: GatewaySettings) -> Self:
        """Return a copy with the thresholds that are set by hand."""
        by_hand = {"sure_from": settings.sure_from, "unsure_from": settings.unsure_from}
        return self.model_copy(
            update={name: chance for name, chance in by_hand.items() if chance is not None}
        )

    def fit_of(self, context: KnowledgeContext) -> Fit | None:
        """Return how surely the best hit treats the ticket; None if nothing comes near it."""
        if not context.chunks and not context.nodes:
            return None
        if context.confidence >= self.sure_from:
            return Fit.SURE
        return Fit.UNSURE if context.confidence >= self.unsure_from else None


def judge_candidate(
    ticket: TicketDraft,
    context: RetrievedContext,
    scored: ScoredCandidate,
    fit: Fit,
    choice: PageChoice | None = None,
) -> FitVerdict:
    """Judge a candidate: sure if the hit is (`fit`), the score is good and its page is the best.

    `choice` is what a model said of the pages.
    """
    objections = Objections(ticket, context, scored, choice)
    if fit is Fit.SURE and scored.good_enough and not objections.another_page:
        return FitVerdict(Fit.SURE)
    return FitVerdict(Fit.UNSURE, objections.reasons)
