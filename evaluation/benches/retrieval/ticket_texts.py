"""The gain that ticket texts bring: ranks of the right pages with such texts, and without."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.benches.retrieval.ranks import ranked_documents, request_of
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import Pair, is_fitted
from evaluation.measures.bootstrap import Interval, intervals
from evaluation.measures.figures import Report
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.contracts.screened_ticket import ScreenedTicket

_DEPTHS = (1, 5, 8)


@dataclass(frozen=True)
class GoldQuery:
    """A query with the page that is right for it."""

    kind: str
    request: RetrieveRequest
    page: str


def gold_queries(
    rows: Iterable[LogicRow], alerts: Iterable[Pair], documents: Iterable[str]
) -> Iterator[GoldQuery]:
    """Yield tickets and alerts whose page is in the library, each page's first alert twice.

    Tickets of even ids are a kind of their own: what is fitted is fitted on them.
    """
    document_ids = set(documents)
    for row in rows:
        if row.page in document_ids:
            half = "even" if is_fitted(row.id) else "odd"
            yield GoldQuery(
                f"tickets, {half}", RetrieveRequest.of_ticket(ScreenedTicket(row.draft)), row.page
            )
    seen: set[str] = set()
    for pair in alerts:
        page = pair.gold_documents[0]
        if page in document_ids:
            form = next(iter(pair.forms))
            request = request_of(pair, form).model_copy(update={"with_cases": True})
            yield GoldQuery("alerts", request, page)
            if page not in seen:
                seen.add(page)
                yield GoldQuery("alerts, one a page", request, page)


def ranks_of(
    queries: Sequence[GoldQuery], retrieval: Retrieval, advance: Callable[[], None]
) -> list[int]:
    """The place of each right page from 1; 0 where it is not found."""
    ranks = []
    for each in queries:
        ranked = ranked_documents(retrieval.retrieve(each.request))
        ranks.append(ranked.index(each.page) + 1 if each.page in ranked else 0)
        advance()
    return ranks


def report(
    queries: Sequence[GoldQuery],
    ways: Mapping[str, Sequence[int]],
    config: Mapping[str, object],
    seconds: float,
) -> Report:
    """Recall at 1, 5 and 8 by kind of query and way, with the gain and its 95 % interval."""
    kinds = list(dict.fromkeys(each.kind for each in queries))
    rows: dict[str, dict[str, float]] = {}
    for kind in kinds:
        own = [n for n, each in enumerate(queries) if each.kind == kind]
        hits = {
            way: np.array([[0 < ranks[n] <= depth for depth in _DEPTHS] for n in own], dtype=float)
            for way, ranks in ways.items()
        }
        for way, table in hits.items():
            rows[f"{kind}, {way}"] = {"n": len(own)} | _recall_figures(
                intervals([table], seed=0), "R@"
            )
        without, with_ = hits.values()
        gain = intervals([with_ - without], seed=0)[0]
        rows[f"{kind}, gain at 1"] = {
            "n": len(own),
            "R@1": round(gain.mean, 3),
            "from": round(gain.low, 3),
            "to": round(gain.high, 3),
        }
    return Report(
        benchmark="found by what people say",
        overall={},
        sets=rows,
        config=dict(config),
        seconds=seconds,
        mean_over="nothing",
    )


def _recall_figures(recalls: Sequence[Interval], name: str) -> dict[str, float]:
    return {
        f"{name}{depth}": round(each.mean, 3) for depth, each in zip(_DEPTHS, recalls, strict=True)
    }
