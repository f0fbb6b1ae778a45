"""HTML blocks in a page, as displayed: lists, tables, `<pre>`, `<details>`, callouts, tabs.

HTML shows through as blocks and words alone: scripts, frames and handlers show nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Literal

from services.knowledge.page.block import Block, BlockKind, Words
from services.knowledge.page.callouts import callout_of, callout_of_classes
from services.knowledge.page.elements import BLOCK_LIKE, INVISIBLE, VOID, is_placeholder
from services.knowledge.page.forms import (
    callout,
    container,
    definitions,
    flatten,
    heading,
    item,
    item_list,
    quote,
    settle_forms,
)
from services.knowledge.page.inline import PieceBuilder

_DEEPEST = 40
"""Limit on nested elements; deeper ones are shown as if they were side by side."""
_LONGEST = 200_000
"""Character limit of HTML without an empty line; a longer piece is not read."""
_MOST_OPEN_TAGS = 100
"""Limit on tags without `>`, each of which takes time by the length of the piece."""
_MOST_COLUMNS = 50
_WITH_MARKDOWN = frozenset({"details", "tabitem", "tab", "admonition"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"ul", "ol", "menu"})
_CELLS = frozenset({"td", "th"})
_PARTS_OF_TABLE = _CELLS | {"tr", "thead"}
_ENDED_BY: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), _LISTS),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "td": (_CELLS, frozenset({"table"})),
    "th": (_CELLS, frozenset({"table"})),
    "tr": (_CELLS | {"tr"}, frozenset({"table"})),
    "tbody": (_CELLS | {"tr", "thead", "tbody"}, frozenset({"table"})),
    "tfoot": (_CELLS | {"tr", "thead", "tbody"}, frozenset({"table"})),
}
"""Elements that another one ends unless one of the outer ones is between."""
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:)[-: ]?([\w+#-]+)")
_TITLE_CLASS = re.compile(r"(?:^|[-_])(?:title|heading|header)$|panelHeader", re.IGNORECASE)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*)[^<>]*>")
_OPTIONAL_END = frozenset(
    {"li", "p", "td", "th", "tr", "dt", "dd", "thead", "tbody", "tfoot", "option"}
)
_INDENTATION = re.compile(r"[ \t]*")

Fragment = Callable[[str, int], Sequence[Block]]
"""Function that reads Markdown whose first line has the given number."""


@dataclass(frozen=True, slots=True)
class Markup:
    """A piece of HTML between blocks of Markdown."""

    html: str
    start_line: int


@dataclass(frozen=True, slots=True)
class _HtmlEvent:
    kind: Literal["open", "whole", "close", "text"]
    offset: int
    name: str = ""
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    text: str = ""


@dataclass(slots=True)
class _Element:
    """An element that has begun: its blocks so far, and the words since the last of them."""

    name: str
    attributes: Mapping[str, str | None]
    line: int
    is_markdown: bool
    callout: str = ""
    has_end: bool = False
    blocks: list[Block] = field(default_factory=list)
    title: Words = ()
    title_line: int = 0
    text: list[str] = field(default_factory=list)
    """Content of `<pre>`."""
    text_end: int = 0
    """Last line of the content of `<pre>` so far."""
    pieces: PieceBuilder | None = None
    run_start: int = 0
    run_end: int = 0
    run_offset: int = 0


class HtmlReader:
    """Reader of the HTML between adjacent blocks."""

    def __init__(self, lines: Sequence[str], fragment: Fragment) -> None:
        self._lines = lines
        self._fragment = fragment
        self._open = [_Element("", {}, 0, is_markdown=False)]
        self._ends: set[str] = set()
        """Names of the elements that have an end tag."""
        self._has_end: dict[str, Iterator[bool]] = {}
        """Flags by element name: True for each element, in order, that has an end tag."""
        self._html = ""
        self._first_line = 1
        self._line = 1
        self.silent_lines: set[int] = set()
        """Lines of HTML that display nothing unless they belong to a block."""

    def blocks(self, content: Sequence[Block | Markup]) -> list[Block]:
        """Return the blocks of adjacent content, each HTML element as one."""
        html = "".join(each.html for each in content if isinstance(each, Markup))
        self._ends, self._has_end = _ended_elements(html)
        for each in content:
            if isinstance(each, Block):
                self._add(each)
            else:
                for part in _without_fences(each, self._fragment):
                    if isinstance(part, Block):
                        self._add(part)
                    else:
                        self._read(part)
        while len(self._open) > 1:
            self._close_innermost()
        self._end_run(len(self._html))
        return self._open[0].blocks

    def _add(self, block: Block) -> None:
        self._end_run(len(self._html))
        element = self._open[-1]
        if element.name == "pre" and "pre" in self._ends:
            element.text += ["\n", *self._verbatim(element.text_end, block.end_line)]
            element.text_end = block.end_line
        else:
            element.blocks.append(block)
        self._line = block.end_line

    def _verbatim(self, behind: int, end: int) -> Iterator[str]:
        """Yield lines of `<pre>` after an empty line, where Markdown reads no HTML."""
        yield "\n".join(line for line in self._lines[behind:end])

    def _read(self, markup: Markup) -> None:
        opened = markup.html.count("<") - markup.html.count(">")
        if len(markup.html) > _LONGEST or opened > _MOST_OPEN_TAGS:
            return
        self._end_run(len(self._html))
        if self._open[-1].name == "pre":
            gap = markup.start_line - self._open[-1].text_end
            self._open[-1].text.append("\n" * gap)
        self._html, self._first_line = markup.html, markup.start_line
        events, unread = _events(markup.html)
        silent_to = self._line_at(unread if unread is not None else len(markup.html.rstrip()) - 1)
        self.silent_lines.update(range(markup.start_line, silent_to + (unread is None)))
        for event in events:
            self._line = self._line_at(event.offset)
            if event.kind == "text":
                self._text(event)
            elif event.kind == "close":
                self._end_tag(event)
            else:
                self._tag(event, is_closed=event.name in self._ends)
        self._end_run(len(markup.html))
        self._close_endless()

    def _close_endless(self) -> None:
        """Close elements without an end tag, so that they do not absorb what is below."""
        last = max((n for n, each in enumerate(self._open) if each.has_end), default=0)
        keep = last + 1
        while last and keep < len(self._open) and self._open[keep].name in _OPTIONAL_END:
            keep += 1
        while len(self._open) > keep:
            self._close_innermost()

    def _line_at(self, offset: int) -> int:
        return self._first_line + self._html.count("\n", 0, max(offset, 0))

    def _text(self, event: _HtmlEvent) -> None:
        if self._open[-1].name == "pre":
            self._open[-1].text.append(event.text)
            self._open[-1].text_end = self._line + event.text.rstrip().count("\n")
            return
        if event.text.strip() or self._open[-1].pieces:
            is_blank = not event.text.strip()
            before = len(event.text) - len(event.text.lstrip())
            breaks = event.text[:before].count("\n")
            pieces = self._run(event.offset, self._line + breaks)
            pieces.add_html_text(event.text)
            if not is_blank:
                self._open[-1].run_end = self._line + event.text.rstrip().count("\n")

    def _tag(self, event: _HtmlEvent, *, is_closed: bool) -> None:
        name = event.name
        is_value = is_placeholder(name, event.attributes, is_closed=is_closed)
        if name in BLOCK_LIKE and not is_value:
            self._end_elements_before(name)
            self._end_run(event.offset)
            has_end = event.kind == "open" and next(self._has_end.get(name, iter(())), False)
            if name == "hr":
                self._open[-1].blocks.append(Block(BlockKind.RULE, self._line, self._line))
            elif event.kind == "open" and name not in VOID and len(self._open) < _DEEPEST:
                self._open.append(self._element(event))
                self._open[-1].has_end = has_end
        elif self._open[-1].name == "pre":
            if name == "code" and not self._open[-1].attributes.get("class"):
                self._open[-1].attributes = event.attributes
            elif is_value:
                self._open[-1].text.append(event.text)
        else:
            pieces = self._run(event.offset, self._line)
            pieces.tag(name, event.attributes, event.text, is_closed=is_closed)
            self._open[-1].run_end = self._line
            if event.kind == "whole" and name not in VOID:
                pieces.close(name)

    def _end_tag(self, event: _HtmlEvent) -> None:
        name = event.name
        if name in BLOCK_LIKE:
            if any(each.name == name for each in self._open[1:]):
                self._end_run(event.offset)
                while self._close_innermost() != name:
                    pass
        elif self._open[-1].name == "pre":
            if is_placeholder(name, {}, is_closed=True):
                self._open[-1].text.append(event.text)
        elif self._open[-1].pieces:
            self._open[-1].pieces.end_tag(name, event.text)
            self._open[-1].run_end = self._line
        elif is_placeholder(name, {}, is_closed=True):
            self._run(event.offset, self._line).text(event.text)

    def _element(self, event: _HtmlEvent) -> _Element:
        classes = (event.attributes.get("class") or "").split()
        named = ""
        if event.name == "admonition":
            named = callout_of(event.attributes.get("type") or "note")
        elif event.name in {"div", "aside", "section", "p", "blockquote"}:
            named = callout_of_classes(classes)
        is_markdown = event.name in _WITH_MARKDOWN or bool(named)
        element = _Element(event.name, event.attributes, self._line, is_markdown, named)
        label = event.attributes.get("title") if event.name == "admonition" else None
        if event.name in {"tabitem", "tab"}:
            label = event.attributes.get("label") or event.attributes.get("value")
        if label:
            pieces = PieceBuilder()
            pieces.text(label)
            element.title, element.title_line = pieces.words(), self._line
        return element

    def _end_elements_before(self, name: str) -> None:
        """Close the elements that an element of this name ends implicitly."""
        ended, outer = _ENDED_BY.get(name, (frozenset[str](), frozenset[str]()))
        for each in reversed(self._open[1:]):
            if each.name in outer:
                break
            if each.name in ended:
                while self._close_innermost() not in ended:
                    pass
                self._end_elements_before(name)
                return
        if self._open[-1].name == "p" and not self._open[-1].callout:
            self._close_innermost()

    def _run(self, offset: int, line: int) -> PieceBuilder:
        """Return the words since the last block; they may begin here."""
        element = self._open[-1]
        if element.pieces is None:
            element.pieces = PieceBuilder()
            element.run_start = element.run_end = line
            element.run_offset = offset
        return element.pieces

    def _end_run(self, offset: int) -> None:
        element = self._open[-1]
        if element.pieces is None:
            return
        words, element.pieces = element.pieces.words(), None
        source = self._html[element.run_offset : offset]
        if not words:
            return
        if element.is_markdown:
            before = source[: len(source) - len(source.lstrip())].count("\n")
            start = self._line_at(element.run_offset) + before
            element.blocks += self._fragment(_dedent(source.strip("\n").lstrip()), start)
        else:
            end = max(element.run_start, element.run_end)
            element.blocks.append(
                Block(BlockKind.PARAGRAPH, element.run_start, end, words=words, lead_end=end)
            )

    def _close_innermost(self) -> str:
        self._end_run(len(self._html))
        element = self._open.pop()
        around = self._open[-1]
        classes = (element.attributes.get("class") or "").split()
        if element.name == "summary" or any(map(_TITLE_CLASS.search, classes)):
            titled = next((each for each in reversed(self._open) if _takes_title(each)), None)
            if titled and not titled.title:
                titled.title, titled.title_line = flatten(element.blocks), element.line
                return element.name
        around.blocks += self._closed(element)
        return element.name

    def _closed(self, element: _Element) -> Iterable[Block]:
        """Return what an element displays: a block, or the blocks in it."""
        block = Block(
            BlockKind.GROUP,
            element.line,
            max(self._line, element.line),
            words=element.title,
            lead_end=element.title_line,
            callout=element.callout,
            children=tuple(element.blocks),
        )
        if element.callout:
            return [callout(replace(block, kind=BlockKind.CALLOUT))]
        show = _RENDERERS.get(element.name)
        if element.name in _PARTS_OF_TABLE and all(each.name != "table" for each in self._open):
            return block.children
        return show(element, block) if show else block.children


class _EventReader(HTMLParser):
    """Collects tags and text with their offsets."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[_HtmlEvent] = []
        self._starts = [0, *(match.end() for match in re.finditer("\n", html))]
        self._source = html

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raw = self.get_starttag_text() or ""
        self.events.append(_HtmlEvent("open", self._offset(), tag, dict(attrs), raw))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raw = self.get_starttag_text() or ""
        self.events.append(_HtmlEvent("whole", self._offset(), tag, dict(attrs), raw))

    def handle_endtag(self, tag: str) -> None:
        offset = self._offset()
        behind = self._source.find(">", offset) + 1
        self.events.append(_HtmlEvent("close", offset, tag, text=self._source[offset:behind]))

    def handle_data(self, data: str) -> None:
        self.events.append(_HtmlEvent("text", self._offset(), text=data))

    def unknown_decl(self, data: str) -> None:
        self.events.append(_HtmlEvent("text", self._offset(), text=data.removeprefix("CDATA[")))

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._starts[line - 1] + column


