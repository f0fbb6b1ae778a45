"""Sections of a page that stand open for a ticket, and those that are closed beside them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.block import Block, BlockKind, Page, Place
from services.language.names import is_identifier

WORD = re.compile(r"[^\W_]\w*(?:[._-]\w+)*")
"""Words and names: `FanStopped`, `fan_stopped`, `fan.speed-low`."""
_DOTTED = re.compile(r"[^\W\d_]\w+(?:-\w+)*(?:\.\w{2,}(?:-\w+)*)+")
_HYPHENATED = re.compile(r"[^\W\d_]\w*(?:-\w+){2,}")
_FEWEST_ALERTS = 3


class Stretch(NamedTuple):
    """An outermost block that stands open, or the heading of a closed section."""

    block: Block
    closed: Sequence[Block] | None = None
    """The outermost blocks below the heading of a closed section; None for an open block."""


def closed_headings(page: Page, open_keys: Iterable[str], boxes: Collection[str]) -> frozenset[str]:
    """Return the keys of the headings whose sections are closed.

    These are the siblings of the open ones: of the same level, below the same heading, with a box
    of their own; on a page of alerts all of the same level that name no phase. Sections that
    concern the whole page stay open. `boxes` are the keys of the blocks that are steps.
    """
    open_ = frozenset(open_keys)
    places = list(page.places())
    headings = [p for p in places if p.block.kind is BlockKind.HEADING and not p.parents]
    requested = [place for place in headings if place.block.key in open_]
    families = {family_of(place) for place in requested}
    alerts = Counter(place.block.level for place in headings if names_alert(place.block.text))
    levels = {
        place.block.level
        for place in requested
        if names_alert(place.block.text) and alerts[place.block.level] >= _FEWEST_ALERTS
    }
    ancestors = {heading.key for place in requested for heading in place.headings}
    with_boxes = {h.key for place in places if place.block.key in boxes for h in place.headings}
    candidates = (
        place.block.key
        for place in headings
        if family_of(place) in families
        or (
            place.block.level in levels
            and (names_alert(place.block.text) or role_of_heading(place.block.text) is None)
        )
    )
    return (frozenset(candidates) & with_boxes) - open_ - ancestors


def stretches(page: Page, closed: Collection[str]) -> Iterator[Stretch]:
    """Yield the outermost blocks in order; a closed section comes as one stretch."""
    blocks = page.blocks
    at = 0
    while at < len(blocks):
        block = blocks[at]
        end = at + 1
        if block.key not in closed:
            yield Stretch(block)
        else:
            while end < len(blocks) and not (
                blocks[end].kind is BlockKind.HEADING and blocks[end].level <= block.level
            ):
                end += 1
            yield Stretch(block, blocks[at + 1 : end])
        at = end


def box_count_words(stretch: Stretch, keys: Collection[str]) -> str:
    """Return the number of boxes in a closed section, in words; `keys` are those of boxes."""
    blocks = (block for outermost in stretch.closed or () for block in outermost.walk())
    count = sum(block.key in keys for block in blocks)
    return "1 box" if count == 1 else f"{count} boxes"


def open_share(page: Page, closed: Collection[str]) -> float:
    """Return the share of a page's lines that stand open; 1 for an empty page."""
    lines = {True: 0, False: 0}
    for block, below in stretches(page, closed):
        for each in (block, *(below or ())):
            lines[below is None] += each.end_line - each.start_line + 1
    return lines[True] / sum(lines.values()) if page.blocks else 1.0


def names_alert(title: str) -> bool:
    """Return True if a heading has the name of an alert or setting among its words."""
    return any(map(is_name, WORD.findall(title)))


def is_name(word: str) -> bool:
    """Return True if a word is written as names of alerts and settings are."""
    forms = (_DOTTED, _HYPHENATED)
    return is_identifier(word) or any(form.fullmatch(word) for form in forms)


def family_of(place: Place) -> tuple[int, str]:
    """Return the level of a heading and the key of the one above it: what siblings share."""
    return place.block.level, place.headings[-1].key if place.headings else ""
