"""Blocks of a document without markup, and the Markdown made of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.ingestion.converters.literal import escaped_start, fenced, heading_words

_MONOSPACED = re.compile(
    r"courier|consol|mono|menlo|monaco|typewriter|terminal|fixed|inconsolata|cmtt|sourcecode"
    r"|source code|firacode|fira code|hack",
    re.IGNORECASE,
)


class LayoutKind(StrEnum):
    """Kind of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True)
class LayoutBlock:
    """One block, in reading order."""

    kind: LayoutKind
    text: str = ""
    """Markdown of a line, words in it escaped; of code, the code itself."""
    depth: int = 0
    """Level of a heading from 1; else the number of list items the block stands in."""
    marker: str = ""
    """Marker of an item: `-` or a number with a full stop."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Rows of a table, the head first."""


def is_monospaced(font: str) -> bool:
    """Return True if a font of this name is one that commands are set in."""
    return _MONOSPACED.search(font) is not None


def to_markdown(blocks: Sequence[LayoutBlock]) -> str:
    """Return Markdown in which the content of a list item is indented to belong to it."""
    lines: list[str] = []
    widths: list[int] = []
    previous: LayoutBlock | None = None
    for block in blocks:
        heading = block.kind is LayoutKind.HEADING
        depth = 0 if heading else min(block.depth, len(widths))
        del widths[depth:]
        indent = " " * sum(widths)
        if previous and not (previous.kind is block.kind is LayoutKind.ITEM):
            lines.append("")
        lines += [f"{indent}{line}".rstrip() for line in _lines(block)]
        if block.kind is LayoutKind.ITEM:
            widths.append(len(block.marker) + 1)
        previous = block
    return "\n".join(lines) + "\n"


def _lines(block: LayoutBlock) -> list[str]:
    if block.kind is LayoutKind.HEADING:
        words = heading_words(" ".join(block.text.split()))
        return [f"{'#' * min(max(block.depth, 1), 6)} {words}"]
    if block.kind is LayoutKind.CODE:
        return fenced(block.text.rstrip()).split("\n")
    if block.kind is LayoutKind.TABLE:
        width = max((len(row) for row in block.rows), default=0)
        head, *body = [[*row, *[""] * (width - len(row))] for row in block.rows]
        return [_row(head), _row(["---"] * width), *(_row(row) for row in body)]
    text = [escaped_start(line.strip()) for line in block.text.split("\n") if line.strip()]
    if block.kind is LayoutKind.ITEM:
        first, *rest = text or [""]
        return [f"{block.marker} {first}", *(" " * (len(block.marker) + 1) + line for line in rest)]
    return text


def _row(cells: Sequence[str]) -> str:
    """Return a row of a table, the lines of a cell joined by line breaks."""
    written = []
    for cell in cells:
        lines = (" ".join(line.split()) for line in cell.split("\n"))
        written.append("<br>".join(filter(None, lines)).replace("|", "\\|"))
    return f"| {' | '.join(written)} |"
