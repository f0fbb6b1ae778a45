"""Which blocks of a page are steps to tick off."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.knowledge.page.block import Block, BlockKind, Page, Place, plain

_NO_CORRECTIONS: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class Box:
    """A step to tick off."""

    place: Place
    options: tuple[Block, ...] = ()
    """Items of which one is to be chosen, where the block leads an either/or."""

    @property
    def block(self) -> Block:
        """The block that is the step."""
        return self.place.block


def find_boxes(page: Page, corrections: Mapping[str, bool] = _NO_CORRECTIONS) -> list[Box]:
    """Return the boxes of a page in its order.

    `corrections` are an owner's words by the key of a block: they stand above anything else.
    """
    return [
        Box(place)
        for place in candidates(page)
        if corrections.get(place.block.key, _is_step(place.block))
    ]


def candidates(page: Page) -> Iterator[Place]:
    """Yield the items and paragraphs that may be steps; withheld ones are none."""
    for place in page.places():
        block = place.block
        is_text = block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH} and plain(block.words)
        if is_text and not block.is_withheld:
            yield place


def _is_step(block: Block) -> bool:
    return block.kind is BlockKind.ITEM or block.text.endswith(":")
