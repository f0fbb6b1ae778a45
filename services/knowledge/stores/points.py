"""What of a chunk and of an incident node is searchable, and what comes back from a search.

Ingestion writes points and retrieval reads hits; both speak through this file.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from services.kit.versions import version_of
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.ports import Point
from services.language.names import split_name
from services.language.words import tokenise

_WORDS = f"words {version_of('language/words.py', 'language/names.py', 'language/words.json')}"
"""Where a point keeps its words; another way to find them keeps them elsewhere."""
_MOST_WORDS = 400
"""Words of a chunk that are compared."""
_MOST_ALIASES = 4
_LONGEST_ALIAS = 120
_EMBEDDED_DESCRIPTION = 600
"""Characters: about half of the model's window, so that the names keep their weight."""
_SEARCHED_DESCRIPTION = 4_000
"""Characters that BM25 sees; beyond, words of cases drown its own."""


def chunk_point(chunk: Chunk, vector: Sequence[float]) -> Point:
    """The point of a chunk; `vector` is the embedding of `chunk.embedded_text`."""
    return Point(
        id=chunk.id,
        document_ids=(chunk.span.document_id,),
        vector=tuple(vector),
        text=chunk.embedded_text,
        payload={**chunk.model_dump(mode="json"), _WORDS: " ".join(_compared(chunk.embedded_text))},
    )


def chunk_of(payload: Mapping[str, object]) -> Chunk:
    """The chunk whose point was found."""
    return Chunk.model_validate({name: payload[name] for name in Chunk.model_fields})


def words_of_chunk(payload: Mapping[str, object]) -> Sequence[str]:
    """Its stemmed words in their order, of a long one the first.

    As they were when it was stored; a point of a release with other words has none of these.
    """
    stored = payload.get(_WORDS)
    if isinstance(stored, str):
        return stored.split()
    heading = payload.get("heading_path")
    path = heading if isinstance(heading, list) else []
    return _compared("\n".join((*map(str, path), str(payload.get("text", "")))))


def _compared(text: str) -> list[str]:
    return tokenise(text)[:_MOST_WORDS]


def node_embedded_text(node: IncidentNode) -> str:
    """What is embedded of a node: its names in words, and how it fails."""
    aliases = (alias for alias in node.aliases if len(alias) <= _LONGEST_ALIAS)
    names = dict.fromkeys(map(_in_words, (node.name, *islice(aliases, _MOST_ALIASES))))
    return f"{'. '.join(names)}\n{_description(node)[:_EMBEDDED_DESCRIPTION]}".strip()


def node_point(node: IncidentNode, vector: Sequence[float]) -> Point:
    """The point of a node; `vector` is the embedding of `node_embedded_text(node)`.

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
    """What a search says of a node."""
    return {
        "document_ids": list(node.document_ids),
        "name": node.name,
        "aliases": list(node.aliases),
    }


def _in_words(name: str) -> str:
    """Spaces into a name that is written together; a sentence stays as it is."""
    return name if " " in name.strip() else split_name(name)


def _description(node: IncidentNode) -> str:
    passages = (passage.text for passage in node.failure_description)
    return "\n".join(text for text in (node.summary, *passages) if text)
