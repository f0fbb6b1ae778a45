"""Surroundings of an incident node in the graph."""

from services.contracts.retrieval import Link, NodeSummary, NodeSurroundings
from services.kit.errors import NotFoundError
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
        links=tuple(
            Link(source=source.id, target=target.id)
            for source in (node, *around)
            for target in (node, *around)
            if target is not source
            and not set(target.document_ids).isdisjoint(source.linked_documents)
        ),
        left_out=len(ids) - len(around),
    )
