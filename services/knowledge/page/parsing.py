"""From the text of a page to its blocks."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from services.knowledge.page.block import Block, BlockKind, InlineKind, Page, Words, plain
from services.knowledge.page.inline import words_of

_DEEPEST = 200
"""Blocks in one another; a list in a list is two."""
_BOLD_HEADING_LEVEL = 7
_LONGEST_BOLD_HEADING = 12
"""Words; a longer bold paragraph is an emphasised sentence, not a heading."""
_CHECKBOX = re.compile(r"\[(?P<mark>[ xX])\]\s+")
_CALLOUT = re.compile(r"\[!(?P<name>[A-Za-z]+)\][+-]?\s*")
_REMEMBERED = 128


def parse_page(text: str, *, withheld: Collection[int] = ()) -> Page:
    """Return the blocks of a text; `withheld` are lines that screening left out of what is used.

    Each line that holds something belongs to one outermost block. The same text soon after yields
    the same page.
    """
    return _parse(text, frozenset(withheld))


@lru_cache(maxsize=_REMEMBERED)
def _parse(text: str, withheld: frozenset[int]) -> Page:
    lines = tuple(text.split("\n"))
    reader = _Reader(lines, withheld)
    tree = SyntaxTreeNode(_parser().parse(text))
    blocks = [block for node in tree.children for block in reader.blocks(node)]
    page = Page(lines, tuple(_with_gaps(blocks, lines, withheld)))
    return replace(page, blocks=_keyed(page))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    return parser.use(front_matter_plugin).use(deflist_plugin)


class _Reader:
    """Turns nodes of markdown-it's tree into blocks."""

    def __init__(self, lines: Sequence[str], withheld: frozenset[int]) -> None:
        self._lines = lines
        self._withheld = withheld

    def blocks(self, node: SyntaxTreeNode) -> Iterator[Block]:
        """Yield the blocks of a node: as a rule one."""
        start, end = self._range(node)
        match node.type:
            case "heading":
                yield self._block(
                    BlockKind.HEADING, start, end, words=_words(node), level=int(node.tag[1])
                )
            case "paragraph":
                yield self._paragraph(node, start, end)
            case "bullet_list" | "ordered_list":
                yield self._list(node, start, end)
            case "fence" | "code_block":
                info = node.info.split() if node.type == "fence" else []
                language = info[0].lower().strip("{}.") if info else ""
                code = node.content.removesuffix("\n")
                yield self._block(BlockKind.CODE, start, end, verbatim=code, language=language)
            case "table":
                rows = [row for part in node.children for row in part.children]
                header, *body = (tuple(_words(cell) for cell in row.children) for row in rows)
                yield self._block(BlockKind.TABLE, start, end, header=header, rows=tuple(body))
            case "blockquote":
                yield self._quote(node, start, end)
            case "hr":
                yield self._block(BlockKind.RULE, start, end)
            case "front_matter":
                yield self._block(BlockKind.FRONT_MATTER, start, end, verbatim=node.content)
            case "html_block":
                kind = BlockKind.COMMENT if node.content.startswith("<!--") else BlockKind.OTHER
                yield self._block(kind, start, end, verbatim=node.content.rstrip("\n"))
            case _:
                code = "\n".join(self._lines[start - 1 : end])
                yield self._block(BlockKind.OTHER, start, end, verbatim=code)

    def _block(self, kind: BlockKind, start: int, end: int, **fields: object) -> Block:
        is_withheld = any(line in self._withheld for line in range(start, end + 1))
        return Block(kind, start, end, is_withheld=is_withheld, **fields)  # type: ignore[arg-type]

    def _range(self, node: SyntaxTreeNode) -> tuple[int, int]:
        first, behind = node.map or (0, 1)
        last = max(behind, first + 1)
        while last > first + 1 and not self._lines[last - 1].strip():
            last -= 1
        return first + 1, last

    def _paragraph(self, node: SyntaxTreeNode, start: int, end: int) -> Block:
        words = _words(node)
        only = [each for each in words if each.text.strip() or each.children or each.target]
        if len(only) == 1 and only[0].kind is InlineKind.IMAGE:
            return self._block(
                BlockKind.IMAGE, start, end, words=words, target=only[0].target, lead_end=end
            )
        title = plain(words)
        if (
            len(only) == 1
            and only[0].kind is InlineKind.STRONG
            and len(title.split()) <= _LONGEST_BOLD_HEADING
            and not title.endswith((".", "!", ","))
        ):
            return self._block(
                BlockKind.HEADING, start, end, words=words, level=_BOLD_HEADING_LEVEL
            )
        return self._block(BlockKind.PARAGRAPH, start, end, words=words, lead_end=end)

    def _list(self, node: SyntaxTreeNode, start: int, end: int) -> Block:
        is_numbered = node.type == "ordered_list"
        first = int(node.attrs.get("start", 1))
        items = tuple(
            self._item(child, f"{first + n}{child.markup}" if is_numbered else "")
            for n, child in enumerate(node.children)
        )
        return self._block(BlockKind.LIST, start, end, children=items)

    def _item(self, node: SyntaxTreeNode, number: str) -> Block:
        start, end = self._range(node)
        children = [block for child in node.children for block in self.blocks(child)]
        lead = children[0] if children else None
        if lead is None or lead.kind not in {
            BlockKind.PARAGRAPH,
            BlockKind.HEADING,
            BlockKind.IMAGE,
        }:
            return self._block(BlockKind.ITEM, start, end, number=number, children=tuple(children))
        words, is_checked = _without_checkbox(lead.words)
        return self._block(
            BlockKind.ITEM,
            start,
            end,
            words=words,
            lead_end=lead.end_line,
            number=number,
            is_checked=is_checked,
            children=tuple(children[1:]),
        )

    def _quote(self, node: SyntaxTreeNode, start: int, end: int) -> Block:
        children = [block for child in node.children for block in self.blocks(child)]
        first = children[0].text if children else ""
        found = _CALLOUT.match(first)
        kind = BlockKind.CALLOUT if found else BlockKind.QUOTE
        name = found["name"].lower() if found else ""
        return self._block(kind, start, end, children=tuple(children), callout=name)


