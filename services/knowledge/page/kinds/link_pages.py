"""Pages that are mostly links: their entries lead elsewhere and say little themselves."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from services.knowledge.page.block import (
    Block,
    BlockKind,
    Inline,
    InlineKind,
    Page,
    Words,
    links,
    plain,
)
from services.knowledge.page.box_fit import AS_SHIPPED, Habit
from services.knowledge.page.boxes import find_boxes

_FEWEST = 3
"""Minimum of entries with different targets; two links are a remark."""
_MOST = 0.5
"""Share of the page's items that are entries."""
_MAINLY = 0.5
"""Share of an entry's words that its link must have unless the link begins it."""
_NO_CORRECTIONS: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """An item, paragraph or table row that leads to another page."""

    key: str
    """Key of its block."""
    words: str
    """Words of the link."""
    target: str
    """Address as the page writes it."""


def entries(page: Page) -> Iterator[Entry]:
    """Yield the entries in the page's order: a link begins each, or is at least half of it.

    Numbered items are a sequence to go through, and entries of the page's own contents lead nowhere
    else: both are excluded.
    """
    for place in page.places():
        block = place.block
        if _in_contents(block, place.parents) or block.number or block.is_withheld:
            continue
        if block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH, BlockKind.DEFINITION}:
            leads = [_lead(block.words)]
        else:
            leads = [_lead(row[0]) for row in block.rows if row]
        for link in filter(None, leads):
            yield Entry(block.key, plain((link,)), link.target.strip())


def is_mostly_links(
    page: Page,
    leading: Collection[str],
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    habit: Habit = AS_SHIPPED,
) -> bool:
    """Return True if a page consists mostly of links to other documents.

    At least three of its entries lead to different places, at least half of its items are such
    entries, and it has no more boxes of its own than these. Of 2,716 pages of public runbooks 37
    are so: lists of procedures, and trees whose steps are pages. Another 360 have three such
    entries among steps of their own, most of them below "See also", and are none.

    Args:
        page: The page.
        leading: Links, as the page writes them, that lead to other documents.
        corrections: An owner's words on boxes, by the key of the block.
        habit: What such words taught of the form of steps.
    """
    if len(leading) < _FEWEST:
        return False
    leading_entries = [entry for entry in entries(page) if entry.target in leading]
    if len({entry.target.partition("#")[0] for entry in leading_entries}) < _FEWEST:
        return False
    keys = {entry.key for entry in leading_entries}
    others = sum(
        place.block.kind is BlockKind.ITEM
        and bool(place.block.words)
        and place.block.key not in keys
        and not _in_contents(place.block, place.parents)
        for place in page.places()
    )
    if len(leading_entries) < _MOST * (len(leading_entries) + others):
        return False
    own = [box for box in find_boxes(page, corrections, habit=habit) if box.block.key not in keys]
    return len(own) <= len(leading_entries)


def _in_contents(block: Block, parents: tuple[Block, ...]) -> bool:
    return any(each.kind is BlockKind.CONTENTS for each in (block, *parents))


def _lead(words: Words) -> Inline | None:
    """Return the link that begins the words or makes up at least half of them, if any."""
    first = next((each for each in _flat(words) if each.children or each.text.strip()), None)
    if first is not None and first.kind is InlineKind.LINK:
        return first
    length = len(plain(words))
    mainly = (each for each in links(words) if len(plain((each,))) >= _MAINLY * length)
    return next(mainly, None)


def _flat(words: Words) -> Iterator[Inline]:
    """Yield the pieces of words, with emphasis dissolved."""
    for each in words:
        if each.kind in {InlineKind.STRONG, InlineKind.EMPHASIS}:
            yield from _flat(each.children)
        else:
            yield each
