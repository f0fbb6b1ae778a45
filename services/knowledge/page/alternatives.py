"""Lists of alternatives, of which one item is to be chosen, recognised by form or lead."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.box_signs import COLONS
from services.knowledge.page.single_choice import asks_for_one

_OR = (
    r"(?:or|oder|ou(?: bien)?|o(?: bien)?|oppure|ou então|of|eller|lub|albo|nebo|или|або|veya|tai"
    r"|または|或者?|또는)"
)
_ENDS_WITH_OR = re.compile(rf"(?:^|[\s,;.:，、；])[-–—(]?{_OR}[\s)]*[.:,;…，]*$", re.IGNORECASE)
_BEGINS_WITH_OR = re.compile(rf"{_OR}(?:[\s,:，、]|(?<=[\u3040-\u9fff]))", re.IGNORECASE)


def alternatives(page: Page) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    """Yield each either/or: the block that leads it and the items to choose from.

    The lead ends with a colon and asks for one of them, or "or" joins them: it ends each item but
    the last, or the last but one, or begins each but the first, or the last.
    """
    yield from _among(page.blocks)
    for place in page.places():
        parent = (place.block,) if place.block.kind is BlockKind.ITEM else ()
        yield from _among((*parent, *place.block.children))


def _among(blocks: Sequence[Block]) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    for lead, block in pairwise(blocks):
        can_lead = lead.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}
        if can_lead and lead.text.endswith(COLONS) and block.kind is BlockKind.LIST:
            items = block.children
            if len(items) > 1 and (_are_joined(items) or asks_for_one(lead.text)):
                yield lead, items


def _are_joined(items: Sequence[Block]) -> bool:
    ends = bool(_ENDS_WITH_OR.search(items[-2].text))
    begins = bool(_BEGINS_WITH_OR.match(items[-1].text))
    return (ends or begins) and not any(item.number and item.children for item in items)