def _events(html: str) -> tuple[list[_HtmlEvent], int | None]:
    """Return tags and text without invisible elements, and the offset of an unclosed one."""
    endless_comment = html.find("<!--", html.rfind("-->") + 1)
    reader = _EventReader(html)
    reader.feed(html if endless_comment < 0 else html[:endless_comment])
    reader.close()
    ends = {event.name for event in reader.events if event.kind == "close"}
    shown: list[_HtmlEvent] = []
    hidden: _HtmlEvent | None = None
    for event in reader.events:
        if hidden:
            hidden = None if event.kind == "close" and event.name == hidden.name else hidden
        elif (
            event.kind == "open"
            and event.name in INVISIBLE - VOID
            and (event.name in ends or event.name in {"script", "style"})
        ):
            hidden = event
        else:
            shown.append(event)
    if hidden:
        return shown, hidden.offset
    return shown, endless_comment if endless_comment >= 0 else None


def _ended_elements(html: str) -> tuple[set[str], dict[str, Iterator[bool]]]:
    """Return the names of elements with an end tag, and which elements of a name have one."""
    has_end: dict[str, list[bool]] = {}
    begun: dict[str, list[int]] = {}
    ends: set[str] = set()
    for tag in _TAG.finditer(html):
        name = tag["name"].lower()
        if tag["end"]:
            ends.add(name)
            if begun.get(name):
                has_end[name][begun[name].pop()] = True
        elif not tag[0].endswith("/>"):
            begun.setdefault(name, []).append(len(has_end.setdefault(name, [])))
            has_end[name].append(False)
    return ends, {name: iter(each) for name, each in has_end.items()}


