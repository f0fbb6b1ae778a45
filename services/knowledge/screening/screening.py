"""Removal of sentences that address a language model; lines keep their numbers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.knowledge.folding import strip_invisible
from services.knowledge.screening.instructions import instruction_in
from services.language.sentences import with_spaces
from services.language.verbs import may_be_instruction

_FENCE = re.compile(r"^\s*(?:>\s*)*(?P<mark>`{3,}|~{3,})")
_HEADING = re.compile(r"^\s{0,3}(?P<level>#{1,6})(?:\s|$)")
_ROW = re.compile(r"^\s*(?:>\s*)*\|.*\|\s*$")
_MARKER = re.compile(
    r"^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)]|\[\^[^\]]+\]:|#{1,6}|:)\s+)?(?:\[[ xX]\]\s+)?"
)
_BEGINS = re.compile(r"^\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)]|\[\^[^\]]+\]:|:)\s+|^\s*>")
_QUOTED = re.compile(r"\n\s*(?:>\s*)+")
_ANY_LEVEL = 6
_LOOKED_BACK = 2000
"""Characters of a line examined before a comment; a bound for endless lines."""
_LONGEST_INLINE_COMMENT = 4000
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_COMMENT_MARK = re.compile(r"^\s*(?:#+|//+|--|;+|/\*+|\*+|REM\b|<!--|\"\"\")\s*")


@dataclass(frozen=True)
class Screened:
    """A text and the parts removed from it."""

    text: str
    """Remaining text, with as many lines as before; invisible characters are removed too."""
    dropped: tuple[str, ...] = ()
    """Sentences that addressed a model, with the rest of their blocks."""


def screen_document(markdown: str) -> Screened:
    """Remove sentences that address a model from Markdown.

    Such a sentence is removed with the rest of its paragraph, list item, table row or code block;
    such a heading with its section, a title with the content right under it. Markers of lists and
    rows stay, so that later numbers do. Comments outside code are removed in any case: no reader
    sees them.
    """
    screening = _Screening(markdown)
    return Screened(strip_invisible("\n".join(screening.lines)), tuple(screening.dropped))


def screen_message(text: str) -> Screened:
    """Screen a ticket's text, which consists of lines rather than paragraphs, as logs do.

    Only sentences that address a model are removed, and commands right after them: the rest of a
    ticket is needed to retrieve its documents.
    """
    kept: list[str] = []
    dropped: list[str] = []
    goes_on = False
    for piece, alone in _with_next_line(_pieces(text)):
        is_one = instruction_in(piece) is not None
        goes_on = is_one or (goes_on and may_be_instruction(alone.strip()))
        if goes_on:
            dropped.append(alone.strip())
        kept.append("\n" * alone.count("\n") if goes_on else alone)
    return Screened(strip_invisible("".join(kept)), tuple(filter(None, dropped)))


def _pieces(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        yield from with_spaces(line) or [line]


def _with_next_line(pieces: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each piece joined with neighbours that a line end may have cut off, and alone."""
    listed = list(pieces)
    for index, piece in enumerate(listed):
        before = listed[index - 1] if index else ""
        cut_before = before.endswith("\n") and _ends_open(before)
        after = listed[index + 1] if index + 1 < len(listed) else ""
        cut_after = piece.endswith("\n") and _ends_open(piece)
        yield (before if cut_before else "") + piece + (after if cut_after else ""), piece


def _ends_open(line: str) -> bool:
    text = line.rstrip()
    return (bool(text) and text[-1].isalpha()) or text.endswith(",")


