"""The parts of a page that is too long to be shown whole: those near what retrieval found."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page
from services.procedure.model import LineRange

_NUMBER = 8
"""Characters that the number of a line takes, with what stands around it."""


def cost(lines: Sequence[str]) -> int:
    """Characters that numbered lines take."""
    return sum(len(line) + _NUMBER for line in lines)


def parts(text: str, found: Sequence[LineRange], characters: int) -> list[LineRange]:
    """Line ranges that fit, in the order of the page: its head, what was found, what is near.

    All of the page where it fits. `found` names the most relevant lines first.
    """
    lines = text.split("\n")
    if cost(lines) <= characters:
        return [(1, len(lines))]
    units = list(_units(text, len(lines)))
    chosen: list[LineRange] = []
    for first, last in _by_nearness(units, found):
        taken = cost(lines[first - 1 : last])
        if taken <= characters:
            chosen.append((first, last))
            characters -= taken
    return list(_joined(sorted(chosen)))


def _units(text: str, last: int) -> Iterator[LineRange]:
    """What is not to be cut: headings, blocks, items of lists; together the whole page."""
    starts = {1}
    for block in parse_page(text).blocks:
        items = block.children if block.kind is BlockKind.LIST else ()
        starts |= {block.start_line, *(item.start_line for item in items)}
    for start, following in pairwise([*sorted(starts), last + 1]):
        yield start, following - 1


def _by_nearness(units: Sequence[LineRange], found: Sequence[LineRange]) -> list[LineRange]:
    """The head of the page, then what was found, the best first, then the others from there on."""
    hits = [
        place
        for first, last in found
        for place, unit in enumerate(units)
        if unit[0] <= last and first <= unit[1]
    ]
    near = sorted(
        range(len(units)), key=lambda place: min((abs(place - hit) for hit in hits), default=place)
    )
    return [units[place] for place in dict.fromkeys((0, *hits, *near))]


def _joined(ranges: Sequence[LineRange]) -> Iterator[LineRange]:
    start, end = ranges[0] if ranges else (1, 0)
    for first, last in ranges[1:]:
        if first > end + 1:
            yield start, end
            start = first
        end = last
    if end:
        yield start, end