def _takes_title(element: _Element) -> bool:
    return element.name == "details" or bool(element.callout)


def _without_fences(markup: Markup, fragment: Fragment) -> Iterator[Markup | Block]:
    """Yield the HTML, with fenced code in it as code blocks."""
    is_verbatim = re.match(r"\s*<(?:pre|script|style|textarea|!--)", markup.html, re.IGNORECASE)
    position = 0
    while not is_verbatim and (match := _FENCE.search(markup.html, position)):
        end = re.compile(rf"^[ \t]*{match[1]}[`~]*[ \t]*$", re.MULTILINE)
        close = end.search(markup.html, match.end())
        if close is None or "<pre" in markup.html[position : match.start()].lower():
            break
        line = markup.start_line + markup.html.count("\n", 0, match.start())
        before = markup.start_line + markup.html.count("\n", 0, position)
        yield Markup(markup.html[position : match.start()], before)
        yield from fragment(_dedent(markup.html[match.start() : close.end()]), line)
        position = close.end()
    if position < len(markup.html):
        before = markup.start_line + markup.html.count("\n", 0, position)
        yield Markup(markup.html[position:], before)


def _dedent(text: str) -> str:
    """Remove the indentation that all lines but the first share."""
    first, *rest = text.split("\n")
    indents = [match.end() for line in rest if line.strip() and (match := _INDENTATION.match(line))]
    shared = min(indents, default=0)
    own = _INDENTATION.match(first)
    return "\n".join(
        (first[min(shared, own.end() if own else 0) :], *(line[shared:] for line in rest))
    )


