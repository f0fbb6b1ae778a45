"""Searchable form of chunks and incident nodes, and the payload that a search returns.

Ingestion writes points and retrieval reads hits; both speak through this file.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic_core import from_json

from services.kit.versions import hash_sources
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.ports import Hit, Point
from services.language.names import split_name
from services.language.words import tokenise

_WORDS = f"words {hash_sources('language/words.py', 'language/names.py', 'language/words.json')}"
"""Payload key of a point's words; another tokenisation uses another key."""
_NAMESPACE = uuid.UUID("6f1d7c0e-8f0b-5a58-9c53-0f9a4f1f5b11")
_MOST_WORDS = 400
"""Limit on the words of a chunk that are compared."""
_MOST_ALIASES = 4
_LONGEST_ALIAS = 120
_EMBEDDED_DESCRIPTION = 600
"""Character limit: about half of the model's window, so that the names keep their weight."""
_SEARCHED_DESCRIPTION = 4_000
"""Character limit for BM25; beyond it, words of cases drown the node's own."""


def chunk_point(chunk: Chunk, vector: Sequence[float]) -> Point:
    """Build the point of a chunk; `vector` is the embedding of `chunk.embedded_text`."""
    return Point(
        id=chunk.id,
        document_ids=(chunk.span.document_id,),
        vector=tuple(vector),
        text=chunk.embedded_text,
        payload={
            **chunk.model_dump(mode="json"),
            _WORDS: " ".join(_compared_words(chunk.embedded_text)),
        },
    )


def chunk_of(payload: Mapping[str, object]) -> Chunk:
    """Return the chunk of a matching point."""
    return Chunk.model_validate({name: payload[name] for name in Chunk.model_fields})


def chunk_words(payload: Mapping[str, object]) -> Sequence[str]:
    """Return the chunk's stemmed words in order, only the first ones of a long chunk.

    They are as stored; for a point of a release with another tokenisation they are recomputed.
    """
    stored = payload.get(_WORDS)
    if isinstance(stored, str):
        return stored.split()
    heading = payload.get("heading_path")
    path = heading if isinstance(heading, list) else []
    return _compared_words("\n".join((*map(str, path), str(payload.get("text", "")))))


def point_key(id_: str) -> uuid.UUID:
    """Return the id that engines of vectors know a point by."""
    return uuid.uuid5(_NAMESPACE, id_)


def stored_payload(point: Point) -> dict[str, object]:
    """Return what Qdrant stores of a point beside its vectors."""
    return {
        "id": point.id,
        "document_ids": list(point.document_ids),
        "payload": json.dumps(point.payload),
    }


def hit_of(stored: Mapping[str, Any], dense_score: float, sparse_score: float) -> Hit:
    """Return the hit of a point, from what `stored_payload` made of it."""
    return Hit(
        id=stored["id"],
        payload=from_json(stored["payload"]),
        dense_score=dense_score,
        sparse_score=sparse_score,
    )


def _compared_words(text: str) -> list[str]:
    return tokenise(text)[:_MOST_WORDS]


def node_embedded_text(node: IncidentNode) -> str:
    """Return the text embedded for a node: its names in words, and its failure description."""
    aliases = (alias for alias in node.aliases if len(alias) <= _LONGEST_ALIAS)
    names = dict.fromkeys(map(_in_words, (node.name, *islice(aliases, _MOST_ALIASES))))
    return f"{'. '.join(names)}\n{_description(node)[:_EMBEDDED_DESCRIPTION]}".strip()


def node_point(node: IncidentNode, vector: Sequence[float]) -> Point:
    """Build the point of a node; `vector` is the embedding of `node_embedded_text(node)`.

    The payload says what it is found by; the whole node is in the graph store.
    """
    description = _description(node)[:_SEARCHED_DESCRIPTION]
    return Point(
        id=node.id,
        document_ids=node.document_ids,
        vector=tuple(vector),
        text="\n".join((node.name, *node.aliases, description)).strip(),
        payload=node_payload(node),
    )


def node_payload(node: IncidentNode) -> dict[str, object]:
    """Return the payload of a node in search results."""
    return {
        "document_ids": list(node.document_ids),
        "name": node.name,
        "aliases": list(node.aliases),
    }


def _in_words(name: str) -> str:
    """Split a name that is written as one word; a sentence stays as it is."""
    return name if " " in name.strip() else split_name(name)


def _description(node: IncidentNode) -> str:
    passages = (passage.text for passage in node.failure_description)
    return "\n".join(text for text in (node.summary, *passages) if text)
