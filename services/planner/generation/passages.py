"""What the model is shown of a context: passages with ids, both lists in falling relevance."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from services.knowledge.model import IncidentNode, KnowledgeContext, RetrievedChunk, Span
from services.llm.tokens import CHARACTERS_PER_TOKEN

_LEAST_CHARACTERS = 40
"""A passage cut to less says nothing."""


@dataclass(frozen=True)
class ShownPassage:
    """One passage of a node or one chunk, under the id that the model cites it by."""

    id: str
    heading: str
    text: str
    span: Span


@dataclass(frozen=True)
class Shown:
    """All that the model is shown; a passage of a node is `n1`, `n2`, a chunk `c1`, `c2`."""

    nodes: tuple[ShownPassage, ...]
    chunks: tuple[ShownPassage, ...]

    @property
    def by_id(self) -> dict[str, ShownPassage]:
        """Every passage by its id."""
        return {passage.id: passage for passage in (*self.nodes, *self.chunks)}


def shown(context: KnowledgeContext, tokens: int) -> Shown:
    """The most relevant passages that fit `tokens`, of nodes and chunks by turns.

    No line is shown twice: a chunk that a node's passage holds is left out.
    """
    left = int(tokens * CHARACTERS_PER_TOKEN)
    found: dict[str, list[ShownPassage]] = {"n": [], "c": []}
    seen: list[Span] = []
    for kind, heading, text, span in _by_turns(context):
        cost = len(heading) + len(text)
        if any(_holds(other, span) for other in seen) or left < _LEAST_CHARACTERS:
            continue
        ids = found[kind]
        ids.append(ShownPassage(f"{kind}{len(ids) + 1}", heading, text[:left], span))
        seen.append(span)
        left -= cost
    return Shown(tuple(found["n"]), tuple(found["c"]))


def as_text(passages: tuple[ShownPassage, ...]) -> str:
    """The passages one after the other, each under its id and heading."""
    return "\n\n".join(f"[{p.id}] {p.heading}\n{p.text}" for p in passages) or "(none)"


_Piece = tuple[str, str, str, Span]


def _by_turns(context: KnowledgeContext) -> Iterator[_Piece]:
    nodes = [list(_of_node(hit.node)) for hit in context.nodes]
    chunks = [_of_chunk(hit) for hit in context.chunks]
    for pieces, chunk in zip_longest(nodes, chunks):
        yield from pieces or ()
        if chunk:
            yield chunk


def _of_node(node: IncidentNode) -> Iterator[_Piece]:
    for passage in node.all_passages():
        heading = " > ".join(dict.fromkeys((node.name, *passage.heading_path[-1:])))
        yield "n", heading, passage.text.strip(), passage.span


def _of_chunk(hit: RetrievedChunk) -> _Piece:
    chunk = hit.chunk
    return "c", " > ".join(chunk.heading_path), chunk.text.strip(), chunk.span


def _holds(outer: Span, inner: Span) -> bool:
    return (
        outer.document_id == inner.document_id
        and outer.start_line <= inner.start_line
        and inner.end_line <= outer.end_line
    )
