"""Relevance criterion: the workflow treats the fault of the ticket.

The one criterion that depends on the ticket: on how well its documents fit, and on its words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from services.contracts.scorer import Dimension
from services.knowledge.document.links import LinkResolver
from services.knowledge.model import IncidentNode, KnowledgeContext
from services.scorer.page_scores import PageScores
from services.scorer.scoring_fit import on_scale

_ENOUGH_OF_TICKET = 0.6
"""Share of the weight of the ticket's words that a workflow on the point covers: tickets hold
names, numbers and output that no workflow repeats.
"""
_FIT_WEIGHT = 0.7
_HANDED_OVER = 0.95
"""Fit of a document relative to that of the one that hands over to it."""
_LEAST_LINKS = 3
"""Number of linked pages from which they are the steps of a procedure, not further reading."""


@dataclass(frozen=True)
class TicketFit:
    """Numbers of a ticket that scoring needs."""

    fits: Mapping[str, float]
    """Fit of each document to the ticket, 0–1."""
    words: Mapping[str, float]
    """Words of the ticket that the knowledge contains, each with its weight."""

    @classmethod
    def of(cls, context: KnowledgeContext) -> Self:
        """Compute the fit from what retrieval returned for the ticket.

        The fit of a document is its best score, relative to the best of all; scores below 0 count
        as 0. A document that a procedure hands over to fits nearly as well as the document of the
        procedure.
        """
        fits: dict[str, float] = {}
        for hit in context.nodes:
            for name in hit.node.document_ids:
                fits[name] = max(fits.get(name, 0.0), hit.score)
        for hit_chunk in context.chunks:
            name = hit_chunk.chunk.span.document_id
            fits[name] = max(fits.get(name, 0.0), hit_chunk.score)
        best = max(fits.values(), default=0.0)
        fits = {name: score / best if best > 0 else 1.0 for name, score in fits.items()}
        nodes: Sequence[IncidentNode] = (*(hit.node for hit in context.nodes), *context.linked)
        pages = {name: node for node in reversed(nodes) for name in node.document_ids}
        resolver = LinkResolver(pages)
        for hit in context.nodes:
            fit = _HANDED_OVER * max((fits[name] for name in hit.node.document_ids), default=0.0)
            names = dict.fromkeys(map(resolver.resolve, hit.node.linked_documents))
            linked = [pages[name] for name in names if name and pages[name].id != hit.node.id]
            if len(linked) < _LEAST_LINKS:
                continue
            for name in (name for node in linked for name in node.document_ids):
                fits[name] = max(fits.get(name, 0.0), fit)
        return cls(fits, context.words)

    def covered_share(self, terms: frozenset[str]) -> float:
        """Return the share, 0–1, of the weight of the ticket's words that `terms` contain."""
        total = sum(self.words.values())
        return sum(w for word, w in self.words.items() if word in terms) / total if total else 0.0


def relevance(scores: PageScores, ticket: TicketFit) -> Dimension:
    """Score the fit of the documents behind the steps, and how much of the ticket is covered."""
    rests = scores.rests.items()
    fit = sum(ticket.fits.get(name, 0.0) * rest.support for name, rest in rests)
    covered = ticket.covered_share(scores.said)
    share = min(1.0, covered / _ENOUGH_OF_TICKET)
    value = _FIT_WEIGHT * fit / max(1, scores.told) + (1 - _FIT_WEIGHT) * share
    return Dimension(value=on_scale(value), reason=_reason(scores, ticket.fits, covered))


def _reason(scores: PageScores, fits: Mapping[str, float], covered: float) -> str:
    sources = {name: rest.steps for name, rest in scores.rests.items() if rest.steps}
    if not sources:
        return "No step rests on a document that was found for this ticket."
    main = max(sources, key=lambda name: (sources[name], fits.get(name, 0.0)))
    if scores.is_page:
        return (
            f"{main} fits the ticket at {fits.get(main, 0.0):.2f} of the best hit, and takes up"
            f" {covered:.0%} of what the ticket says."
        )
    return (
        f"{sources[main]} of {scores.told} steps rest on {main}, which fits the ticket at"
        f" {fits.get(main, 0.0):.2f} of the best hit; the workflow takes up {covered:.0%} of what"
        " the ticket says."
    )
