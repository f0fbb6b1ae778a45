"""Where each line of the cited pages stands: its section, the list items around it, its block."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage, Section, parse
from services.knowledge.document.roles import role_of_heading, without_numbering
from services.knowledge.model import SectionRole
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
_MARKER = re.compile(r"^[\s\-*#>\d.)]+")
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
_LINK_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)|<[^<>]*>")
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


@dataclass
class _Outline:
    places: dict[int, LinePlace] = field(default_factory=dict)
    headings: set[int] = field(default_factory=set)


class PageLines:
    """The lines of one page."""

    def __init__(self, text: str, first_line: int) -> None:
        """`first_line` is the number of the first one."""
        self._page = parse(text, first_line=first_line)
        self._outline = _Outline()
        _place_section(self._outline, self._page.root, ())

    @property
    def places(self) -> Mapping[int, LinePlace]:
        """Of every line that belongs to a section."""
        return self._outline.places

    @property
    def headings(self) -> set[int]:
        """Lines that are headings."""
        return self._outline.headings

    def line(self, number: int) -> str:
        """One line as it stands; empty where there is none."""
        place = number - self._page.first_line
        return self._page.lines[place] if 0 <= place < len(self._page.lines) else ""

    @cached_property
    def told(self) -> LineRoles:
        """What the sentences of the sections that may tell something do."""
        found: dict[str, set[int]] = {name: set() for name in LineRoles.__dataclass_fields__}
        for section in self._page.sections:
            if not _is_silent(section.title):
                for name, line in _sentences(self._page, section):
                    found[name].add(line)
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

    def clean(self, line: int) -> str:
        """A line without its list marker or heading marks."""
        return _MARKER.sub("", self.text((line,)))

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


def _place_section(outline: _Outline, section: Section, above: tuple[int, ...]) -> None:
    path = (*above, section.start_line)
    for line in range(section.start_line, section.end_line + 1):
        outline.places[line] = LinePlace(path)
    if section.level:
        outline.headings.add(section.start_line)
    for block in section.blocks:
        _place_block(outline, block, LinePlace(path))
    for child in section.children:
        _place_section(outline, child, path)


def _place_block(outline: _Outline, block: Block, around: LinePlace) -> None:
    here = LinePlace(
        around.sections, around.items, around.lists, around.is_numbered, block.start_line
    )
    for line in range(block.start_line, block.end_line + 1):
        outline.places[line] = here
    for item in block.items:
        lists = (*around.lists, block.start_line)
        within = LinePlace(around.sections, (*around.items, item.start_line), lists, block.ordered)
        for line in range(item.start_line, item.end_line + 1):
            outline.places[line] = within
        _place_blocks(outline, item.blocks, within)
    _place_blocks(outline, block.blocks, around)


def _place_blocks(outline: _Outline, blocks: Sequence[Block], around: LinePlace) -> None:
    for block in blocks:
        _place_block(outline, block, around)


def _sentences(page: MarkdownPage, section: Section) -> Iterable[tuple[str, int]]:
    """Each sentence's first line, once for each thing that it does."""
    paragraphs = (
        inner
        for block in section.blocks
        for inner in block.walk()
        if inner.kind is BlockKind.PARAGRAPH
    )
    for paragraph in paragraphs:
        for text, line in _with_first_lines(page, paragraph):
            for name, does in _DOES.items():
                if does(text):
                    yield name, line


def _is_silent(heading: str) -> bool:
    """Whether a section tells no steps; whatever its heading tells to do is told."""
    if role_of_heading(heading) not in _SILENT:
        return False
    title = without_numbering(heading)
    return len(title.split()) == 1 or not instruction(title)


def _with_first_lines(page: MarkdownPage, block: Block) -> Iterable[tuple[str, int]]:
    """The sentences of a paragraph, each with the line that it begins on."""
    starts, letters = _letters_of(page, block)
    cursor = 0
    for text in sentences(block.text, block.inline_code):
        key = _key(text)
        first = letters.find(key[:_LONGEST_KEY], cursor)
        if first < 0 or not key:
            yield text, block.start_line
        else:
            cursor = first + 1
            yield text, block.start_line + bisect_right(starts, first) - 1


def _letters_of(page: MarkdownPage, block: Block) -> tuple[list[int], str]:
    """Where each line of the block begins among all its letters, and these."""
    raw = page.text(block.start_line, block.end_line)
    lines = [_key(line) for line in _LINK_TARGET.sub("] ", raw).split("\n")]
    starts, length = [], 0
    for line in lines:
        starts.append(length)
        length += len(line)
    return starts, "".join(lines)


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text.lower())


_DOES: dict[str, Callable[[str], bool]] = {
    "instructing": tells,
    "conditional": lambda text: bool(condition(text)) or mentions_condition(text),
    "escalating": escalates,
    "closing": closes,
    "jumping": lambda text: leads(text) is not None,
}
