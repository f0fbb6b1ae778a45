"""Merging of the same incident in several documents into one node."""

import re
from collections.abc import Iterable, Sequence

from services.knowledge.model import Attribute, IncidentNode, Passage

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def normalise_name(name: str) -> str:
    """Normalise a name for comparison: `BGP_PEER-Down` and `bgp peer down` are equal."""
    return _NOT_ALPHANUMERIC.sub("", name).casefold()


def merge(parts: Sequence[IncidentNode]) -> IncidentNode:
    """Merge the parts of a node, in the order of their documents; at least one part.

    Nothing is lost but exact repetitions: a passage of the same role and the same words, a name
    or a link that an earlier part has. The first part names the node; other spellings are aliases.
    """
    first = parts[0]
    names = (name for part in parts for name in (part.name, *part.aliases))
    fields = {
        attribute.value: _distinct(p for part in parts for p in part.passages(attribute))
        for attribute in Attribute
    }
    return first.model_copy(
        update={
            "aliases": tuple(name for name in dict.fromkeys(names) if name != first.name),
            "summary": next((part.summary for part in parts if part.summary), ""),
            "linked_documents": tuple(
                dict.fromkeys(id_ for part in parts for id_ in part.linked_documents)
            ),
            **fields,
        }
    )


def merge_by_id(nodes: Sequence[IncidentNode]) -> dict[str, IncidentNode]:
    """Return the nodes of one document by id, merging those of the same incident."""
    same: dict[str, list[IncidentNode]] = {}
    for node in nodes:
        same.setdefault(node.id, []).append(node)
    return {id_: merge(parts) for id_, parts in same.items()}


def _distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    seen: dict[tuple[str, str], Passage] = {}
    for passage in passages:
        seen.setdefault((passage.role, " ".join(passage.text.split())), passage)
    return tuple(seen.values())
