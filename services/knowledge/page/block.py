"""A block of a page: a heading, item, paragraph, callout, code, table or image with its lines."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

_LOWEST_LEVEL_WITH_ANCHOR = 6
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_HEADING_ANCHOR = re.compile(r"\{#([\w.:-]++)[^{}]*\}[^\S\n]*+#*+[^\S\n]*$", re.MULTILINE)
_TAG_WITH_ANCHOR = re.compile(r"<[a-z][^<>]*\s(?:id|name)\s*=\s*[\"']?([^\"'\s<>]+)", re.IGNORECASE)


class BlockKind(StrEnum):
    """Form of a block."""

    HEADING = "heading"
    LIST = "list"
    ITEM = "item"
    PARAGRAPH = "paragraph"
    CALLOUT = "callout"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"
    IMAGE = "image"
    TABS = "tabs"
    TAB = "tab"
    DETAILS = "details"
    DEFINITIONS = "definitions"
    DEFINITION = "definition"
    GROUP = "group"
    """Several blocks of HTML on one line."""
    REFERENCE = "reference"
    """A link's target, defined apart from the words that link."""
    CONTENTS = "contents"
    """A list of links to the page's own headings."""
    FRONT_MATTER = "front_matter"
    RULE = "rule"
    COMMENT = "comment"
    """A comment, or lines of HTML that show nothing of themselves."""
    OTHER = "other"
    """Lines of no known form, shown verbatim."""


class InlineKind(StrEnum):
    """Form of a piece of a line."""

    TEXT = "text"
    CODE = "code"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    KEYS = "keys"
    LINK = "link"
    IMAGE = "image"
    BREAK = "break"


@dataclass(frozen=True, slots=True)
class Inline:
    """A piece of a line with its markup."""

    kind: InlineKind
    text: str = ""
    """Verbatim text; an image's alternative text; a line feed for a break at the end of a page's
    line; empty for a piece with children.
    """
    target: str = ""
    """Address of a link or image, as the page writes it."""
    children: tuple["Inline", ...] = ()


Words = tuple[Inline, ...]
"""A line, or several as one, in pieces."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block with everything nested in it.

    Lines are 1-based and inclusive, counted in the text as it is stored.
    """

    kind: BlockKind
    start_line: int
    end_line: int
    words: Words = ()
    """Own words: an item's first paragraph, the title of a callout or tab, the summary of
    `details`, the term of a definition.
    """
    lead_end: int = 0
    """Last line of the own words; 0 if there are none."""
    verbatim: str = ""
    """Verbatim content of code, front matter, comments and `other`."""
    language: str = ""
    """First word of a code fence's info string, lower case."""
    callout: str = ""
    """Type of a callout: `note`, `tip`, `important`, `warning`, `caution` or `danger`."""
    number: str = ""
    """Number of an item in a numbered list, as the page shows it: `3.` or `b)`."""
    level: int = 0
    """Level of a heading: 1–6, or 7 for a short paragraph that is entirely bold."""
    is_checked: bool | None = None
    """State of a task list's item; None for any other block."""
    target: str = ""
    """Address of an image or reference, as the page writes it."""
    header: tuple[Words, ...] = ()
    """Cells of a table's first row, empty if HTML marks none as header."""
    rows: tuple[tuple[Words, ...], ...] = ()
    """Other rows of a table."""
    children: tuple["Block", ...] = ()
    is_withheld: bool = False
    """True if screening removed one of its own lines, not its children's: it is shown, marked, and
    is no step.
    """
    key: str = ""
    """Hash of its own text and heading path, with its position among equal blocks and their
    number. It stays the same when other parts of the page change.
    """

    @property
    def text(self) -> str:
        """Own words without markup, on one line."""
        return plain(self.words)

    def images(self) -> Iterator[Inline]:
        """Yield the images that are its own, not its children's: in its words and its cells."""
        yield from images(self.words)
        for row in (self.header, *self.rows):
            for cell in row:
                yield from images(cell)

    @property
    def own_end(self) -> int:
        """Last line of its own words, or of the whole block if it has none."""
        return self.lead_end or self.end_line

    def walk(self) -> Iterator["Block"]:
        """Yield this block and all below it, in the order of the page."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))


def plain(words: Words) -> str:
    """Return the words without markup, on one line; placeholders such as `<node>` stay."""
    return " ".join("".join(_texts(words)).split())


def links(words: Words) -> Iterator[Inline]:
    """Yield the links among the words, in order."""
    for each in words:
        if each.kind is InlineKind.LINK:
            yield each
        yield from links(each.children)


def images(words: Words) -> Iterator[Inline]:
    """Yield the images among the words, in order."""
    for each in words:
        if each.kind is InlineKind.IMAGE:
            yield each
        yield from images(each.children)


def block_links(block: Block) -> Iterator[Inline]:
    """Yield the links of a block's own words and cells, in order."""
    yield from links(block.words)
    for row in (block.header, *block.rows):
        for cell in row:
            yield from links(cell)


def codes(words: Words) -> Iterator[str]:
    """Yield the text of inline code, in order."""
    for each in words:
        if each.kind is InlineKind.CODE:
            yield each.text
        yield from codes(each.children)


def without_links(words: Words) -> Words:
    """Replace links and images by their text, with the address in brackets after it."""
    pieces: list[Inline] = []
    for each in words:
        inside = without_links(each.children)
        if each.kind not in {InlineKind.LINK, InlineKind.IMAGE}:
            pieces.append(replace(each, children=inside))
            continue
        shown = inside or (Inline(InlineKind.TEXT, each.text),)
        is_bare = each.target in {plain(shown), f"mailto:{plain(shown)}"}
        address = () if is_bare else (Inline(InlineKind.TEXT, f" ({each.target})"),)
        pieces += (*shown, *address)
    return tuple(pieces)


