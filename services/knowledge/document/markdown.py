"""Markdown documents and passages, as ingestion cuts them into chunks, nodes and sentences.

What is shown and followed is read from `knowledge.page`; chunks and nodes that are stored rest on
this tree. Lines are 1-based and inclusive, counted in the text as it was given.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from services.knowledge.document.bounds import bound_parser

_TAG = re.compile(
    r"</?(?:abbr|a|blockquote|br|b|center|cite|code|dd|del|details|div|dl|dt|em|font"
    r"|h[1-6]|hr|iframe|img|ins|i|kbd|li|mark|ol|pre|p|q|samp|small|span|strong|style|sub|summary"
    r"|sup|s|table|tbody|td|th|thead|tr|tt|ul|u|var|video)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG_OR_COMMENT = re.compile(rf"<!--.*?-->|{_TAG.pattern}", re.DOTALL | re.IGNORECASE)
_ANCHOR = re.compile(r"\s*\{#[\w-]+\}\s*$")
_DANGLING_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_SPACES = re.compile(r"\s+")
_LONGEST_BOLD_HEADING = 12
"""Word limit; a longer bold paragraph is an emphasised sentence, not a heading."""
_REMEMBERED_TEXTS = 256
_REMEMBERED_LENGTH = 20_000
"""Limit in characters. Splitting, nodes and planning parse the same texts in turn."""
_DEEPEST = 100
"""Limit on nested blocks; a list in a list counts as two."""
_PARSER = (
    MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
    .enable(["table", "strikethrough"])
    .use(front_matter_plugin)
    .use(deflist_plugin)
)
bound_parser(_PARSER)
_BOLD_HEADING_LEVEL = 7
"""Level of a bold heading, below Markdown's six."""


