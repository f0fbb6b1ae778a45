"""What the stores find for a query: chunks and nodes, each with four scores."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import structlog

from services.contracts.retrieval import Part
from services.kit.errors import UnavailableError
from services.knowledge.ports import Collection, Embedder, GraphStore, Hit, VectorStore
from services.knowledge.stores.points import node_payload
from services.retrieval.query import RetrievalQuery

_log = structlog.get_logger()

_MOST_BEARERS = 5
"""Incidents that may bear one name; a name of more says little."""


class FoundPoint(NamedTuple):
    """A point that at least one of the searches returned."""

    id: str
    payload: Mapping[str, object]
    meaning: float
    """Cosine with the whole ticket."""
    focus: float
    """Cosine with the ticket's one line."""
    words: float
    """BM25 for the whole ticket, as a share of the best."""
    focus_words: float
    """BM25 for the one line, as a share of the best."""


class Candidates(NamedTuple):
    """All that was found, before it is ranked."""

    chunks: dict[str, FoundPoint]
    nodes: dict[str, FoundPoint]
    named: dict[str, list[str]]
    """Ids of nodes by the name in the ticket that they bear."""
    without: tuple[Part, ...] = ()
    """What did not answer."""
    meaning: Sequence[float] = ()
    """The vector of the whole ticket."""


def find_candidates(
    query: RetrievalQuery,
    embedder: Embedder,
    vectors: VectorStore,
    graph: GraphStore,
    *,
    limit: int,
) -> Candidates:
    """Search chunks and nodes for the whole ticket and for its one line, and nodes by names.

    Raises:
        UnavailableError: Neither the vector store nor the graph answered.
    """
    without: list[Part] = []
    try:
        chunks, nodes, meaning = _by_vectors(query, embedder, vectors, limit)
    except UnavailableError as error:
        _log.warning("retrieval.degraded", without="vectors", reason=str(error))
        without.append("vectors")
        chunks, nodes, meaning = {}, {}, []
    try:
        named, bearers = _by_names(query, graph, nodes)
    except UnavailableError as error:
        if without:
            raise
        _log.warning("retrieval.degraded", without="graph", reason=str(error))
        without.append("graph")
        named, bearers = {}, {}
    return Candidates(chunks, nodes | bearers, named, tuple(without), meaning)


def _by_vectors(
    query: RetrievalQuery, embedder: Embedder, vectors: VectorStore, limit: int
) -> tuple[dict[str, FoundPoint], dict[str, FoundPoint], list[float]]:
    """Chunks, nodes, and the vector of the whole ticket."""
    # One by one: embedded together, the short text would cost as much as the long one.
    meaning, focus = (
        embedder.embed([text or query.words])[0] for text in (query.meaning, query.focus)
    )
    found: dict[Collection, dict[str, FoundPoint]] = {}
    for collection in ("chunks", "nodes"):
        whole = vectors.search(collection, vector=meaning.tolist(), text=query.words, limit=limit)
        line = vectors.search(collection, vector=focus.tolist(), text=query.focus, limit=limit)
        found[collection] = _joined(whole, line)
    return found["chunks"], found["nodes"], meaning.tolist()


def _by_names(
    query: RetrievalQuery, graph: GraphStore, seen: Mapping[str, FoundPoint]
) -> tuple[dict[str, list[str]], dict[str, FoundPoint]]:
    """Ids of nodes by name, and those of the nodes that were not seen yet."""
    named = {
        name: ids
        for name, ids in graph.find_names(query.names).items()
        if len(ids) <= _MOST_BEARERS
    }
    unseen = {id_ for ids in named.values() for id_ in ids} - seen.keys()
    return named, {
        node.id: FoundPoint(node.id, node_payload(node), 0.0, 0.0, 0.0, 0.0)
        for node in graph.get(sorted(unseen))
    }


def _joined(whole: list[Hit], line: list[Hit]) -> dict[str, FoundPoint]:
    by_whole = {hit.id: hit for hit in whole}
    by_line = {hit.id: hit for hit in line}
    # Of a point that a search did not return, no more is known than that others are nearer.
    least_whole = min((hit.dense_score for hit in whole), default=0.0)
    least_line = min((hit.dense_score for hit in line), default=0.0)
    most_whole = _most(whole)
    most_line = _most(line)
    found = {}
    for id_, payload in {h.id: h.payload for h in (*whole, *line)}.items():
        a, b = by_whole.get(id_), by_line.get(id_)
        found[id_] = FoundPoint(
            id_,
            payload,
            a.dense_score if a else least_whole,
            b.dense_score if b else least_line,
            a.sparse_score / most_whole if a else 0.0,
            b.sparse_score / most_line if b else 0.0,
        )
    return found


def _most(hits: Iterable[Hit]) -> float:
    return max((hit.sparse_score for hit in hits), default=0.0) or 1.0
