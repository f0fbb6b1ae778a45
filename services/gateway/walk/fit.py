"""How surely what is known treats a ticket: surely, perhaps, or nothing does.

Retrieval says how likely its best hit treats this very fault, and the scorer how good a workflow
is; whether that is enough is decided here and nowhere else.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field

from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import Fit, TicketDraft
from services.gateway.page_choice.choosing import Choice
from services.gateway.settings import GatewaySettings
from services.gateway.ticket.outcome import Verdict
from services.gateway.walk.objections import Objections
from services.kit.fits.fitted import FittedFile
from services.knowledge.model import KnowledgeContext

Chance = Annotated[float, Field(ge=0, le=1)]


class Thresholds(FittedFile):
    """Chances from which something is said to fit; fitted by `flowxpert bench calibrate`."""

    SHIPPED: ClassVar = Path(__file__).with_name("fit.json")

    sure_from: Chance
    unsure_from: Chance
    provenance: str = ""
    """What they were fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """How they do on the ids they were fitted on and on the others."""

    def with_settings(self, settings: GatewaySettings) -> Self:
        """The same but for what is set by hand."""
        by_hand = {"sure_from": settings.sure_from, "unsure_from": settings.unsure_from}
        return self.model_copy(
            update={name: chance for name, chance in by_hand.items() if chance is not None}
        )

    def fit_of(self, context: KnowledgeContext) -> Fit | None:
        """How surely the best hit treats the ticket; None when nothing known comes near it."""
        if not context.chunks and not context.nodes:
            return None
        if context.confidence >= self.sure_from:
            return Fit.SURE
        return Fit.UNSURE if context.confidence >= self.unsure_from else None


def verdict(
    ticket: TicketDraft,
    context: RetrievedContext,
    scored: ScoredCandidate,
    found: Fit,
    choice: Choice | None = None,
) -> Verdict:
    """Sure only where the hit is (`found`), the score is good enough and the page is the best.

    `choice` is what a model said of the pages.
    """
    objections = Objections(ticket, context, scored, choice)
    if found is Fit.SURE and scored.good_enough and not objections.another_page:
        return Verdict(Fit.SURE)
    return Verdict(Fit.UNSURE, objections.told)
