"""Index of the cited pages' lines: section, list items and block of each."""

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
from services.language.clauses import has_instruction, mentions_condition, parse_condition
from services.language.cues import is_closing, is_escalation, parse_jump
from services.language.sentences import parse_instruction, sentences
from services.language.words import tokenise

Lines = frozenset[int]
"""Line numbers over all pages of one ticket, each page's counted from an offset of its own."""

_OFFSET = 1_000_000
_CACHED_PAGES = 256
_WITHOUT_STEPS = frozenset(
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
"""Roles of sections that have no steps."""
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_LISTS = frozenset({BlockKind.LIST, BlockKind.CONTENTS, BlockKind.DEFINITIONS})
_ITEMS = frozenset({BlockKind.ITEM, BlockKind.DEFINITION})
_LONGEST_KEY = 24
"""Characters by which the start of a sentence is found."""


@dataclass(frozen=True)
class LinePlace:
    """The place of a line."""

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
    """Lines of a page by the role of their sentences."""

    instructing: Lines
    conditional: Lines
    escalating: Lines
    closing: Lines
    jumping: Lines


NO_ROLES = LineRoles(*(frozenset[int]() for _ in range(5)))


class PageLineIndex:
    """The lines of one page."""

    def __init__(self, text: str, first_line: int) -> None:
        """Index a page; `first_line` is the number of its first line."""
        self._page = parse_page(text)
        self._offset = first_line - 1

    @cached_property
    def places(self) -> Mapping[int, LinePlace]:
        """The place of every line of the page."""
        first = self._offset + 1
        by_line = dict.fromkeys(range(first, first + len(self._page.lines)), LinePlace((first,)))
        for section in self._page.sections():
            if section.heading:
                start = section.start_line + self._offset
                here = LinePlace((*by_line[start].sections, start))
                by_line |= dict.fromkeys(range(start, section.end_line + first), here)
        for block in (place.block for place in self._page.places()):
            if block.kind is not BlockKind.HEADING:
                start = block.start_line + self._offset
                here = replace(by_line[start], block=start)
                if block.kind in _LISTS:
                    is_numbered = any(item.number for item in block.children)
                    here = replace(here, lists=(*here.lists, start), is_numbered=is_numbered)
                elif block.kind in _ITEMS:
                    own = start if block.words else 0
                    here = replace(here, items=(*here.items, start), block=own)
                by_line |= dict.fromkeys(range(start, block.end_line + first), here)
        return by_line

    @cached_property
    def headings(self) -> set[int]:
        """Lines that are headings."""
        blocks = self._page.blocks
        return {b.start_line + self._offset for b in blocks if b.kind is BlockKind.HEADING}

    def line(self, number: int) -> str:
        """Return a line verbatim; empty if there is none."""
        place = number - self._offset - 1
        return self._page.lines[place] if 0 <= place < len(self._page.lines) else ""

    @cached_property
    def words(self) -> Mapping[int, str]:
        """Words, without markup, of the lines that have some."""
        by_line: dict[int, list[str]] = defaultdict(list)
        for place in self._page.places():
            for number, words in word_lines(place.block):
                by_line[number + self._offset].append(plain(words))
        return {number: " ".join(words) for number, words in by_line.items()}

    @cached_property
    def roles(self) -> LineRoles:
        """Lines by role, in the sections that may have steps."""
        by_role: dict[str, set[int]] = {name: set() for name in LineRoles.__dataclass_fields__}
        for name, line in _sentence_roles(self._page):
            by_role[name].add(line + self._offset)
        return LineRoles(**{name: frozenset(lines) for name, lines in by_role.items()})


class CitedPages:
    """The pages that the candidates of one ticket cite."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index the pages; `texts` are converted texts by document id."""
        self._offsets = {id_: place * _OFFSET for place, id_ in enumerate(texts)}
        self._pages = [index_page(text, self._offsets[id_]) for id_, text in texts.items()]
        self._texts = texts
        self._terms: dict[Lines, frozenset[str]] = {}

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._offsets

    def number(self, document_id: str, line: int) -> int:
        """Return the line's number among those of all pages."""
        return self._offsets[document_id] + line

    def local_number(self, line: int) -> int:
        """Return the line's number in its own page."""
        return line % _OFFSET

    def first_line(self, line: int) -> int:
        """Return the first line of the page that has the line."""
        return line - self.local_number(line) + 1

    def is_same_page(self, line: int, other: int) -> bool:
        """Return True if both lines are of one page."""
        return line // _OFFSET == other // _OFFSET

    def place(self, line: int) -> LinePlace:
        """Return the place of a line; an empty place if the line does not exist."""
        return self._page(line).places.get(line, LinePlace(()))

    def text_hash(self, line: int) -> str:
        """Return the text hash of the page that has the line."""
        return hash_of(tuple(self._texts.values())[line // _OFFSET])

    def is_heading(self, line: int) -> bool:
        """Return True if the line is a heading."""
        return line in self._page(line).headings

    def headings_between(self, first: int, last: int) -> int:
        """Count the headings after the first line, up to the last."""
        return sum(first < line <= last for line in self._page(first).headings)

    def text(self, lines: Iterable[int]) -> str:
        """Return the lines verbatim, in order."""
        return " ".join(self._page(line).line(line) for line in sorted(lines))

    def words(self, line: int) -> str:
        """Return the words of a line without markup; none for code."""
        return self._page(line).words.get(line, "")

    def terms(self, lines: Lines) -> frozenset[str]:
        """Return the search terms of these lines."""
        if lines not in self._terms:
            self._terms[lines] = frozenset(tokenise(self.text(lines)))
        return self._terms[lines]

    def page_text(self, document_id: str) -> str:
        """Return the text of one page."""
        return self._texts[document_id]

    def roles(self, document_id: str) -> LineRoles:
        """Return the lines of one page by their role."""
        return self._page(self._offsets[document_id] + 1).roles

    def _page(self, line: int) -> PageLineIndex:
        return self._pages[line // _OFFSET]


@lru_cache(maxsize=_CACHED_PAGES)
def index_page(text: str, offset: int) -> PageLineIndex:
    """Return the index of a page, its lines counted from `offset` + 1; cached."""
    return PageLineIndex(text, offset + 1)


def _sentence_roles(page: Page) -> Iterable[tuple[str, int]]:
    """Yield the first line of each sentence, once for each of its roles."""
    for place in page.places():
        headings = place.headings
        if place.block.kind is BlockKind.HEADING or (
            headings and _is_without_steps(headings[-1].text)
        ):
            continue
        for text, line in _with_first_lines(place.block):
            for name, has_role in _ROLE_TESTS.items():
                if has_role(text):
                    yield name, line


def _is_without_steps(heading: str) -> bool:
    """Return True if a section has no steps; one whose heading instructs has."""
    if role_of_heading(heading) not in _WITHOUT_STEPS:
        return False
    title = without_numbering(heading)
    return len(title.split()) == 1 or not parse_instruction(title)


def _with_first_lines(block: Block) -> Iterable[tuple[str, int]]:
    """Yield the sentences of a block's words, each with the line on which it begins."""
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
    return _NOT_ALPHANUMERIC.sub("", text.lower())


_ROLE_TESTS: dict[str, Callable[[str], bool]] = {
    "instructing": has_instruction,
    "conditional": lambda text: bool(parse_condition(text)) or mentions_condition(text),
    "escalating": is_escalation,
    "closing": is_closing,
    "jumping": lambda text: parse_jump(text) is not None,
}
