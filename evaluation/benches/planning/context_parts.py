"""A context as a planner would find it that has but a part of what is known."""

from enum import StrEnum

from services.contracts.retrieval import RetrievedContext


class ContextPart(StrEnum):
    """What is left of a context."""

    NOTHING = "nothing"
    CHUNKS = "chunks"
    NODES = "nodes"
    BOTH = "both"


def part_of(context: RetrievedContext, part: ContextPart) -> RetrievedContext:
    """That part, with the readings of the pages where anything of it is left.

    The lines of the pages stay where both parts do: chunks alone, or nodes alone, are all that a
    planner is then shown. How likely the context fits the ticket stays as retrieval found it.
    """
    if part is ContextPart.BOTH:
        return context
    chunks, nodes = part is ContextPart.CHUNKS, part is ContextPart.NODES
    bare = tuple(page.model_copy(update={"text": ""}) for page in context.pages)
    return context.model_copy(
        update={
            "chunks": context.chunks if chunks else (),
            "nodes": context.nodes if nodes else (),
            "pages": bare if chunks or nodes else (),
        }
    )
