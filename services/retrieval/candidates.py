"""Candidates for a query from the stores: chunks and nodes, each with two scores."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import structlog

from services.contracts.retrieval import RetrievalStore
from services.kit.errors import UnavailableError
from services.knowledge.ports import Collection, Embedder, GraphStore, Hit, VectorStore
from services.knowledge.stores.points import node_payload
from services.retrieval.query import RetrievalQuery

_log = structlog.get_logger()

_COLLECTIONS: tuple[Collection, ...] = ("chunks", "nodes")
_MOST_BEARERS = 5
"""Most incidents that may bear one name; a name of more says little."""


class ScoredPoint(NamedTuple):
    """A point that at least one of the searches returned."""

    id: str
    payload: Mapping[str, object]
    meaning: float
    """Cosine with the whole ticket."""
    words: float
    """BM25 for the whole ticket, as a share of the best."""


def chunk_document(point: ScoredPoint) -> str:
    """Return the id of the document that a chunk belongs to; empty if it names none."""
    span = point.payload["span"]
    return str(span["document_id"]) if isinstance(span, Mapping) else ""


class Candidates(NamedTuple):
    """All points that were retrieved, before they are ranked."""

    chunks: dict[str, ScoredPoint]
    nodes: dict[str, ScoredPoint]
    named: dict[str, list[str]]
    """Ids of nodes, by the name in the ticket that they bear."""
    missing: tuple[RetrievalStore, ...] = ()
    """Stores that did not answer."""
    meaning: Sequence[float] = ()
    """Vector of the whole ticket."""


def find_candidates(
    query: RetrievalQuery,
    embedder: Embedder,
    vectors: VectorStore,
    graph: GraphStore,
    *,
    limit: int,
) -> Candidates:
    """Search chunks and nodes for the ticket, and nodes by names.

    Raises:
        UnavailableError: Neither the vector store nor the graph answered.
    """
    missing: list[RetrievalStore] = []
    try:
        meaning = embedder.embed([query.meaning or query.words])[0].tolist()
        chunks, nodes = (
            _scored_points(vectors.search(each, vector=meaning, text=query.words, limit=limit))
            for each in _COLLECTIONS
        )
    except UnavailableError as error:
        _log.warning("retrieval.degraded", without="vectors", reason=str(error))
        missing.append("vectors")
        chunks, nodes, meaning = {}, {}, []
    try:
        named, bearers = _search_names(query, graph, nodes)
    except UnavailableError as error:
        if missing:
            raise
        _log.warning("retrieval.degraded", without="graph", reason=str(error))
        missing.append("graph")
        named, bearers = {}, {}
    return Candidates(chunks, nodes | bearers, named, tuple(missing), meaning)


def _search_names(
    query: RetrievalQuery, graph: GraphStore, seen: Mapping[str, ScoredPoint]
) -> tuple[dict[str, list[str]], dict[str, ScoredPoint]]:
    """Return ids of nodes by name, and the points of those nodes that were not seen yet."""
    named = {
        name: ids
        for name, ids in graph.find_names(query.names).items()
        if len(ids) <= _MOST_BEARERS
    }
    unseen = {id_ for ids in named.values() for id_ in ids} - seen.keys()
    return named, {
        node.id: ScoredPoint(node.id, node_payload(node), 0.0, 0.0)
        for node in graph.get(sorted(unseen))
    }


def _scored_points(hits: Sequence[Hit]) -> dict[str, ScoredPoint]:
    most = max((hit.sparse_score for hit in hits), default=0.0) or 1.0
    return {
        hit.id: ScoredPoint(hit.id, hit.payload, hit.dense_score, hit.sparse_score / most)
        for hit in hits
    }
