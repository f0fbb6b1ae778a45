"""A context without the sentences that speak to a language model; lines keep their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.knowledge.instructions import instruction_in
from services.knowledge.model import (
    Attribute,
    IncidentNode,
    KnowledgeContext,
    Passage,
    RetrievedChunk,
)
from services.knowledge.screening import screen_document, screen_message

_NAMELESS = "Incident"


@dataclass(frozen=True)
class Trusted:
    """What planner and scorer may use of a context."""

    context: KnowledgeContext
    suspicious: tuple[str, ...]
    """What was taken out of it, none twice."""


def trusted(context: KnowledgeContext) -> Trusted:
    """The context whose sentences may become steps, support citations and be shown to a model.

    With a heading that speaks to a model goes its section; with a title what stands right under it,
    since all of a page stands under its title.
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
    update = _screened(chunk.heading_path, chunk.text, found)
    if update:
        yield hit.model_copy(update={"chunk": chunk.model_copy(update=update)})


def _node(node: IncidentNode, found: dict[str, None]) -> IncidentNode:
    passages = {
        each.value: tuple(p for passage in node.passages(each) for p in _passage(passage, found))
        for each in Attribute
    }
    found.update(dict.fromkeys(filter(_is_one, (node.name, *node.aliases))))
    return node.model_copy(
        update={
            **passages,
            "name": _clean(node.name),
            "aliases": tuple(alias for alias in node.aliases if not _is_one(alias)),
            "summary": screen_document(node.summary).text,
        }
    )


def _passage(passage: Passage, found: dict[str, None]) -> Iterator[Passage]:
    update = _screened(passage.heading_path, passage.text, found)
    if update:
        yield passage.model_copy(update=update)


def _screened(
    path: Sequence[str], text: str, found: dict[str, None]
) -> Mapping[str, object] | None:
    """Heading path and text as they may be used; None where nothing may."""
    bad = [heading for heading in path if _is_one(heading)]
    found.update(dict.fromkeys(bad))
    if bad and (len(path) == 1 or bad != [path[0]]):
        found[text] = None
        return None
    screened = screen_document(text)
    found.update(dict.fromkeys(screened.dropped))
    return {"heading_path": tuple(map(_clean, path)), "text": screened.text}


def _clean(heading: str) -> str:
    """A heading without what in it speaks to a model."""
    if not _is_one(heading):
        return heading
    left = screen_message(heading).text.strip(" .")
    return _NAMELESS if not left or _is_one(left) else left


def _is_one(heading: str) -> bool:
    """A heading counts as one also where its marks make it one, as in `### System:`."""
    return instruction_in(f"# {heading}") is not None or instruction_in(heading) is not None
