"""How far up the right page stands, beside what plain searches find."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from evaluation.material.pairs import TITLED, Pair
from evaluation.measures.figures import Figures, Report, mean_figures, mean_over_sets
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.knowledge.model import KnowledgeContext
from services.knowledge.ports import Embedder, Hit, VectorStore
from services.knowledge.stores.points import chunk_of

_DEPTH = 20
"""Chunks and nodes asked for: enough for ten distinct documents."""
_BASELINE_DEPTH = 100
"""Points that a plain search returns before they are folded into documents."""
_RRF_K = 60
"""Cormack et al., Reciprocal Rank Fusion, 2009."""

Search = Callable[[RetrieveRequest], Sequence[str]]
"""Ids of documents, best first."""


def request_of(pair: Pair, form: str) -> RetrieveRequest:
    """What a system that sends this alert, or a person who writes this text, would ask."""
    if pair.alert:
        return RetrieveRequest(
            alert_name=pair.alert,
            description=pair.forms[form],
            top_chunks=_DEPTH,
            top_nodes=_DEPTH,
        )
    depth = {"top_chunks": _DEPTH, "top_nodes": _DEPTH}
    return RetrieveRequest.of_ticket(ScreenedTicket(pair.ticket(form))).model_copy(update=depth)


def ranked_documents(context: KnowledgeContext) -> list[str]:
    """Distinct documents by the best score of any chunk or node of theirs, best first."""
    best: dict[str, float] = {}
    for chunk in context.chunks:
        document_id = chunk.chunk.span.document_id
        best[document_id] = max(best.get(document_id, 0.0), chunk.score)
    for node in context.nodes:
        for document_id in node.node.document_ids:
            best[document_id] = max(best.get(document_id, 0.0), node.score)
    return sorted(best, key=lambda document_id: -best[document_id])


def searches(retrieval: Retrieval, vectors: VectorStore, embedder: Embedder) -> dict[str, Search]:
    """Retrieval itself, then the baselines: BM25, the embedder, and both fused by rank."""

    def hits(request: RetrieveRequest) -> list[Hit]:
        text = f"{request.alert_name} {request.description or request.title}".strip()
        vector = embedder.embed([text])[0].tolist()
        return vectors.search("chunks", vector=vector, text=text, limit=_BASELINE_DEPTH)

    def by_words(request: RetrieveRequest) -> list[str]:
        return _documents(hits(request), lambda hit: hit.sparse_score)

    def by_meaning(request: RetrieveRequest) -> list[str]:
        return _documents(hits(request), lambda hit: hit.dense_score)

    def fused(request: RetrieveRequest) -> list[str]:
        return _fused([by_words(request), by_meaning(request)])

    return {
        "retrieval": lambda request: ranked_documents(retrieval.retrieve(request)),
        "bm25": by_words,
        "embedder": by_meaning,
        "rank fusion": fused,
    }


def run(
    pairs: Sequence[Pair],
    searches: Mapping[str, Search],
    config: Mapping[str, object],
    seconds: Callable[[], float],
    advance: Callable[[], None] = lambda: None,
) -> Report:
    """Every form of every pair that names its page, through every search; the first leads."""
    ranks: dict[str, dict[tuple[str, str], int | None]] = {name: {} for name in searches}
    chosen = [pair for pair in pairs if pair.gold_documents]
    for pair in chosen:
        for form in pair.forms:
            request = request_of(pair, form)
            for name, search in searches.items():
                ranks[name][pair.id, form] = _rank(search(request), _gold(pair))
            advance()
    first, *baselines = searches
    sets = _sets(chosen, ranks[first])
    return Report.model_validate(
        {
            "benchmark": "retrieval",
            "overall": mean_over_sets(sets),
            "sets": sets,
            "forms": _forms(chosen, ranks[first]),
            "pages": _pages(chosen, ranks[first]),
            "split": {
                "fitted": _figures(chosen, ranks[first], lambda pair: pair.is_fitted),
                "unfitted": _figures(chosen, ranks[first], lambda pair: not pair.is_fitted),
            },
            "baselines": {name: mean_over_sets(_sets(chosen, ranks[name])) for name in baselines},
            "config": dict(config),
            "seconds": round(seconds(), 1),
        }
    )


def _gold(pair: Pair) -> tuple[str, ...]:
    """Any of the pages that treat the fault; of a workflow only the page it was taken from."""
    return pair.gold_documents[:1] if pair.reference else pair.gold_documents


def _rank(documents: Sequence[str], gold: Iterable[str]) -> int | None:
    places = [documents.index(document) + 1 for document in gold if document in documents]
    return min(places, default=None)


def _documents(hits: Iterable[Hit], score: Callable[[Hit], float]) -> list[str]:
    best: dict[str, float] = {}
    for hit in hits:
        document_id = chunk_of(hit.payload).span.document_id
        best[document_id] = max(best.get(document_id, -math.inf), score(hit))
    return sorted(best, key=lambda document_id: (-best[document_id], document_id))


def _fused(rankings: Iterable[Sequence[str]]) -> list[str]:
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, document_id in enumerate(ranking, start=1):
            scores[document_id] = scores.get(document_id, 0.0) + 1 / (_RRF_K + place)
    return sorted(scores, key=lambda document_id: (-scores[document_id], document_id))


def _measured(rank: int | None) -> Figures:
    return {
        **{f"r_at_{k}": float(rank is not None and rank <= k) for k in (1, 5, 10)},
        "mrr": 1 / rank if rank else 0.0,
    }


_Ranks = Mapping[tuple[str, str], int | None]


def _pair_figures(pair: Pair, ranks: _Ranks) -> Figures:
    """The mean over the pair's forms without the page's title."""
    return mean_figures(_measured(ranks[pair.id, form]) for form in pair.headline_forms)


def _sets(pairs: Sequence[Pair], ranks: _Ranks) -> dict[str, Figures]:
    groups: dict[str, list[Figures]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, []).append(_pair_figures(pair, ranks))
    return {group: {"n": len(rows)} | mean_figures(rows) for group, rows in groups.items()}


def _figures(pairs: Sequence[Pair], ranks: _Ranks, belongs: Callable[[Pair], bool]) -> Figures:
    rows = [_pair_figures(pair, ranks) for pair in pairs if belongs(pair)]
    return {"n": len(rows)} | mean_figures(rows)


def _forms(pairs: Sequence[Pair], ranks: _Ranks) -> dict[str, Figures]:
    rows: dict[str, list[Figures]] = {}
    for pair in pairs:
        for form in pair.forms:
            rows.setdefault(form, []).append(_measured(ranks[pair.id, form]))
    ordered = sorted(rows, key=lambda form: (form == TITLED, form))
    return {form: {"n": len(rows[form])} | mean_figures(rows[form]) for form in ordered}


def _pages(pairs: Sequence[Pair], ranks: _Ranks) -> Figures:
    """Each page counts once, however many pairs name it first; and all but the most named page."""
    pages: dict[str, list[Figures]] = {}
    for pair in pairs:
        pages.setdefault(pair.gold_documents[0], []).append(_pair_figures(pair, ranks))
    if not pages:
        return {"n": 0}
    most = max(pages, key=lambda page: len(pages[page]))
    others = [row["r_at_1"] for page, rows in pages.items() if page != most for row in rows]
    return {
        "n": len(pages),
        **mean_figures(mean_figures(rows) for rows in pages.values()),
        "most_named": len(pages[most]),
        "most_named_r_at_1": round(fmean(row["r_at_1"] for row in pages[most]), 4),
        "others_r_at_1": round(fmean(others), 4) if others else 0.0,
    }
