"""Order of a ticket's pages, and its change in favour of one."""

from collections.abc import Iterable

from services.contracts.retrieval import RetrievedContext


def scores_of(context: RetrievedContext) -> dict[str, float]:
    """Return relevance by document, the closest document first."""
    scores: dict[str, float] = {}
    for each in context.chunks:
        id_ = each.chunk.span.document_id
        scores[id_] = max(scores.get(id_, 0.0), each.score)
    for hit in context.nodes:
        for id_ in hit.node.document_ids:
            scores[id_] = max(scores.get(id_, 0.0), hit.score)
    for page in context.pages:
        if page.score > 0:  # others are only linked
            scores[page.document_id] = max(scores.get(page.document_id, 0.0), page.score)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def promote_page(context: RetrievedContext, page: str, confidence: float) -> RetrievedContext:
    """Return the context with this page first: it and the first page swap their relevance.

    `confidence` is the chance that it treats the fault.
    """
    scores = scores_of(context)
    first = next(iter(scores), page)
    if not scores.get(page) or first == page:
        return context.model_copy(update={"confidence": confidence})
    factors = {page: scores[first] / scores[page], first: scores[page] / scores[first]}

    def moved(score: float, documents: Iterable[str]) -> dict[str, float]:
        own = [factors[id_] for id_ in documents if id_ in factors]
        return {"score": score * max(own, default=1.0)}

    chunks = [
        each.model_copy(update=moved(each.score, (each.chunk.span.document_id,)))
        for each in context.chunks
    ]
    nodes = [
        each.model_copy(update=moved(each.score, each.node.document_ids)) for each in context.nodes
    ]
    pages = [
        each.model_copy(update=moved(each.score, (each.document_id,))) for each in context.pages
    ]
    return context.model_copy(
        update={
            "chunks": tuple(sorted(chunks, key=lambda each: -each.score)),
            "nodes": tuple(sorted(nodes, key=lambda each: -each.score)),
            "pages": tuple(sorted(pages, key=lambda each: -each.score)),
            "confidence": confidence,
        }
    )
