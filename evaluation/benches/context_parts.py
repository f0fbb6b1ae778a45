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
    """That part, with the pages where anything of it is left.

    How likely the context fits the ticket stays as retrieval found it.
    """
    chunks = part in {ContextPart.CHUNKS, ContextPart.BOTH}
    nodes = part in {ContextPart.NODES, ContextPart.BOTH}
    return context.model_copy(
        update={
            "chunks": context.chunks if chunks else (),
            "nodes": context.nodes if nodes else (),
            "pages": context.pages if chunks or nodes else (),
        }
    )