def _list(element: _Element, block: Block) -> Iterator[Block]:
    """Yield a list; content outside its items is added to the item above."""
    items: list[Block] = []
    number = _number(element.attributes.get("start"))
    for child in block.children:
        if child.kind is not BlockKind.ITEM and items:
            end = max(items[-1].end_line, child.end_line)
            items[-1] = replace(items[-1], children=(*items[-1].children, child), end_line=end)
            continue
        if child.kind is not BlockKind.ITEM:
            items.append(Block(BlockKind.ITEM, child.start_line, child.end_line, children=(child,)))
            continue
        mark = _mark(number, element.attributes.get("type")) if element.name == "ol" else ""
        items.append(replace(child, number=mark))
        number += 1
    yield item_list(replace(block, kind=BlockKind.LIST, children=tuple(items)))


def _number(text: str | None) -> int:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and text else 1


def _mark(number: int, kind: str | None) -> str:
    if kind in {"a", "A"} and 0 < number <= 26:
        return f"{chr(ord(kind) + number - 1)}."
    return f"{number}."


def _columns(cell: _Element) -> int:
    return min(_number(cell.attributes.get("colspan")), _MOST_COLUMNS)


def _table(_: _Element, block: Block) -> Iterator[Block]:
    """Yield a table, preceded by content outside its cells; a one-cell frame is dissolved."""
    rows: list[tuple[Block, bool]] = []
    rest: list[Block] = []
    for child in block.children:
        if child.number == "thead":
            rows += [(row, True) for row in child.children if row.number == "tr"]
        elif child.number == "tr":
            rows.append((child, False))
        elif child.number not in _CELLS:
            rest.append(child)
        elif rows and not rows[-1][0].number:
            row = rows.pop()[0]
            rows.append((replace(row, children=(*row.children, child)), False))
        else:
            rows.append((Block(BlockKind.GROUP, 0, 0, children=(child,)), False))
    cells = [[cell for cell in row.children if cell.number in _CELLS] for row, _ in rows]
    yield from rest
    if len(cells) == 1 and len(cells[0]) == 1:
        yield from cells[0][0].children
        return
    if not any(cells):
        return
    shown = [tuple(words for cell in row for words in _cell(cell)) for row in cells]
    has_header = rows[0][1] or all(cell.number == "th" for cell in cells[0])
    header, body = (shown[0], shown[1:]) if has_header else ((), shown)
    yield replace(block, kind=BlockKind.TABLE, header=header, rows=tuple(body), children=())


