"""What the stores find for a query: chunks and nodes, each with two scores."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import structlog

from services.contracts.retrieval import Part
from services.kit.errors import UnavailableError
from services.knowledge.ports import Collection, Embedder, GraphStore, Hit, VectorStore
from services.knowledge.stores.points import node_payload
from services.retrieval.query import RetrievalQuery

_log = structlog.get_logger()

_COLLECTIONS: tuple[Collection, ...] = ("chunks", "nodes")
_MOST_BEARERS = 5
"""Incidents that may bear one name; a name of more says little."""


class FoundPoint(NamedTuple):
    """A point that at least one of the searches returned."""

    id: str
    payload: Mapping[str, object]
    meaning: float
    """Cosine with the whole ticket."""
    words: float
    """BM25 for the whole ticket, as a share of the best."""


def chunk_document(found: FoundPoint) -> str:
    """The document a found chunk stands in."""
    span = found.payload["span"]
    return str(span["document_id"]) if isinstance(span, Mapping) else ""


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
    """Search chunks and nodes for the ticket, and nodes by names.

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
    meaning = embedder.embed([query.meaning or query.words])[0].tolist()
    chunks, nodes = (
        _found(vectors.search(collection, vector=meaning, text=query.words, limit=limit))
        for collection in _COLLECTIONS
    )
    return chunks, nodes, meaning


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
        node.id: FoundPoint(node.id, node_payload(node), 0.0, 0.0)
        for node in graph.get(sorted(unseen))
    }


def _found(hits: Sequence[Hit]) -> dict[str, FoundPoint]:
    most = max((hit.sparse_score for hit in hits), default=0.0) or 1.0
    return {
        hit.id: FoundPoint(hit.id, hit.payload, hit.dense_score, hit.sparse_score / most)
        for hit in hits
    }
