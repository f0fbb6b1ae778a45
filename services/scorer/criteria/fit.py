"""How well each document of a context fits the ticket, and what it hands over to."""

from collections.abc import Mapping, Sequence

from services.knowledge.document.links import LinkResolver
from services.knowledge.model import IncidentNode, KnowledgeContext

_HANDED_OVER = 0.95
"""Fit of a document relative to that of the one that hands over to it."""
_LEAST_LINKS = 3
"""Linked pages from which they are the steps of a procedure and not further reading."""


def fit_of_documents(context: KnowledgeContext) -> dict[str, float]:
    """0–1 by document: its best retrieval score, below 0 as 0, relative to the best of all.

    What a document's procedure hands over to fits nearly as well as the document.
    """
    fits: dict[str, float] = {}
    for hit in context.nodes:
        for name in hit.node.document_ids:
            fits[name] = max(fits.get(name, 0.0), hit.score)
    for found in context.chunks:
        name = found.chunk.span.document_id
        fits[name] = max(fits.get(name, 0.0), found.score)
    best = max(fits.values(), default=0.0)
    fits = {name: score / best if best > 0 else 1.0 for name, score in fits.items()}
    pages = _pages(context)
    for hit in context.nodes:
        fit = _HANDED_OVER * max((fits[name] for name in hit.node.document_ids), default=0.0)
        for node in _linked(hit.node, pages):
            for name in node.document_ids:
                fits[name] = max(fits.get(name, 0.0), fit)
    return fits


def procedures(context: KnowledgeContext) -> list[tuple[IncidentNode, ...]]:
    """Each node with the nodes that its procedure hands over to, in the order of the nodes."""
    pages = _pages(context)
    return [(hit.node, *_linked(hit.node, pages)) for hit in context.nodes]


def _pages(context: KnowledgeContext) -> dict[str, IncidentNode]:
    nodes: Sequence[IncidentNode] = (*(hit.node for hit in context.nodes), *context.linked)
    return {name: node for node in reversed(nodes) for name in node.document_ids}


def _linked(node: IncidentNode, pages: Mapping[str, IncidentNode]) -> list[IncidentNode]:
    resolver = LinkResolver(pages)
    names = dict.fromkeys(resolver.resolve(link) for link in node.linked_documents)
    found = [pages[name] for name in names if name and pages[name].id != node.id]
    return found if len(found) >= _LEAST_LINKS else []
