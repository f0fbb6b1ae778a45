"""Words of a block line by line, for searches in single lines of a page."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from services.knowledge.page.block import Block, BlockKind, Inline, InlineKind, Words, plain


def word_lines(block: Block) -> Iterator[tuple[int, Words]]:
    """Yield each line of a block's own words, or each cell of a table, with its line number.

    Words of HTML stand on the line on which the block begins: how it is wrapped shows nowhere.
    """
    if block.kind is BlockKind.TABLE:
        lines = _cells(block)
    else:
        lines = zip(count(block.start_line), _split(block.words), strict=False)
    yield from ((min(number, block.own_end), words) for number, words in lines if plain(words))


def _cells(table: Block) -> Iterator[tuple[int, Words]]:
    """Yield the cells; a Markdown table has a line of dashes below its header."""
    rows = [table.header, *table.rows]
    has_dashes = table.header and table.end_line - table.start_line == len(rows)
    for place, row in enumerate(rows):
        number = table.start_line + (place + min(place, 1) if has_dashes else 0)
        yield from ((number, cell) for cell in row)


def _split(words: Words) -> list[Words]:
    """Return the words of each line; a piece that spans several lines is split between them."""
    lines: list[list[Inline]] = [[]]
    for each in words:
        if each.kind is InlineKind.BREAK and each.text:
            lines.append([])
            continue
        first, *further = _split(each.children)
        lines[-1].append(replace(each, children=first))
        lines += ([replace(each, children=part)] for part in further)
    return [tuple(line) for line in lines]