class _Screening:
    """State of a document that is screened block by block."""

    def __init__(self, markdown: str) -> None:
        self.dropped: list[str] = []
        self.lines = self._without_comments(markdown).split("\n")
        self._until_level = 0
        for start, end in list(_blocks(self.lines)):
            self._block(start, end)

    def _without_comments(self, markdown: str) -> str:
        """Remove comments (`<!--` to `-->`); in code, which shows them, only instructions."""
        code = lines_of_code(markdown)
        pieces: list[str] = []
        line = done = 0
        searched = end = 0
        while (start := markdown.find("<!--", searched)) >= 0:
            end = end if end > start else markdown.find("-->", start)
            if end < 0:
                break
            searched = start + len("<!--")
            if not _is_comment(markdown, start, end):
                continue
            pieces.append(markdown[done:start])
            line += pieces[-1].count("\n")
            done = searched = end + len("-->")
            comment = markdown[start:done]
            pieces.append(self._comment(comment, is_shown=line in code))
            line += comment.count("\n")
        return "".join((*pieces, markdown[done:]))

    def _comment(self, comment: str, *, is_shown: bool) -> str:
        text = comment.removeprefix("<!--").removesuffix("-->").strip()
        speaks = instruction_in(text) is not None
        if speaks:
            self.dropped.append(text)
        return comment if is_shown and not speaks else "\n" * comment.count("\n")

    def _block(self, start: int, end: int) -> None:
        first = self.lines[start]
        heading = None if _FENCE.match(first) else _HEADING.match(first)
        if heading and len(heading["level"]) <= self._until_level:
            self._until_level = 0
        if self._until_level:
            self._drop(start, end, "")
        elif _FENCE.match(first):
            self._code(start + 1, end)
        elif _ROW.match(first):
            self._row(start)
        elif heading and instruction_in(first):
            level = len(heading["level"])
            self._until_level = level if level > 1 else _ANY_LEVEL
            self._drop(start, end, "")
        else:
            self._paragraph(start, end)

    def _code(self, start: int, end: int) -> None:
        closed = end > start and _FENCE.match(self.lines[end - 1]) is not None
        last = end - 1 if closed else end
        for index in range(start, last):
            if instruction_in(_without_comment_mark(self.lines[index])):
                self._drop(index, last, "")
                return

    def _row(self, index: int) -> None:
        row = self.lines[index]
        cells = row.strip().strip("|").split("|")
        if any(instruction_in(part.strip()) for cell in cells for part in with_spaces(cell)):
            self._drop(index, index + 1, "|" + "  |" * len(cells))

    def _paragraph(self, start: int, end: int) -> None:
        text = "\n".join(self.lines[start:end])
        marker = _MARKER.match(text)
        place = marker.end() if marker else 0
        for sentence in with_spaces(text[place:]):
            if instruction_in(_QUOTED.sub("\n", sentence).strip()):
                lines = text[:place].split("\n")
                self._drop(start + len(lines) - 1, end, lines[-1], text[place:])
                return
            place += len(sentence)

    def _drop(self, start: int, end: int, kept: str, what: str | None = None) -> None:
        """Replace the lines by `kept` on the first and nothing on the others."""
        self.dropped.append((what or "\n".join(self.lines[start:end])).strip())
        self.lines[start:end] = [kept, *("" for _ in range(end - start - 1))]


def _is_comment(markdown: str, start: int, end: int) -> bool:
    """Return True for a real comment, and not comment marks that the text discusses.

    One that does not begin its line ends with its paragraph, and code within a sentence shows it.
    """
    looked_at = max(0, start - _LOOKED_BACK)
    line = max(looked_at, markdown.rfind("\n", looked_at, start) + 1)
    before = markdown[line:start]
    if not before.strip():
        return True
    is_short = end - start <= _LONGEST_INLINE_COMMENT
    return is_short and before.count("`") % 2 == 0 and not _BLANK_LINE.search(markdown, start, end)


def _without_comment_mark(line: str) -> str:
    return _COMMENT_MARK.sub("", line)


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield line ranges of blocks, ends excluded; blank lines belong to none."""
    start = 0
    while start < len(lines):
        end = start + 1
        fence = _FENCE.match(lines[start])
        if fence:
            end = _closing_fence(lines, start, fence["mark"])
        elif lines[start].strip() and not _is_single_line_block(lines[start]):
            while end < len(lines) and _continues(lines[end]):
                end += 1
        if lines[start].strip():
            yield start, end
        start = end


def lines_of_code(markdown: str) -> set[int]:
    """Return the numbers, from 0, of the lines in fences."""
    lines = markdown.split("\n")
    fenced = (block for block in _blocks(lines) if _FENCE.match(lines[block[0]]))
    return {line for start, end in fenced for line in range(start, end)}


def _closing_fence(lines: list[str], start: int, mark: str) -> int:
    for index in range(start + 1, len(lines)):
        match = _FENCE.match(lines[index])
        if match and match["mark"].startswith(mark):
            return index + 1
    return len(lines)


def _is_single_line_block(line: str) -> bool:
    return bool(_HEADING.match(line) or _ROW.match(line))


def _continues(line: str) -> bool:
    """Return True if the line continues the paragraph before it; a quote's next line does."""
    if not line.strip() or _is_single_line_block(line) or _FENCE.match(line):
        return False
    inner = re.sub(r"^\s*(?:>\s*)+", "", line)
    return not _BEGINS.match(inner)
