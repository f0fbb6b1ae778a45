"""Words of a block line by line, for what is found in single lines of a page."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from services.knowledge.page.block import Block, BlockKind, Inline, InlineKind, Words, plain


def word_lines(block: Block) -> Iterator[tuple[int, Words]]:
    """Yield each line of a block's own words, or each row of a table, with the line's number.

    Words of HTML stand on the line on which the block begins: how it is wrapped shows nowhere.
    """
    if block.kind is BlockKind.TABLE:
        yield from _rows(block)
        return
    for number, words in zip(count(block.start_line), _split(block.words), strict=False):
        if plain(words):
            yield min(number, block.own_end), words


def _rows(table: Block) -> Iterator[tuple[int, Words]]:
    rows = [table.header, *table.rows]
    is_pipes = bool(table.header) and table.end_line - table.start_line == len(rows)
    for place, row in enumerate(rows):
        line = table.start_line + (place and place + 1 if is_pipes else 0)
        space = Inline(InlineKind.TEXT, " | ")
        words = tuple(piece for cell in row for piece in (space, *cell))[1:]
        if plain(words):
            yield line, words


def _split(words: Words) -> list[Words]:
    """Return the words of each line; what spans several is on each of them with its part."""
    lines: list[list[Inline]] = [[]]
    for each in words:
        if each.kind is InlineKind.BREAK and each.text:
            lines.append([])
            continue
        first, *further = _split(each.children)
        lines[-1].append(replace(each, children=first))
        lines += ([replace(each, children=part)] for part in further)
    return [tuple(line) for line in lines]