def _texts(words: Words) -> Iterator[str]:
    for each in words:
        yield " " if each.kind is InlineKind.BREAK else each.text
        yield from _texts(each.children)


@dataclass(frozen=True, slots=True)
class Place:
    """A block with its position in the page."""

    block: Block
    parents: tuple[Block, ...]
    """Blocks around it, the outermost first; headings are none."""
    headings: tuple[Block, ...]
    """Headings above it, the outermost first; for a heading, those that contain it."""

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Words of the headings above it."""
        return tuple(heading.text for heading in self.headings)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the content below it; the first section has no heading."""

    heading: Block | None
    path: tuple[str, ...]
    """Words of its headings, its own last."""
    blocks: tuple[Block, ...]
    """Own blocks, those of sections below it left out."""
    start_line: int
    end_line: int
    """Last line of its own blocks and of the sections below it."""

    @property
    def level(self) -> int:
        """Level of its heading; 0 without one."""
        return self.heading.level if self.heading else 0


@dataclass(frozen=True)
class Page:
    """A page as a tree of blocks; every non-blank line belongs to one of them."""

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    """Outermost blocks in order, headings among them."""

    def verbatim(self, block: Block) -> str:
        """Return the lines of a block verbatim."""
        return "\n".join(self.lines[block.start_line - 1 : block.end_line])

    def places(self) -> Iterator[Place]:
        """Yield all blocks with their positions, in the order of the page."""
        headings: list[Block] = []
        for block in self.blocks:
            if block.kind is BlockKind.HEADING:
                headings = [each for each in headings if each.level < block.level]
                yield Place(block, (), tuple(headings))
                headings.append(block)
            else:
                yield from _places(block, tuple(headings))

    @property
    def link_targets(self) -> tuple[str, ...]:
        """Addresses that its links name, each once, as the page writes them."""
        blocks = (block for outermost in self.blocks for block in outermost.walk())
        targets = (link.target.strip() for block in blocks for link in block_links(block))
        return tuple(dict.fromkeys(filter(None, targets)))

    @cached_property
    def anchors(self) -> dict[str, str]:
        """Keys of the headings by the anchors that lead to them, without `#`.

        Anchors are those that are written (`{#id}`, `<a id>`) and those that GitHub makes of a
        heading's words; where two headings have the same words, the second ends with `-1`.
        """
        return dict(_anchors(self))

    def sections(self) -> list[Section]:
        """Return all sections in order, the part before the first heading first."""
        starts = [n for n, block in enumerate(self.blocks) if block.kind is BlockKind.HEADING]
        bounds = [0, *starts, len(self.blocks)]
        first = Section(None, (), self.blocks[: bounds[1]], 1, self._end(bounds[1], 0))
        sections = [first]
        path: list[Block] = []
        for start, end in pairwise(bounds[1:]):
            heading = self.blocks[start]
            path = [*(each for each in path if each.level < heading.level), heading]
            sections.append(
                Section(
                    heading,
                    tuple(each.text for each in path),
                    self.blocks[start + 1 : end],
                    heading.start_line,
                    self._end(self._next_at_most(start, heading.level), heading.end_line),
                )
            )
        return sections

    def _next_at_most(self, start: int, level: int) -> int:
        """Return the place of the next heading of this level or above, or behind the last block."""
        later = enumerate(self.blocks[start + 1 :], start=start + 1)
        return next(
            (n for n, b in later if b.kind is BlockKind.HEADING and b.level <= level),
            len(self.blocks),
        )

    def _end(self, behind: int, at_least: int) -> int:
        return self.blocks[behind - 1].end_line if behind else at_least


def _places(block: Block, headings: tuple[Block, ...]) -> Iterator[Place]:
    waiting: list[tuple[Block, tuple[Block, ...]]] = [(block, ())]
    while waiting:
        each, parents = waiting.pop()
        yield Place(each, parents, headings)
        waiting.extend((child, (*parents, each)) for child in reversed(each.children))


def _anchors(page: Page) -> Iterator[tuple[str, str]]:
    """Yield anchors and keys of headings; of equal anchors the first holds, so it comes last."""
    headings = [block for block in page.blocks if block.kind is BlockKind.HEADING]
    for heading in reversed(headings):
        yield _slug(heading.text), heading.key
    seen = Counter[str]()
    for heading in headings:
        slug = _slug(heading.text)
        if heading.level <= _LOWEST_LEVEL_WITH_ANCHOR:
            yield f"{slug}-{seen[slug]}" if seen[slug] else slug, heading.key
            seen[slug] += 1
    yield from reversed(list(_written_anchors(page)))


def _written_anchors(page: Page) -> Iterator[tuple[str, str]]:
    above = ""
    before: list[str] = []
    for block in page.blocks:
        is_heading = block.kind is BlockKind.HEADING
        above = block.key if is_heading else above
        if block.kind in {BlockKind.CODE, BlockKind.FRONT_MATTER}:
            anchors = []
        else:
            text = page.verbatim(block)
            anchors = _TAG_WITH_ANCHOR.findall(text)
            anchors += _HEADING_ANCHOR.findall(text) if is_heading else []
        if block.kind is BlockKind.COMMENT:
            before += anchors
            continue
        if not is_heading and above:
            yield from ((anchor, above) for anchor in before)
        if above:
            yield from ((anchor, above) for anchor in [*(before if is_heading else ()), *anchors])
        before = []


def _slug(text: str) -> str:
    return _NOT_IN_SLUG.sub("", text.strip().lower()).replace(" ", "-")
