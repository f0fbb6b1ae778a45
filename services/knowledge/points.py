"""What of a chunk and of an incident node is searchable, and what comes back from a search.

Ingestion writes points and retrieval reads hits; both speak through this file.
"""

from collections.abc import Sequence

from services.knowledge.bm25 import split_name
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.ports import Hit, Point

_MOST_ALIASES = 8
_DESCRIPTION_CHARACTERS = 1200
"""About 256 word pieces: what lies beyond them the embedder does not see."""


def chunk_point(chunk: Chunk, vector: Sequence[float]) -> Point:
    """The point of a chunk; `vector` is the embedding of `chunk.embedded_text`."""
    return Point(
        id=chunk.id,
        document_ids=(chunk.span.document_id,),
        vector=tuple(float(x) for x in vector),
        text=chunk.embedded_text,
        # The chunk stays one string, so that only the few that are returned are parsed.
        payload={
            "document_id": chunk.span.document_id,
            "heading_path": list(chunk.heading_path),
            "chunk": chunk.model_dump_json(),
        },
    )


def chunk_of(hit: Hit) -> Chunk:
    """The chunk whose point was found."""
    return Chunk.model_validate_json(str(hit.payload["chunk"]))


def node_text(node: IncidentNode) -> str:
    """What is embedded for a node: its name in words, its other names, and how it fails."""
    names = dict.fromkeys((split_name(node.name), *node.aliases[:_MOST_ALIASES]))
    return "\n".join((". ".join(names), _description(node)))


def node_point(node: IncidentNode, vector: Sequence[float]) -> Point:
    """The point of a node; `vector` is the embedding of `node_text(node)`.

    The payload says what it is found by; the whole node is in the graph store.
    """
    names = "\n".join((node.name, *node.aliases))
    return Point(
        id=node.id,
        document_ids=node.document_ids,
        vector=tuple(float(x) for x in vector),
        text="\n".join((names, _description(node))),
        payload={
            "document_ids": list(node.document_ids),
            "name": node.name,
            "aliases": list(node.aliases),
        },
    )


def _description(node: IncidentNode) -> str:
    passages = (p.text for p in node.failure_description)
    return "\n".join((node.summary, *passages))[:_DESCRIPTION_CHARACTERS].strip()