def _words(node: SyntaxTreeNode) -> Words:
    inline = node.children[0] if node.children else None
    return words_of(inline.token.children or ()) if inline and inline.token else ()


def _without_checkbox(words: Words) -> tuple[Words, bool | None]:
    first = words[0] if words else None
    found = _CHECKBOX.match(first.text) if first and first.kind is InlineKind.TEXT else None
    if first is None or found is None:
        return words, None
    return (replace(first, text=first.text[found.end() :]), *words[1:]), found["mark"] != " "


def _with_gaps(
    blocks: Sequence[Block], lines: Sequence[str], withheld: frozenset[int]
) -> Iterator[Block]:
    """Yield the blocks with a verbatim one for the lines between them that hold something."""
    line = 1
    for block in [*blocks, None]:
        behind = block.start_line if block else len(lines) + 1
        rest = [n for n in range(line, behind) if lines[n - 1].strip()]
        if rest:
            yield Block(
                BlockKind.OTHER,
                rest[0],
                rest[-1],
                verbatim="\n".join(lines[rest[0] - 1 : rest[-1]]),
                is_withheld=any(n in withheld for n in range(rest[0], rest[-1] + 1)),
            )
        if block:
            yield block
            line = max(line, block.end_line + 1)


def _keyed(page: Page) -> tuple[Block, ...]:
    """Return the outermost blocks, each block with its key."""
    texts = {
        id(place.block): "\n".join((*place.heading_path, place.block.kind, _own_text(place.block)))
        for place in page.places()
    }
    totals, seen = Counter(texts.values()), Counter[str]()

    def keyed(block: Block) -> Block:
        text = texts[id(block)]
        seen[text] += 1
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        key = f"{digest}-{seen[text]}.{totals[text]}"
        return replace(block, key=key, children=tuple(map(keyed, block.children)))

    return tuple(map(keyed, page.blocks))


def _own_text(block: Block) -> str:
    cells = (plain(cell) for row in (block.header, *block.rows) for cell in row)
    return "\n".join((block.text, block.verbatim, block.target, *cells))