class BlockKind(StrEnum):
    """Kind of a block."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"


@dataclass(frozen=True)
class TableRow:
    """A table row, cells without markup."""

    cells: tuple[str, ...]
    line: int
    links: tuple[str, ...] = ()
    inline_code: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A paragraph, list, code block, table or quote of a section or a list item."""

    kind: BlockKind
    start_line: int
    end_line: int
    text: str = ""
    """Text without markup, on one line; a code block's content is verbatim."""
    language: str = ""
    """First word of a code fence's info string, lower case."""
    bold_lead: str = ""
    """The bold words a paragraph begins with."""
    inline_code: tuple[str, ...] = ()
    own_links: tuple[str, ...] = ()
    ordered: bool = False
    """True if the list is numbered."""
    items: tuple["Item", ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
    blocks: tuple["Block", ...] = ()
    """Contents of a quote."""

    def walk(self) -> Iterator["Block"]:
        """Yield this block and all blocks nested in it, in document order."""
        yield self
        for child in self.blocks:
            yield from child.walk()
        for item in self.items:
            for child in item.blocks:
                yield from child.walk()

    @property
    def links(self) -> tuple[str, ...]:
        """All links in it, nested ones included, in document order."""
        return tuple(
            link
            for block in self.walk()
            for link in (*block.own_links, *(link for row in block.rows for link in row.links))
        )


@dataclass(frozen=True)
class Item:
    """A list item with everything that is nested in it."""

    start_line: int
    end_line: int
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The first paragraph, without markup."""
        first = self.blocks[0] if self.blocks else None
        return first.text if first and first.kind is BlockKind.PARAGRAPH else ""

    @property
    def code(self) -> tuple[Block, ...]:
        """Code blocks that belong to it and not to an item nested in it."""
        return tuple(block for block in self.blocks if block.kind is BlockKind.CODE)

    @property
    def links(self) -> tuple[str, ...]:
        """All links in it, nested ones included, in document order."""
        return tuple(link for block in self.blocks for link in block.links)


@dataclass
class Section:
    """A heading with the content under it; the root has level 0 and no heading."""

    level: int
    title: str
    heading_path: tuple[str, ...]
    """Titles from the outermost section down to this one."""
    start_line: int
    """The heading's line."""
    end_line: int
    """The last line with text, subsections included."""
    blocks: list[Block] = field(default_factory=list)
    """Blocks of the section itself, subsections excluded."""
    children: list["Section"] = field(default_factory=list)

    def walk(self) -> Iterator["Section"]:
        """Yield this section and all sections below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class MarkdownPage:
    """A parsed document."""

    lines: tuple[str, ...]
    first_line: int
    root: Section
    body_line: int = 1
    """The first line after the front matter."""

    def text(self, start_line: int, end_line: int) -> str:
        """Return the lines from `start_line` to `end_line` verbatim."""
        return "\n".join(self.lines[start_line - self.first_line : end_line - self.first_line + 1])

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections in document order, the root first."""
        return tuple(self.root.walk())


def parse(text: str, *, first_line: int = 1) -> MarkdownPage:
    """Parse a document, or a piece of one that begins at `first_line`, into its tree.

    A paragraph of just a few bold words counts as a heading below all others. Raw HTML is reduced
    to its text; comments and rules are left out. Treat the tree as read-only: it is cached and
    shared by callers that parse the same text.
    """
    read = _remembered if len(text) <= _REMEMBERED_LENGTH else _parse
    return read(text, first_line)


def _parse(text: str, first_line: int) -> MarkdownPage:
    lines = tuple(text.splitlines())
    tree = SyntaxTreeNode(_PARSER.parse("\n".join(lines)))
    reader = _TreeReader(lines, first_line)
    front_matter = next((node for node in tree.children if node.type == "front_matter"), None)
    last = max(first_line, first_line + len(lines) - 1)
    root = Section(0, "", (), first_line, last)
    stack = [root]
    for node in tree.children:
        heading = reader.heading(node)
        if heading is None:
            stack[-1].blocks.extend(reader.blocks(node))
            continue
        level, title, line = heading
        while stack[-1].level >= level:
            stack.pop()
        section = Section(level, title, (*stack[-1].heading_path, title), line, line)
        stack[-1].children.append(section)
        stack.append(section)
    _set_ends(root, last, reader)
    body = front_matter.map[1] if front_matter and front_matter.map else 0
    return MarkdownPage(lines, first_line, root, body_line=first_line + body)


_remembered = lru_cache(maxsize=_REMEMBERED_TEXTS)(_parse)


def plain(markdown: str) -> str:
    """Strip the markup from a piece of inline Markdown; returns one line."""
    tokens = _PARSER.parseInline(markdown)
    return _inline_text(SyntaxTreeNode(tokens).children[0]) if tokens else ""


def _set_ends(section: Section, last: int, reader: "_TreeReader") -> None:
    ends = [child.start_line - 1 for child in section.children[1:]] + [last]
    for child, end in zip(section.children, ends, strict=False):
        _set_ends(child, end, reader)
    section.end_line = max(section.start_line, reader.without_blank_tail(section.start_line, last))


def _inline_text(node: SyntaxTreeNode) -> str:
    text = _DANGLING_REFERENCE.sub(r"\1", "".join(_pieces(node)))
    return _SPACES.sub(" ", text).strip()


def _pieces(node: SyntaxTreeNode) -> Iterator[str]:
    for child in node.children:
        if child.type in {"softbreak", "hardbreak"}:
            yield " "
        elif child.type == "html_inline":
            yield _without_tags(child.content)
        elif child.type in {"text", "code_inline", "image"}:
            yield child.content
        else:
            yield from _pieces(child)


def _without_tags(html: str) -> str:
    """Remove HTML's own tags and comments; `<name>` as a placeholder stays."""
    # No comment begins behind the last end of one: each would be searched to the end of the text.
    commented, end, behind = html.rpartition("-->")
    return _TAG_OR_COMMENT.sub(" ", commented + end) + _TAG.sub(" ", behind)


class _TreeReader:
    """Converter of markdown-it's nodes into blocks and headings."""

    def __init__(self, lines: Sequence[str], first_line: int) -> None:
        self._lines = lines
        self._first = first_line

    def heading(self, node: SyntaxTreeNode) -> tuple[int, str, int] | None:
        """Return level, title and line if the node is a heading."""
        if node.type == "heading":
            title = _ANCHOR.sub("", _inline_text(node.children[0])).rstrip(" #")
            return int(node.tag[1]), title, self._range(node)[0]
        if node.type == "paragraph":
            title = _bold_lead(node.children[0])
            whole = _inline_text(node.children[0])
            words = len(title.split())
            is_title = bool(title) and title == whole and not title.endswith((".", "!", ","))
            if is_title and words <= _LONGEST_BOLD_HEADING:
                return _BOLD_HEADING_LEVEL, title.rstrip(":").strip(), self._range(node)[0]
        return None

    def blocks(self, node: SyntaxTreeNode) -> Iterator[Block]:
        """Yield the node as blocks: none, one, or the contents of a plain container."""
        match node.type:
            case "paragraph" | "heading":
                yield from self._paragraph(node)
            case "bullet_list" | "ordered_list":
                yield self._list(node)
            case "fence" | "code_block":
                yield self._code(node)
            case "table":
                yield self._table(node)
            case "blockquote":
                inner = tuple(block for child in node.children for block in self.blocks(child))
                yield Block(BlockKind.QUOTE, *self._range(node), blocks=inner, text=_joined(inner))
            case "html_block":
                text = _SPACES.sub(" ", _without_tags(node.content)).strip()
                if text:
                    yield Block(BlockKind.PARAGRAPH, *self._range(node), text=text)
            case "dl":
                yield self._definitions(node)
            case _:
                return

    def without_blank_tail(self, start: int, end: int) -> int:
        """Return the last line up to `end` that has text, at least `start`."""
        while end > start and not self._lines[end - self._first].strip():
            end -= 1
        return end

    def _range(self, node: SyntaxTreeNode) -> tuple[int, int]:
        start, end = node.map or (0, 1)
        first, last = start + self._first, max(end, start + 1) - 1 + self._first
        return first, self.without_blank_tail(first, last)

    def _paragraph(self, node: SyntaxTreeNode) -> Iterator[Block]:
        inline = node.children[0]
        text = _inline_text(inline)
        if text:
            yield Block(
                BlockKind.PARAGRAPH,
                *self._range(node),
                text=text,
                bold_lead=_bold_lead(inline),
                inline_code=_inline_code(inline),
                own_links=_links(inline),
            )

    def _list(self, node: SyntaxTreeNode) -> Block:
        ordered = node.type == "ordered_list"
        items = tuple(map(self._item, node.children))
        return Block(BlockKind.LIST, *self._range(node), ordered=ordered, items=items)

    def _item(self, node: SyntaxTreeNode) -> Item:
        blocks = [block for child in node.children for block in self.blocks(child)]
        if blocks and blocks[0].kind is BlockKind.PARAGRAPH:
            blocks[0] = _replace_text(blocks[0], _CHECKBOX.sub("", blocks[0].text))
        return Item(*self._range(node), tuple(blocks))

    def _code(self, node: SyntaxTreeNode) -> Block:
        words = node.info.split() if node.type == "fence" else []
        return Block(
            BlockKind.CODE,
            *self._range(node),
            text=node.content.rstrip("\n"),
            language=words[0].lower().strip("{}.") if words else "",
        )

    def _table(self, node: SyntaxTreeNode) -> Block:
        rows = [row for part in node.children for row in part.children]
        header, *body = (self._row(row) for row in rows)
        return Block(BlockKind.TABLE, *self._range(node), header=header.cells, rows=tuple(body))

    def _row(self, node: SyntaxTreeNode) -> TableRow:
        cells = [cell.children[0] for cell in node.children]
        links = tuple(link for cell in cells for link in _links(cell))
        code = tuple(span for cell in cells for span in _inline_code(cell))
        return TableRow(
            tuple(_inline_text(cell) for cell in cells), self._range(node)[0], links, code
        )

    def _definitions(self, node: SyntaxTreeNode) -> Block:
        """Convert a definition list to a list whose items read `term: definition`."""
        items: list[Item] = []
        term = ""
        for child in node.children:
            if child.type == "dt":
                term = _inline_text(child.children[0])
                continue
            blocks = [block for part in child.children for block in self.blocks(part)]
            start, end = self._range(child)
            if blocks and blocks[0].kind is BlockKind.PARAGRAPH:
                blocks[0] = _replace_text(blocks[0], f"{term}: {blocks[0].text}", term)
            items.append(Item(start, end, tuple(blocks)))
        return Block(BlockKind.LIST, *self._range(node), items=tuple(items))


def _replace_text(block: Block, text: str, bold_lead: str | None = None) -> Block:
    return Block(
        block.kind,
        block.start_line,
        block.end_line,
        text=text,
        bold_lead=block.bold_lead if bold_lead is None else bold_lead,
        inline_code=block.inline_code,
        own_links=block.own_links,
    )


def _joined(blocks: Sequence[Block]) -> str:
    return " ".join(block.text for block in blocks if block.kind is BlockKind.PARAGRAPH)


def _bold_lead(inline: SyntaxTreeNode) -> str:
    visible = [n for n in inline.children if n.type != "text" or n.content.strip()]
    if not visible or visible[0].type != "strong":
        return ""
    lead = _inline_text(visible[0])
    after = visible[1].content if len(visible) > 1 and visible[1].type == "text" else ""
    return f"{lead}:" if after.startswith(":") and not lead.endswith(":") else lead


def _inline_code(node: SyntaxTreeNode) -> tuple[str, ...]:
    return tuple(each.content for each in node.walk() if each.type == "code_inline")


def _links(inline: SyntaxTreeNode) -> tuple[str, ...]:
    """Return the targets of links."""
    return tuple(str(node.attrs.get("href", "")) for node in inline.walk() if node.type == "link")
