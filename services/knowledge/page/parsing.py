"""Parser of a page's text into blocks."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from services.knowledge.page.block import (
    Block,
    BlockKind,
    Inline,
    InlineKind,
    Page,
    Words,
    plain,
    without_links,
)
from services.knowledge.page.forms import (
    container,
    definitions,
    heading,
    item,
    item_list,
    quote,
    settle_forms,
)
from services.knowledge.page.grammar import FRAGMENT_PARSER, PAGE_PARSER
from services.knowledge.page.html import HtmlReader, Markup
from services.knowledge.page.inline import words_of

_DEEPEST = 150
"""Limit on nested blocks; deeper ones are shown verbatim."""
_REMEMBERED = 128
REMEMBERED_LENGTH = 100_000
"""Character limit of cached pages; results for longer ones are recomputed to save memory."""
_FORMS: dict[str, tuple[BlockKind, Callable[[Block], Block]]] = {
    "paragraph_open": (BlockKind.PARAGRAPH, lambda block: block),
    "heading_open": (BlockKind.HEADING, heading),
    "bullet_list_open": (BlockKind.LIST, item_list),
    "ordered_list_open": (BlockKind.LIST, item_list),
    "list_item_open": (BlockKind.ITEM, item),
    "blockquote_open": (BlockKind.QUOTE, quote),
    "dl_open": (BlockKind.DEFINITIONS, definitions),
    "dt_open": (BlockKind.DEFINITION, lambda block: block),
    "dd_open": (BlockKind.DEFINITION, lambda block: block),
    "callout_open": (BlockKind.CALLOUT, container),
    "tab_open": (BlockKind.TAB, container),
    "details_open": (BlockKind.DETAILS, container),
}
"""Kinds of the blocks that tokens open, and the functions that finish their form."""


def parse_page(text: str, *, withheld: Collection[int] = ()) -> Page:
    r"""Parse a text into blocks; `withheld` are lines that screening removed from use.

    Lines are those between `\n`; an `\r` before it is no part of them. Each line that holds
    something belongs to exactly one outermost block. The same text soon after yields the same page.
    """
    parse = _remembered if len(text) <= REMEMBERED_LENGTH else _parse
    return parse(text, frozenset(withheld))


def _parse(text: str, withheld: frozenset[int]) -> Page:
    lines = tuple(line.removesuffix("\r") for line in text.split("\n"))
    reader = _TokenReader(lines)
    source = "\n".join(lines).replace("\r", " ")
    blocks = reader.read(PAGE_PARSER, source.removeprefix("\ufeff"), 1)
    filled = _fill_gaps(_merge_shared_lines(blocks), lines, reader.silent_lines)
    page = Page(lines, tuple(_limit_depth(block, lines, 1) for block in filled))
    return replace(page, blocks=_add_keys(page, withheld))


_remembered = lru_cache(maxsize=_REMEMBERED)(_parse)


@dataclass(slots=True)
class _Frame:
    """A block that has begun."""

    token: Token | None
    words: Words = ()
    content: list[Block | Markup] = field(default_factory=list)


class _TokenReader:
    """Converter of markdown-it's tokens into blocks."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._env: EnvType = {}
        self._first_line = 1
        self.silent_lines: set[int] = set()
        """Lines that display nothing unless they belong to a block."""

    def read(self, parser: MarkdownIt, text: str, first_line: int) -> tuple[Block, ...]:
        """Return the blocks of Markdown that begins at a line of the page."""
        around, self._first_line = self._first_line, first_line
        tokens = iter(parser.parse(text, self._env))
        frames = [_Frame(None)]
        for token in tokens:
            if token.type == "table_open":
                frames[-1].content.append(self._table(token, tokens))
            elif token.type == "inline":
                frames[-1].words = words_of(token.children or ())
            elif token.nesting == 1:
                frames.append(_Frame(token))
            elif token.nesting == -1:
                closed = frames.pop()
                opening = closed.token or token
                frames[-1].content.append(self._closed(opening, closed))
            else:
                frames[-1].content.append(self._leaf(token))
        blocks = settle_forms(self._children(frames[0]))
        self._first_line = around
        return blocks

    def _leaf(self, token: Token) -> Block | Markup:
        start, end = self._range(token)
        match token.type:
            case "fence" | "code_block":
                info = token.info.split() if token.type == "fence" else []
                language = info[0].lower().strip("{}.") if info else ""
                code = token.content.removesuffix("\n")
                return Block(BlockKind.CODE, start, end, verbatim=code, language=language)
            case "html_block":
                return Markup(token.content, start)
            case "hr":
                return Block(BlockKind.RULE, start, end)
            case "front_matter":
                return Block(BlockKind.FRONT_MATTER, start, end, verbatim=token.content)
            case "reference":
                words = (Inline(InlineKind.TEXT, token.meta["label"]),)
                target = token.meta["target"]
                return Block(
                    BlockKind.REFERENCE, start, end, words=words, lead_end=end, target=target
                )
            case _:
                code = "\n".join(self._lines[start - 1 : end])
                return Block(BlockKind.OTHER, start, end, verbatim=code)

    def _closed(self, token: Token, frame: _Frame) -> Block:
        start, end = self._range(token)
        if token.type == "paragraph_open" and not frame.words:
            self.silent_lines.update(range(start, end + 1))
        children = tuple(self._children(frame))
        if token.type == "ordered_list_open":
            first = int(token.attrs.get("start", 1))
            numbers = (f"{first + n}{token.markup}" for n in range(len(children)))
            children = tuple(
                replace(each, number=number) for each, number in zip(children, numbers, strict=True)
            )
        kind, form = _FORMS[token.type]
        return form(
            Block(
                kind,
                start,
                end,
                words=frame.words,
                lead_end=_lead_end(kind, frame.words, start, end),
                callout=token.meta.get("callout", ""),
                is_checked=token.meta.get("checked"),
                level=int(token.tag[1]) if kind is BlockKind.HEADING else 0,
                children=children,
            )
        )

    def _children(self, frame: _Frame) -> Sequence[Block]:
        if not any(isinstance(each, Markup) for each in frame.content):
            return [each for each in frame.content if isinstance(each, Block)]
        reader = HtmlReader(self._lines, lambda text, line: self.read(FRAGMENT_PARSER, text, line))
        blocks = reader.blocks(frame.content)
        self.silent_lines |= reader.silent_lines
        return blocks

    def _table(self, opening: Token, tokens: Iterator[Token]) -> Block:
        start, end = self._range(opening)
        rows: list[list[Words]] = []
        for token in tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(words_of(token.children or ()))
        header, *body = map(tuple, rows)
        return Block(BlockKind.TABLE, start, end, header=header, rows=tuple(body))

    def _range(self, token: Token) -> tuple[int, int]:
        """Return the first and the last line that is not blank."""
        first, behind = token.map or (0, 1)
        start = first + self._first_line
        last = max(behind - 1 + self._first_line, start)
        while last > start and not self._lines[last - 1].strip():
            last -= 1
        return start, last