def _cell(cell: Block) -> Iterator[Words]:
    yield flatten(cell.children)
    yield from () if cell.level < 2 else ((),) * (cell.level - 1)


def _details(_: _Element, block: Block) -> Iterator[Block]:
    yield container(replace(block, kind=BlockKind.DETAILS))


def _tab(_: _Element, block: Block) -> Iterator[Block]:
    yield container(replace(block, kind=BlockKind.TAB))


def _tabs(_: _Element, block: Block) -> Iterator[Block]:
    tabs = settle_forms(block.children)
    is_one = len(tabs) == 1 and tabs[0].kind is BlockKind.TABS
    yield replace(block, kind=BlockKind.TABS, children=tabs[0].children if is_one else tabs)


def _code(element: _Element, block: Block) -> Iterator[Block]:
    text = "".join(element.text).removeprefix("\n").rstrip()
    language = _LANGUAGE.search(element.attributes.get("class") or "")
    name = language[1].lower() if language else ""
    yield replace(block, kind=BlockKind.CODE, verbatim=text, language=name)


def _heading(element: _Element, block: Block) -> Iterator[Block]:
    words = flatten(block.children)
    if words:
        level = int(element.name[1])
        made = replace(block, kind=BlockKind.HEADING, words=words, level=level, children=())
        yield heading(made)


def _item(_: _Element, block: Block) -> Iterator[Block]:
    yield item(replace(block, kind=BlockKind.ITEM))


def _definitions(_: _Element, block: Block) -> Iterator[Block]:
    entries = tuple(each for each in block.children if each.kind is BlockKind.DEFINITION)
    yield definitions(replace(block, kind=BlockKind.DEFINITIONS, children=entries))


def _term(_: _Element, block: Block) -> Iterator[Block]:
    words = flatten(block.children)
    kind, end = BlockKind.DEFINITION, block.end_line
    yield replace(block, kind=kind, words=words, lead_end=end, children=())


def _definition(_: _Element, block: Block) -> Iterator[Block]:
    yield replace(block, kind=BlockKind.DEFINITION)


def _quote(_: _Element, block: Block) -> Iterator[Block]:
    yield quote(replace(block, kind=BlockKind.QUOTE))


def _part_of_table(element: _Element, block: Block) -> Iterator[Block]:
    """Yield a row or cell for the table around it: its number is the element's name."""
    yield replace(block, number=element.name, level=_columns(element))


_RENDERERS: Mapping[str, Callable[[_Element, Block], Iterable[Block]]] = {
    "details": _details,
    "tabitem": _tab,
    "tab": _tab,
    "tabs": _tabs,
    "pre": _code,
    "li": _item,
    "dl": _definitions,
    "dt": _term,
    "dd": _definition,
    "blockquote": _quote,
    "table": _table,
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_PARTS_OF_TABLE, _part_of_table),
}
"""Functions that build the blocks of elements; other elements yield the blocks in them."""
