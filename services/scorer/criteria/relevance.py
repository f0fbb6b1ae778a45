"""Relevance: does the workflow treat the fault of the ticket?

The one criterion that hangs on the ticket: on how well its documents fit, and on its words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from services.contracts.scorer import Dimension
from services.knowledge.model import KnowledgeContext
from services.scorer.criteria.fit import fit_of_documents
from services.scorer.criteria.page_scores import PageScores
from services.scorer.criteria.weighing import on_scale

_ENOUGH_OF_TICKET = 0.6
"""Share of the weight of the ticket's words that a workflow on the point takes up: tickets hold
names, numbers and output that no workflow repeats."""
_FIT_WEIGHT = 0.7


@dataclass(frozen=True)
class TicketFit:
    """The few numbers of a ticket that scoring needs."""

    fits: Mapping[str, float]
    """How well each document fits it, 0–1."""
    words: Mapping[str, float]
    """Its words that the knowledge has, each with its weight."""

    @classmethod
    def of(cls, context: KnowledgeContext) -> Self:
        """What retrieval found for it."""
        return cls(fit_of_documents(context), context.words)

    def taken_up(self, said: frozenset[str]) -> float:
        """Share of the weight of its words that are said, 0–1."""
        total = sum(self.words.values())
        return sum(w for word, w in self.words.items() if word in said) / total if total else 0.0


def relevance(scores: PageScores, ticket: TicketFit) -> Dimension:
    """How well the documents behind the steps fit, and how much of the ticket is taken up."""
    rests = scores.rests.items()
    fit = sum(ticket.fits.get(name, 0.0) * rest.support for name, rest in rests)
    taken = ticket.taken_up(scores.said)
    share = min(1.0, taken / _ENOUGH_OF_TICKET)
    value = _FIT_WEIGHT * fit / max(1, scores.told) + (1 - _FIT_WEIGHT) * share
    return Dimension(value=on_scale(value), reason=_reason(scores, ticket.fits, taken))


def _reason(scores: PageScores, fits: Mapping[str, float], taken: float) -> str:
    sources = {name: rest.steps for name, rest in scores.rests.items() if rest.steps}
    if not sources:
        return "No step rests on a document that was found for this ticket."
    main = max(sources, key=lambda name: (sources[name], fits.get(name, 0.0)))
    if scores.is_page:
        return (
            f"{main} fits the ticket at {fits.get(main, 0.0):.2f} of the best hit, and takes up"
            f" {taken:.0%} of what the ticket says."
        )
    return (
        f"{sources[main]} of {scores.told} steps rest on {main}, which fits the ticket at"
        f" {fits.get(main, 0.0):.2f} of the best hit; the workflow takes up {taken:.0%} of what the"
        " ticket says."
    )
