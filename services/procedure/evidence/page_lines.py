"""Where each line of the cited pages stands: its section, the list items around it, its block."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

from services.knowledge.document.roles import role_of_heading, without_numbering
from services.knowledge.model import SectionRole
from services.knowledge.page.block import Block, BlockKind, Page, codes, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines
from services.knowledge.screening.document import hash_of
from services.language.clauses import condition, mentions_condition, tells
from services.language.cues import closes, escalates
from services.language.jumps import leads
from services.language.sentences import instruction, sentences
from services.language.words import tokenise

Lines = frozenset[int]
"""Lines of all pages of one ticket, each page's counted from an offset of its own."""

_OFFSET = 1_000_000
_REMEMBERED = 256
_SILENT = frozenset(
    {
        SectionRole.MEANING,
        SectionRole.IMPACT,
        SectionRole.SYMPTOM,
        SectionRole.REFERENCE,
        SectionRole.PARAMETER,
        SectionRole.PREVENTION,
        SectionRole.EXPECTED,
        SectionRole.CASE,
        SectionRole.NOTE,
    }
)
"""Sections of these tell no steps."""
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LISTS = frozenset({BlockKind.LIST, BlockKind.CONTENTS, BlockKind.DEFINITIONS})
_ITEMS = frozenset({BlockKind.ITEM, BlockKind.DEFINITION})
_LONGEST_KEY = 24
"""Letters that tell where a sentence begins."""


@dataclass(frozen=True)
class LinePlace:
    """Where a line stands."""

    sections: tuple[int, ...]
    """First lines of the sections around it, the page itself first."""
    items: tuple[int, ...] = ()
    """First lines of the list items around it, the outermost first."""
    lists: tuple[int, ...] = ()
    is_numbered: bool = False
    block: int = 0
    """First line of its block; 0 for a heading or a blank line."""


@dataclass(frozen=True)
class LineRoles:
    """Lines of a page by what their sentences do."""

    instructing: Lines
    conditional: Lines
    escalating: Lines
    closing: Lines
    jumping: Lines


NOTHING_TOLD = LineRoles(*(frozenset[int]() for _ in range(5)))


class PageLines:
    """The lines of one page."""

    def __init__(self, text: str, first_line: int) -> None:
        """`first_line` is the number of the first one."""
        self._page = parse_page(text)
        self._before = first_line - 1

    @cached_property
    def places(self) -> Mapping[int, LinePlace]:
        """Of every line of the page."""
        first = self._before + 1
        found = dict.fromkeys(range(first, first + len(self._page.lines)), LinePlace((first,)))
        for section in self._page.sections():
            if section.heading:
                start = section.start_line + self._before
                here = LinePlace((*found[start].sections, start))
                found |= dict.fromkeys(range(start, section.end_line + first), here)
        for block in (place.block for place in self._page.places()):
            if block.kind is not BlockKind.HEADING:
                start = block.start_line + self._before
                here = _within(found[start], block, start)
                found |= dict.fromkeys(range(start, block.end_line + first), here)
        return found

    @cached_property
    def headings(self) -> set[int]:
        """Lines that are headings."""
        blocks = self._page.blocks
        return {b.start_line + self._before for b in blocks if b.kind is BlockKind.HEADING}

    def line(self, number: int) -> str:
        """One line as it stands; empty where there is none."""
        place = number - self._before - 1
        return self._page.lines[place] if 0 <= place < len(self._page.lines) else ""

    @cached_property
    def words(self) -> Mapping[int, str]:
        """Words of the lines that have some, without markup."""
        found: dict[int, list[str]] = defaultdict(list)
        for place in self._page.places():
            for number, words in word_lines(place.block):
                found[number + self._before].append(plain(words))
        return {number: " ".join(words) for number, words in found.items()}

    @cached_property
    def told(self) -> LineRoles:
        """What the sentences of the sections that may tell something do."""
        found: dict[str, set[int]] = {name: set() for name in LineRoles.__dataclass_fields__}
        for name, line in _sentences(self._page):
            found[name].add(line + self._before)
        return LineRoles(**{name: frozenset(lines) for name, lines in found.items()})


