"""Lines of a PDF in reading order, each with its looks, without running heads and feet."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from pdfplumber.page import Page
from pdfplumber.pdf import PDF

from services.ingestion.converters.layout.blocks import is_monospaced
from services.ingestion.converters.layout.pdf_pictures import PdfPicture, pictures_of

_MARGIN = 0.1
"""Share of the page's height at top and bottom where running heads and feet stand."""
_RUNNING_SHARE = 0.5
"""Share of the pages above which a line at the margin is a running head or foot."""
_SAME_LINE = 0.4
"""Largest distance of the feet of words on one line, as a share of their size."""
_GAP = 0.12
"""Share of the font size that sets words apart: a blank is 0.2 to 0.6, kerning below 0.1."""
_FEW_CHARACTERS = 8
"""Least number of different characters: fewer may have one width by chance."""
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
_BULLET_FONT = re.compile(r"symbol|wingding|dingbat", re.IGNORECASE)
_UNMAPPED = re.compile(r"\(cid:\d+\)")


@dataclass(frozen=True)
class Word:
    """Word with its looks; lengths are in points."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    font: str
    is_code: bool
    """True if it is set in a monospaced font."""

    @property
    def is_bold(self) -> bool:
        """True if its font is a heavy one."""
        return _BOLD.search(self.font) is not None


@dataclass(frozen=True)
class Line:
    """Words on one line, or a table or picture in their place."""

    words: tuple[Word, ...]
    page: int
    rows: tuple[tuple[str, ...], ...] = ()
    picture: PdfPicture | None = None

    @property
    def is_text(self) -> bool:
        """True if it has words of its own."""
        return not self.rows and self.picture is None

    @property
    def text(self) -> str:
        """The words, with a blank wherever there is a gap."""
        return join_words((word.text, word) for word in self.words)

    @property
    def x0(self) -> float:
        """Left end."""
        return self.words[0].x0

    @property
    def x1(self) -> float:
        """Right end."""
        return self.words[-1].x1

    @property
    def top(self) -> float:
        """Upper edge, from the top of the page."""
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        """Lower edge, from the top of the page."""
        return max(word.bottom for word in self.words)

    @property
    def size(self) -> float:
        """Font size of most words, to half a point."""
        return round(median(word.size for word in self.words) * 2) / 2

    @property
    def is_code(self) -> bool:
        """True if all of it is set in a monospaced font."""
        return all(word.is_code for word in self.words)

    @property
    def is_bold(self) -> bool:
        """True if all of it is bold."""
        return all(word.is_bold for word in self.words)


def join_words(parts: Iterable[tuple[str, Word]]) -> str:
    """Join texts by blanks, except where the words they stand for touch: `failed` + `,`."""
    text, previous = "", None
    for part, word in parts:
        touches = previous is None or word.x0 - previous.x1 < _GAP * word.size
        text += part if touches else f" {part}"
        previous = word
    return text


def lines(pdf: PDF) -> list[Line]:
    """Return all lines of all pages, with tables and pictures in their places."""
    heights: list[float] = []
    pages: list[list[Line]] = []
    for number, page in enumerate(pdf.pages):
        heights.append(float(page.height))
        pages.append(_page_lines(page, number))
        page.close()
    return _without_running_lines(pages, heights)


def _page_lines(page: Page, number: int) -> list[Line]:
    # A table has two rows and columns at least: a single box only frames prose or code.
    tables = [
        table
        for table in page.find_tables()
        if len(table.rows) >= 2 and max(len(row.cells) for row in table.rows) >= 2
    ]
    raw = page.extract_words(
        x_tolerance_ratio=_GAP, keep_blank_chars=False, extra_attrs=["fontname", "size"]
    )
    fixed = _fixed_pitch_fonts(page)
    words = [
        word
        for word in (_word(each, fixed) for each in raw)
        if not any(_inside(word, table.bbox) for table in tables)
    ]
    page_lines = [Line(tuple(group), number) for group in _grouped(words)]
    for table in tables:
        rows = tuple(tuple(cell or "" for cell in row) for row in table.extract())
        page_lines.append(Line((_blank(table.bbox),), number, rows))
    page_lines += [Line((_blank(each.box),), number, picture=each) for each in pictures_of(page)]
    return sorted(page_lines, key=lambda line: (line.top, line.x0))


def _fixed_pitch_fonts(page: Page) -> set[str]:
    """Return the fonts whose characters all have one width, whatever the font's name says."""
    widths: dict[str, dict[str, float]] = defaultdict(dict)
    for char in page.chars:
        if char["text"].isalnum() and char["size"]:
            widths[char["fontname"]][char["text"]] = char["adv"]
    return {
        font
        for font, seen in widths.items()
        if is_monospaced(font)
        or (len(seen) >= _FEW_CHARACTERS and max(seen.values()) - min(seen.values()) < 0.01)
    }


def _word(raw: dict[str, Any], fixed_pitch: set[str]) -> Word:
    font = str(raw["fontname"])
    text = str(raw["text"])
    if _UNMAPPED.fullmatch(text) or (_BULLET_FONT.search(font) and len(text) == 1):
        text = "•"
    return Word(
        _UNMAPPED.sub("", text),
        float(raw["x0"]),
        float(raw["x1"]),
        float(raw["top"]),
        float(raw["bottom"]),
        float(raw["size"]),
        font,
        font in fixed_pitch,
    )


def _grouped(words: Sequence[Word]) -> list[list[Word]]:
    groups: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.bottom, word.x0)):
        if groups and abs(groups[-1][-1].bottom - word.bottom) <= _SAME_LINE * word.size:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [sorted(group, key=lambda word: word.x0) for group in groups]


def _blank(box: tuple[float, float, float, float]) -> Word:
    """Return an empty word in the place of something that has no words."""
    x0, top, x1, bottom = box
    return Word("", x0, x1, top, bottom, 0.0, "", is_code=False)


def _inside(word: Word, box: tuple[float, float, float, float]) -> bool:
    x0, top, x1, bottom = box
    x, y = (word.x0 + word.x1) / 2, (word.top + word.bottom) / 2
    return x0 <= x <= x1 and top <= y <= bottom


def _without_running_lines(pages: list[list[Line]], heights: list[float]) -> list[Line]:
    at_margin: Counter[str] = Counter()
    for page, height in zip(pages, heights, strict=True):
        at_margin.update({_key(line) for line in page if _is_marginal(line, height)})
    least = max(2, _RUNNING_SHARE * len(pages))
    running = {key for key, count in at_margin.items() if count >= least}
    return [
        line
        for page, height in zip(pages, heights, strict=True)
        for line in page
        if not _is_marginal(line, height)
        or (_key(line) not in running and not line.text.strip().isdigit())
    ]


def _is_marginal(line: Line, height: float) -> bool:
    return not line.rows and (line.bottom < _MARGIN * height or line.top > (1 - _MARGIN) * height)


def _key(line: Line) -> str:
    """Return the line without its digits: page numbers and dates differ from page to page."""
    return re.sub(r"\d+", "0", line.text)
