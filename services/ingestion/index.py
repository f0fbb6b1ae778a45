"""How chunks and nodes stand in the vector store; retrieval reads what is written here."""

from collections.abc import Sequence

from services.knowledge.model import Attribute, Chunk, IncidentNode
from services.knowledge.ports import Point

_SUMMARY_LENGTH = 600
"""Characters of the failure description that are embedded: about half of the model's window."""
_DESCRIPTION_LENGTH = 4_000
"""Characters of the failure description that BM25 sees: beyond, words of cases drown its own."""


def chunk_point(chunk: Chunk, vector: Sequence[float]) -> Point:
    """The point of a chunk; its payload is the chunk as JSON."""
    return Point(
        id=chunk.id,
        document_ids=(chunk.span.document_id,),
        vector=tuple(vector),
        text=chunk.embedded_text,
        payload=chunk.model_dump(mode="json"),
    )


def node_point(node: IncidentNode, vector: Sequence[float]) -> Point:
    """The point of a merged node; its payload is `{"node_id": …}`, the graph holds the rest."""
    return Point(
        id=node.id,
        document_ids=node.document_ids,
        vector=tuple(vector),
        text=node_text(node),
        payload={"node_id": node.id},
    )


def node_text(node: IncidentNode) -> str:
    """What BM25 sees of a node: name, aliases, failure description."""
    return "\n".join((node.name, *node.aliases, _description(node)[:_DESCRIPTION_LENGTH])).strip()


def node_embedded_text(node: IncidentNode) -> str:
    """What is embedded of a node: its name and, in short, what fails."""
    return f"{node.name}\n{(node.summary or _description(node))[:_SUMMARY_LENGTH]}".strip()


def _description(node: IncidentNode) -> str:
    passages = (passage.text for passage in node.passages(Attribute.FAILURE_DESCRIPTION))
    return "\n".join(text for text in (node.summary, *passages) if text)