class CitedPages:
    """The pages that the candidates of one ticket cite."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` are converted texts by document id."""
        self._offsets = {id_: place * _OFFSET for place, id_ in enumerate(texts)}
        self._pages = [page_lines(text, self._offsets[id_]) for id_, text in texts.items()]
        self._texts = texts
        self._terms: dict[Lines, frozenset[str]] = {}

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._offsets

    def number(self, document_id: str, line: int) -> int:
        """The line's number among those of all pages."""
        return self._offsets[document_id] + line

    def local(self, line: int) -> int:
        """The line's number in its own page."""
        return line % _OFFSET

    def first_line(self, line: int) -> int:
        """Of the page that the line is of."""
        return line - self.local(line) + 1

    def is_same_page(self, line: int, other: int) -> bool:
        """Whether both are of one page."""
        return line // _OFFSET == other // _OFFSET

    def place(self, line: int) -> LinePlace:
        """Where a line stands; nowhere for a line that does not exist."""
        return self._page(line).places.get(line, LinePlace(()))

    def text_hash(self, line: int) -> str:
        """Of the page that the line is of."""
        return hash_of(tuple(self._texts.values())[line // _OFFSET])

    def is_heading(self, line: int) -> bool:
        """Whether it is a heading."""
        return line in self._page(line).headings

    def headings_between(self, first: int, last: int) -> int:
        """Headings behind the first line, up to the last."""
        return sum(first < line <= last for line in self._page(first).headings)

    def text(self, lines: Iterable[int]) -> str:
        """The lines as they stand, in order."""
        return " ".join(self._page(line).line(line) for line in sorted(lines))

    def words(self, line: int) -> str:
        """The words of a line without markup; none of code."""
        return self._page(line).words.get(line, "")

    def terms(self, lines: Lines) -> frozenset[str]:
        """The words of these lines."""
        if lines not in self._terms:
            self._terms[lines] = frozenset(tokenise(self.text(lines)))
        return self._terms[lines]

    def whole(self, document_id: str) -> str:
        """The text of one page."""
        return self._texts[document_id]

    def told(self, document_id: str) -> LineRoles:
        """What the sentences of one page do."""
        return self._page(self._offsets[document_id] + 1).told

    def _page(self, line: int) -> PageLines:
        return self._pages[line // _OFFSET]


@lru_cache(maxsize=_REMEMBERED)
def page_lines(text: str, offset: int) -> PageLines:
    """The lines of a page, counted from `offset` + 1; remembered."""
    return PageLines(text, offset + 1)


def _within(around: LinePlace, block: Block, start: int) -> LinePlace:
    """Return where the lines of a block stand that begins on the line `start`."""
    if block.kind in _LISTS:
        is_numbered = any(item.number for item in block.children)
        return replace(around, lists=(*around.lists, start), is_numbered=is_numbered, block=start)
    if block.kind in _ITEMS:
        return replace(around, items=(*around.items, start), block=start if block.words else 0)
    return replace(around, block=start)


def _sentences(page: Page) -> Iterable[tuple[str, int]]:
    """Each sentence's first line, once for each thing that it does."""
    for place in page.places():
        headings = place.headings
        if place.block.kind is BlockKind.HEADING or (headings and _is_silent(headings[-1].text)):
            continue
        for text, line in _with_first_lines(place.block):
            for name, does in _DOES.items():
                if does(text):
                    yield name, line


def _is_silent(heading: str) -> bool:
    """Whether a section tells no steps; whatever its heading tells to do is told."""
    if role_of_heading(heading) not in _SILENT:
        return False
    title = without_numbering(heading)
    return len(title.split()) == 1 or not instruction(title)


def _with_first_lines(block: Block) -> Iterable[tuple[str, int]]:
    """The sentences of a block's words, each with the line that it begins on."""
    lines = [(number, _key(plain(words))) for number, words in word_lines(block)]
    starts = [0, *accumulate(len(key) for _, key in lines)]
    letters = "".join(key for _, key in lines)
    cursor = 0
    for text in sentences(block.text, tuple(codes(block.words))):
        key = _key(text)
        first = letters.find(key[:_LONGEST_KEY], cursor)
        if first < 0 or not key:
            yield text, block.start_line
        else:
            cursor = first + 1
            yield text, lines[bisect_right(starts, first) - 1][0]


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text.lower())


_DOES: dict[str, Callable[[str], bool]] = {
    "instructing": tells,
    "conditional": lambda text: bool(condition(text)) or mentions_condition(text),
    "escalating": escalates,
    "closing": closes,
    "jumping": lambda text: leads(text) is not None,
}