def _lead_end(kind: BlockKind, words: Words, start: int, end: int) -> int:
    if not words or kind is BlockKind.HEADING:
        return 0
    return end if kind in {BlockKind.PARAGRAPH, BlockKind.DEFINITION} else start


def _merge_shared_lines(blocks: Iterable[Block]) -> list[Block]:
    """Merge blocks that share a line, so that each line belongs to one block."""
    apart: list[Block] = []
    for block in blocks:
        if not apart or block.start_line > apart[-1].end_line:
            apart.append(block)
            continue
        last = apart.pop()
        end = max(last.end_line, block.end_line)
        if last.kind is block.kind is BlockKind.PARAGRAPH:
            words = (*last.words, Inline(InlineKind.BREAK), *block.words)
            apart.append(replace(last, end_line=end, lead_end=end, words=words))
        else:
            parts = last.children if last.kind is BlockKind.GROUP else (last,)
            apart.append(Block(BlockKind.GROUP, last.start_line, end, children=(*parts, block)))
    return apart


def _fill_gaps(
    blocks: Sequence[Block], lines: Sequence[str], silent: Collection[int]
) -> Iterator[Block]:
    """Yield the blocks, with blocks for the non-blank lines between them.

    These are tags and comments, which show nothing, or of no known form and shown verbatim.
    """
    line = 1
    for block in [*blocks, None]:
        behind = block.start_line if block else len(lines) + 1
        rest = [n for n in range(line, behind) if lines[n - 1].strip()]
        start = 0
        while start < len(rest):
            is_silent = rest[start] in silent
            end = start
            while end + 1 < len(rest) and (rest[end + 1] in silent) == is_silent:
                end += 1
            kind = BlockKind.COMMENT if is_silent else BlockKind.OTHER
            text = "\n".join(lines[rest[start] - 1 : rest[end]])
            yield Block(kind, rest[start], rest[end], verbatim=text)
            start = end + 1
        if block:
            yield block
            line = max(line, block.end_line + 1)


def _limit_depth(block: Block, lines: Sequence[str], depth: int) -> Block:
    """Return a block, verbatim if its blocks are nested too deeply."""
    if not block.children:
        return block
    if depth == _DEEPEST:
        text = "\n".join(lines[block.start_line - 1 : block.end_line])
        return Block(BlockKind.OTHER, block.start_line, block.end_line, verbatim=text)
    children = tuple(_limit_depth(child, lines, depth + 1) for child in block.children)
    is_same = all(new is old for new, old in zip(children, block.children, strict=True))
    return block if is_same else replace(block, children=children)


def _add_keys(page: Page, withheld: frozenset[int]) -> tuple[Block, ...]:
    """Return the outermost blocks, each block with its key and its withheld mark."""
    paths: dict[int, str] = {}
    texts: dict[int, str] = {}
    for place in page.places():
        above = id(place.headings[-1]) if place.headings else 0
        if above not in paths:
            paths[above] = "\n".join(place.heading_path)
        block = place.block
        texts[id(block)] = "\n".join((paths[above], block.kind, _own_text(block)))
    totals, seen = Counter(texts.values()), Counter[str]()

    def finished(block: Block) -> Block:
        text = texts[id(block)]
        seen[text] += 1
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        key = f"{digest}-{seen[text]}.{totals[text]}"
        made = replace(block, key=key, children=tuple(map(finished, block.children)))
        is_withheld = bool(withheld) and _is_withheld(block, withheld)
        return _withhold(made) if is_withheld else made

    return tuple(map(finished, page.blocks))


def _withhold(block: Block) -> Block:
    """Return a withheld block: all its words are shown, but its links are inactive."""
    return replace(
        block,
        is_withheld=True,
        words=without_links(block.words),
        header=tuple(map(without_links, block.header)),
        rows=tuple(tuple(map(without_links, row)) for row in block.rows),
    )


def _is_withheld(block: Block, withheld: frozenset[int]) -> bool:
    """Return True if one of a block's own lines, not its children's, is withheld."""
    lines = {line for line in withheld if block.start_line <= line <= block.end_line}
    if any(line <= block.lead_end for line in lines):
        return True
    for child in block.children:
        lines -= set(range(child.start_line, child.end_line + 1))
    return bool(lines)


def _own_text(block: Block) -> str:
    cells = (plain(cell) for row in (block.header, *block.rows) for cell in row)
    return "\n".join((block.text, block.verbatim, block.target, *cells))
