"""A context without the sentences that speak to a language model; lines keep their numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.instructions import instruction_in
from services.knowledge.model import (
    Attribute,
    IncidentNode,
    KnowledgeContext,
    Passage,
    RetrievedChunk,
)
from services.knowledge.screening import screen_document

_NAMELESS = "Incident"


@dataclass(frozen=True)
class Trusted:
    """What planner and scorer may use of a context."""

    context: KnowledgeContext
    suspicious: tuple[str, ...]
    """What was taken out of it, none twice."""


def trusted(context: KnowledgeContext) -> Trusted:
    """The context whose sentences may become steps, support citations and be shown to a model.

    Under a heading that speaks to a model nothing is left.
    """
    found: dict[str, None] = {}
    clean = KnowledgeContext(
        chunks=tuple(hit for each in context.chunks for hit in _chunk(each, found)),
        nodes=tuple(
            hit.model_copy(update={"node": _node(hit.node, found)}) for hit in context.nodes
        ),
        linked=tuple(_node(node, found) for node in context.linked),
        confidence=context.confidence,
        fits=context.fits,
    )
    return Trusted(clean, tuple(found))


def _chunk(hit: RetrievedChunk, found: dict[str, None]) -> Iterator[RetrievedChunk]:
    chunk = hit.chunk
    if _speaks(chunk.heading_path):
        found.update(dict.fromkeys((*filter(_is_one, chunk.heading_path), chunk.text)))
        return
    screened = screen_document(chunk.text)
    found.update(dict.fromkeys(screened.dropped))
    if screened.text == chunk.text:
        yield hit
    else:
        yield hit.model_copy(update={"chunk": chunk.model_copy(update={"text": screened.text})})


def _node(node: IncidentNode, found: dict[str, None]) -> IncidentNode:
    passages = {
        each.value: tuple(p for passage in node.passages(each) for p in _passage(passage, found))
        for each in Attribute
    }
    names = (node.name, *(p.heading_path[0] for p in node.all_passages() if p.heading_path))
    found.update(dict.fromkeys(filter(_is_one, (node.name, *node.aliases))))
    return node.model_copy(
        update={
            **passages,
            "name": next((name for name in names if not _is_one(name)), _NAMELESS),
            "aliases": tuple(alias for alias in node.aliases if not _is_one(alias)),
            "summary": screen_document(node.summary).text,
        }
    )


def _passage(passage: Passage, found: dict[str, None]) -> Iterator[Passage]:
    if _speaks(passage.heading_path):
        found.update(dict.fromkeys((*filter(_is_one, passage.heading_path), passage.text)))
        return
    screened = screen_document(passage.text)
    found.update(dict.fromkeys(screened.dropped))
    same = screened.text == passage.text
    yield passage if same else passage.model_copy(update={"text": screened.text})


def _speaks(heading_path: Sequence[str]) -> bool:
    return any(map(_is_one, heading_path))


def _is_one(heading: str) -> bool:
    """A heading counts as one also where its marks make it one, as in `### System:`."""
    return instruction_in(f"# {heading}") is not None or instruction_in(heading) is not None
