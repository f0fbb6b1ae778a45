"""What a planner must beat: the right page's list as it stands, and chance."""

import itertools
import random
from collections.abc import Iterator, Sequence

from evaluation.material.pairs import Pair
from services.knowledge.document.markdown import Block, parse
from services.knowledge.model import Document, KnowledgeContext
from services.workflow.model import Provenance, Step, StepKind, Transition, Workflow


def best_document(context: KnowledgeContext) -> str | None:
    """The page of the best chunk, or of the best node where no chunk was found."""
    if context.chunks:
        return context.chunks[0].chunk.span.document_id
    documents = [name for hit in context.nodes for name in hit.node.document_ids]
    return documents[0] if documents else None


def list_items(document: Document) -> Workflow | None:
    """Every list item of a page, one step after the other; None when it has no list."""
    texts = [text for section in parse(document.text).sections for text in _items(section.blocks)]
    if not texts:
        return None
    steps = [
        Step(id=f"s{index}", kind=StepKind.PROCESS, text=text) for index, text in enumerate(texts)
    ]
    return Workflow(
        title=document.title,
        steps=tuple(steps),
        transitions=tuple(
            Transition(source=a.id, target=b.id) for a, b in itertools.pairwise(steps)
        ),
        provenance=Provenance(planner="list_items", document_ids=(document.id,)),
    )


def random_reference(pair: Pair, pairs: Sequence[Pair], seed: int) -> Workflow | None:
    """Another pair's reference, the same one whenever the seed is the same."""
    others = [other.reference for other in pairs if other.id != pair.id and other.reference]
    return random.Random(f"{seed}/{pair.id}").choice(others) if others else None  # noqa: S311


def _items(blocks: Sequence[Block]) -> Iterator[str]:
    """In document order, nested items after the one they belong to."""
    for block in blocks:
        yield from _items(block.blocks)
        for item in block.items:
            if item.text:
                yield item.text
            yield from _items(item.blocks)
