"""Words, links and code that a page shows: by its blocks, and by GitHub's own renderer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote

import cmarkgfm
from cmarkgfm.cmark import Options

from services.knowledge.page.block import Block, BlockKind, InlineKind, Page, Words

_WORD = re.compile(r"\w+")
_EXTENSIONS = ["table", "strikethrough", "autolink", "tasklist"]
_NOT_SHOWN = {BlockKind.COMMENT, BlockKind.FRONT_MATTER, BlockKind.REFERENCE}
_ENDS_LINE = {
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "tabs",
    "tabitem",
    "admonition",
}
_INLINE = {
    "a",
    "abbr",
    "b",
    "bdi",
    "bdo",
    "big",
    "cite",
    "code",
    "col",
    "colgroup",
    "del",
    "dfn",
    "em",
    "font",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "link",
    "map",
    "mark",
    "meta",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "svg",
    "time",
    "tt",
    "u",
    "var",
    "video",
    "wbr",
    "area",
}
_HIDDEN = {"script", "style", "iframe"}
_NEEDS_NO_END = {
    "blockquote",
    "br",
    "details",
    "div",
    "dl",
    "dt",
    "dd",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "summary",
    "table",
    "td",
    "th",
    "tr",
    "ul",
    "wbr",
}
_FENCE = re.compile(
    r"^([ >\t]*)(`{3,}|~{3,})[^\n]*\n(?:.*\n)*?\1?[ \t]*\2[`~]*[ \t]*$", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A(-{3}|\+{3})[ \t]*\n[\w\"'#][\s\S]*?\n(\1|\.\.\.)[ \t]*(\n|$)")
_GITHUB_MARKER = re.compile(r"^([ >\t]*>\s*)\[!\w+\][+-]?", re.MULTILINE)
_HEADING_ANCHOR = re.compile(r"^([ >\t]*#{1,6} .*?)[ \t]*\{#[\w.:-]+\}[ \t]*$", re.MULTILINE)
_CHECKBOX = re.compile(r"^([ >\t]*(?:[-*+]|\d+[.)])[ \t]+)\[[ xX]\][ \t]+", re.MULTILINE)
_INDENTED_CALLOUT = re.compile(
    r'^(?:!!! \w+|\?\?\?\+? \w+|===) "(.*)"[ \t]*\n((?:(?:    .*|[ \t]*)\n)*)', re.MULTILINE
)
_FENCED_CALLOUT = re.compile(r"^:::[ \t]*\w*[ \t]*(.*)$", re.MULTILINE)
_PANEL = re.compile(
    r"^\{(?:warning|note|info|tip|panel)(?::title=([^}|]*)[^}]*)?\}[ \t]*$", re.MULTILINE
)


@dataclass
class Shown:
    """Words, targets of links and images, and code, each in the order of the page."""

    words: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def add_code(self, text: str) -> None:
        self.code += [" ".join(text.split())] if text.strip() else []

    def add_link(self, target: str) -> None:
        self.links += [_normal_link(target)] if target else []


def shown_by_blocks(page: Page) -> Shown:
    """Return what the blocks of a page show, numbers of items among the words."""
    shown = Shown()
    for block in (each for outermost in page.blocks for each in outermost.walk()):
        if block.kind not in _NOT_SHOWN:
            shown.words += _WORD.findall(" ".join(_text_of_block(block, shown)))
    return shown


def _text_of_block(block: Block, shown: Shown) -> Iterator[str]:
    yield block.number
    yield _text_of_words(block.words, shown)
    yield block.verbatim
    if block.kind is BlockKind.CODE:
        shown.add_code(block.verbatim)
    for row in (block.header, *block.rows):
        for cell in row:
            yield _text_of_words(cell, shown)


def _text_of_words(words: Words, shown: Shown) -> str:
    text = ""
    for piece in words:
        if piece.kind is InlineKind.CODE:
            shown.add_code(piece.text)
        if piece.kind in {InlineKind.LINK, InlineKind.IMAGE}:
            shown.add_link(piece.target)
        text += " " if piece.kind is InlineKind.BREAK else piece.text
        text += _text_of_words(piece.children, shown)
    return text


def shown_by_renderer(text: str) -> Shown:
    """Return what GitHub's renderer shows of a text."""
    html = cmarkgfm.markdown_to_html_with_extensions(
        as_plain_markdown(text), Options.CMARK_OPT_UNSAFE, _EXTENSIONS
    )
    reader = _HtmlText(html)
    reader.feed(html)
    reader.close()
    reader.end()
    return reader.shown


