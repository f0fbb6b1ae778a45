"""Surroundings of an incident node in the graph."""

from collections.abc import Iterator, Sequence

from services.contracts.retrieval import Link, NodeSummary, NodeSurroundings
from services.kit.errors import NotFoundError
from services.knowledge.model import IncidentNode
from services.knowledge.ports import GraphStore

MOST_AROUND = 40
"""Most nodes around one; more are a list, and no drawing that anybody reads."""


class NodeNotFoundError(NotFoundError):
    """No incident node has this id."""


def surroundings(graph: GraphStore, node_id: str, hops: int) -> NodeSurroundings:
    """See `Retrieval.surroundings`."""
    matches = graph.get([node_id])
    if not matches:
        raise NodeNotFoundError(f"no incident node has the id {node_id[:80]!r}")
    node = matches[0]
    near = graph.neighbours(node_id, hops=hops)
    beside = (each.id for each in graph.of_documents(node.document_ids))
    ids = [id_ for id_ in dict.fromkeys((*near, *beside)) if id_ != node_id]
    around = graph.get(ids[:MOST_AROUND])
    return NodeSurroundings(
        node=node,
        around=tuple(map(NodeSummary.of, around)),
        links=tuple(_links((node, *around))),
        left_out=len(ids) - len(around),
    )


def _links(nodes: Sequence[IncidentNode]) -> Iterator[Link]:
    """Yield each link once, in the order of the nodes."""
    for source in nodes:
        linked = set(source.linked_documents)
        for target in nodes:
            if target is not source and linked.intersection(target.document_ids):
                yield Link(source=source.id, target=target.id)
