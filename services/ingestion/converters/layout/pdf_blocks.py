"""Blocks of a PDF, from font sizes, markers, indents and gaps."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from services.ingestion.converters.layout.blocks import LayoutBlock, LayoutKind
from services.ingestion.converters.layout.pdf_lines import Line, Word, join_words
from services.ingestion.converters.literal import escaped, image, inline_code

_LARGER = 1.08
"""Least ratio of a heading's font size to the body's."""
_HEADING_LENGTH = 120
_NEW_PARAGRAPH_GAP = 0.75
"""Least gap between two lines that starts a paragraph, as a share of the font size."""
_WRAPPED_HEADING_GAP = 0.4
_INDENT = 2.0
"""Points from which an indent is more than imprecision."""
_TABLE_INDENT = 12.0
_BULLET = re.compile(r"[•◦▪▫‣⁃·●○■□–—*\-o]")
_NUMBER = re.compile(r"\(?(\d{1,3}|[a-zA-Z])[.):]")
_BARE_NUMBER = re.compile(r"\d{1,2}")
_NUMBERED = re.compile(r"\d")
_SENTENCE_END = re.compile(r"[.!?:;]$")


@dataclass(frozen=True)
class _Marker:
    """Marker of a list item, with the positions of it and of its text."""

    text: str
    x: float
    text_x: float
    words: int


@dataclass
class _PdfLayout:
    """State of the reading: the blocks so far, the open list items and the fonts."""

    right: float
    """Right end of the longest line."""
    body: float
    """Font size of most of the text."""
    levels: dict[tuple[float, bool], int]
    """Level of a heading by its look: the larger or bolder, the higher."""
    blocks: list[LayoutBlock] = field(default_factory=list)
    open_items: list[_Marker] = field(default_factory=list)
    previous: Line | None = None
    code_x: float = 0.0


def blocks(lines: Sequence[Line]) -> list[LayoutBlock]:
    """Return all blocks in reading order, each in the list item it belongs to."""
    right = max((line.x1 for line in lines if line.is_text and not line.is_code), default=0.0)
    sizes: Counter[float] = Counter()
    for line in lines:
        if line.is_text and not line.is_code:
            sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    looks = {(line.size, line.is_bold) for line in lines if _stands_out(line, body)}
    levels = {look: level for level, look in enumerate(sorted(looks, reverse=True), start=1)}
    state = _PdfLayout(right, body, levels)
    for line in lines:
        _take(state, line)
        state.previous = line
    return _under_title(state.blocks)


def _under_title(blocks: Sequence[LayoutBlock]) -> list[LayoutBlock]:
    """Make the opening heading the title, even where the sections look the same as it."""
    levels = [block.depth for block in blocks if block.kind is LayoutKind.HEADING]
    opens = bool(blocks) and blocks[0].kind is LayoutKind.HEADING
    if not opens or _NUMBERED.match(blocks[0].text) or levels.count(1) < 2 or levels[0] != 1:
        return list(blocks)
    title, *rest = blocks
    return [
        title,
        *(
            replace(block, depth=block.depth + 1) if block.kind is LayoutKind.HEADING else block
            for block in rest
        ),
    ]


def _stands_out(line: Line, body: float) -> bool:
    """Return True if the line looks like a heading: larger than the body, or all bold."""
    if not line.is_text or line.is_code or len(line.text) > _HEADING_LENGTH:
        return False
    if line.size > _LARGER * body:
        return True
    return line.is_bold and line.size >= body and not _SENTENCE_END.search(line.text)


def _take(state: _PdfLayout, line: Line) -> None:
    if line.picture:
        text = image(line.picture.words, line.picture.name)
        depth = len(state.open_items)
        state.blocks.append(LayoutBlock(LayoutKind.PARAGRAPH, text, depth))
    elif line.rows:
        # A table belongs to the item where its text begins; it may be centred.
        while state.open_items and abs(line.x0 - state.open_items[-1].text_x) > _TABLE_INDENT:
            state.open_items.pop()
        rows = tuple(tuple(map(escaped, row)) for row in line.rows)
        depth = len(state.open_items)
        state.blocks.append(LayoutBlock(LayoutKind.TABLE, depth=depth, rows=rows))
    elif line.is_code:
        _take_code(state, line)
    elif marker := _marker(state, line):
        while state.open_items and state.open_items[-1].x > marker.x - _INDENT:
            state.open_items.pop()
        text = _inline(line.words[marker.words :])
        depth = len(state.open_items)
        state.blocks.append(LayoutBlock(LayoutKind.ITEM, text, depth, marker.text))
        state.open_items.append(marker)
    elif _stands_out(line, state.body):
        _take_heading(state, line)
    else:
        _take_text(state, line)


def _take_heading(state: _PdfLayout, line: Line) -> None:
    state.open_items.clear()
    level = state.levels[(line.size, line.is_bold)]
    last = state.blocks[-1] if state.blocks else None
    # A heading goes on in this line if it is closer than the next heading would be.
    is_close = _gap(state, line) <= _WRAPPED_HEADING_GAP * line.size
    if last and last.kind is LayoutKind.HEADING and last.depth == level and is_close:
        state.blocks[-1] = replace(last, text=f"{last.text} {escaped(line.text)}")
    else:
        state.blocks.append(LayoutBlock(LayoutKind.HEADING, escaped(line.text), depth=level))


def _take_code(state: _PdfLayout, line: Line) -> None:
    last = state.blocks[-1] if state.blocks else None
    if last and last.kind is LayoutKind.CODE and state.previous and state.previous.is_code:
        blank = "\n" if _gap(state, line) > 1.2 * line.size else ""
        text = f"{last.text}\n{blank}{_code_text(line, state.code_x)}"
        state.blocks[-1] = replace(last, text=text)
        return
    state.code_x = line.x0
    state.blocks.append(
        LayoutBlock(LayoutKind.CODE, _code_text(line, line.x0), _depth(state, line))
    )


def _code_text(line: Line, left: float) -> str:
    """Return the line with as many blanks put back as its widths tell."""
    first = line.words[0]
    width = (first.x1 - first.x0) / max(len(first.text), 1)
    text = ""
    for word in line.words:
        column = round((word.x0 - left) / width)
        text += " " * max(column - len(text), 1 if text else 0) + word.text
    return text


def _take_text(state: _PdfLayout, line: Line) -> None:
    last = state.blocks[-1] if state.blocks else None
    text = _inline(line.words)
    is_text = last is not None and last.kind in {LayoutKind.PARAGRAPH, LayoutKind.ITEM}
    if last is not None and is_text and _continues(state, last, line):
        glue = "" if last.text.endswith("-") and text[:1].islower() else " "
        state.blocks[-1] = replace(last, text=f"{last.text}{glue}{text}")
        return
    state.blocks.append(LayoutBlock(LayoutKind.PARAGRAPH, text, _depth(state, line)))


def _continues(state: _PdfLayout, last: LayoutBlock, line: Line) -> bool:
    """Return True if the line goes on with the block before it, also across pages."""
    previous = state.previous
    if previous is None or not previous.is_text or previous.is_code:
        return False
    if last.kind is LayoutKind.ITEM and not _belongs_to_item(state, previous, line):
        return False
    if previous.page != line.page:
        return not _SENTENCE_END.search(last.text)
    return _gap(state, line) <= _NEW_PARAGRAPH_GAP * line.size


def _belongs_to_item(state: _PdfLayout, previous: Line, line: Line) -> bool:
    """Return True if the line is indented into the last item, or wraps back to its marker."""
    marker = state.open_items[-1]
    if line.x0 > marker.x + _INDENT:
        return True
    first = line.words[0]
    had_room = previous.x1 + line.size / 2 + (first.x1 - first.x0) < state.right
    return line.x0 > marker.x - _INDENT and not had_room


def _gap(state: _PdfLayout, line: Line) -> float:
    """Return the points between the previous line and this one; infinite across pages."""
    if state.previous is None or state.previous.page != line.page:
        return float("inf")
    return line.top - state.previous.bottom


def _depth(state: _PdfLayout, line: Line) -> int:
    """Count the open items that the line is indented into; close the deeper ones."""
    while state.open_items and line.x0 < state.open_items[-1].text_x - _INDENT:
        state.open_items.pop()
    return len(state.open_items)


def _marker(state: _PdfLayout, line: Line) -> _Marker | None:
    first, *rest = line.words
    if not rest:
        return None
    text_x = rest[0].x0
    if _BULLET.fullmatch(first.text):
        return _Marker("-", first.x0, text_x, 1)
    if _stands_out(line, state.body):  # a numbered heading
        return None
    if number := _NUMBER.fullmatch(first.text):
        text = number.group(1)
        # Letters count from a = 1, since Markdown has numbers only.
        count = int(text) if text.isdigit() else ord(text.lower()) - ord("a") + 1
        return _Marker(f"{count}.", first.x0, text_x, 1)
    if _BARE_NUMBER.fullmatch(first.text) and _is_next(state, first, text_x):
        return _Marker(f"{first.text}.", first.x0, text_x, 1)
    return None


def _is_next(state: _PdfLayout, word: Word, text_x: float) -> bool:
    """Return True if a bare number is the next of its list, set apart from the text."""
    if text_x - word.x1 < 0.5 * word.size:
        return False
    siblings = [item.text for item in state.open_items if abs(item.x - word.x0) <= _INDENT]
    last = siblings[-1] if siblings else "0."
    return last != "-" and int(word.text) == int(last.rstrip(".")) + 1


def _inline(words: Sequence[Word]) -> str:
    """Return the text with runs of monospaced words marked as code."""
    parts: list[tuple[str, Word]] = []
    for is_code, run in groupby(words, key=lambda word: word.is_code):
        group = list(run)
        text = join_words((word.text, word) for word in group)
        marked = inline_code(text) if is_code else escaped(text)
        # The last word stands for the run's end, so a gap is measured from there.
        parts.append((marked, replace(group[-1], x0=group[0].x0)))
    return join_words(parts)