def as_plain_markdown(text: str) -> str:
    """Return a text without the forms that CommonMark does not have, their words kept.

    These are front matter, marks of callouts and tabs (their bodies are outdented, since
    indentation in them makes no code), anchors behind headings, and boxes of items, which cmark
    leaves as text where items stand in a quote.
    """
    text = _FRONT_MATTER.sub("\n", text.replace("\r\n", "\n").removeprefix("\ufeff"))
    parts, position = [], 0
    for fence in [*_FENCE.finditer(text), None]:
        part = text[position : fence.start() if fence else len(text)]
        part = _GITHUB_MARKER.sub(r"\1", part)
        part = _HEADING_ANCHOR.sub(r"\1", part)
        part = _CHECKBOX.sub(r"\1", part)
        part = _FENCED_CALLOUT.sub("\n\\1\n", part)
        part = _PANEL.sub(lambda panel: f"\n{panel[1] or ''}\n", part)
        parts.append(_INDENTED_CALLOUT.sub(_outdented, part))
        parts.append(fence[0] if fence else "")
        position = fence.end() if fence else position
    return "".join(parts)


def _outdented(callout: re.Match[str]) -> str:
    body = re.sub(r"^ {4,}", "", callout[2], flags=re.MULTILINE)
    return f"\n{callout[1]}\n\n{body}\n"


def _normal_link(target: str) -> str:
    return unquote(target).removesuffix("\\").strip()


class _HtmlText(HTMLParser):
    """Collects what HTML shows; a tag of no known name is a placeholder, which shows too."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.shown = Shown()
        self._text = ""
        self._numbers: list[int | None] = []
        self._code: list[str] = []
        self._hidden = ""
        self._ends = set(re.findall(r"</(\w+)", html.lower()))

    def end(self) -> None:
        self.end_line()
        self.shown.add_code("".join(self._code))

    def end_line(self) -> None:
        self.shown.words += _WORD.findall(self._text)
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        is_html = tag in _ENDS_LINE | _INLINE | _HIDDEN
        is_value = not attributes and tag not in self._ends | _NEEDS_NO_END
        if self._hidden:
            return
        if not is_html or is_value:
            self.handle_data(self.get_starttag_text() or "")
        elif tag in _HIDDEN:
            self._hidden = tag
        else:
            self._open_tag(tag, attributes)

    def _open_tag(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _ENDS_LINE:
            self.end_line()
        if tag in {"ol", "ul"}:
            self._numbers.append(int(attributes.get("start") or 1) if tag == "ol" else None)
        if tag == "li" and self._numbers and self._numbers[-1] is not None:
            self._text += f"{self._numbers[-1]}. "
            self._numbers[-1] += 1
        if tag in {"code", "pre"}:
            self._code.append("")
        self.shown.add_link(attributes.get("href" if tag == "a" else "src") or "")
        self._text += attributes.get("alt") or attributes.get("label") or ""

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._hidden = "" if tag == self._hidden else self._hidden
            return
        if tag in _ENDS_LINE:
            self.end_line()
        if tag in {"ol", "ul"} and self._numbers:
            self._numbers.pop()
        if tag in {"code", "pre"} and self._code:
            code = self._code.pop()
            if self._code:
                self._code[-1] += code
            else:
                self.shown.add_code(code)
        if tag not in _ENDS_LINE | _INLINE | _HIDDEN:
            self.handle_data(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self._text += data
        if self._code:
            self._code[-1] += data
