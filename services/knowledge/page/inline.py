"""Inline pieces of a line: text, code, links, images and emphasis, from Markdown and HTML."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

from services.knowledge.page.block import Inline, InlineKind, Words
from services.knowledge.page.elements import (
    BLOCK_LIKE,
    FORMATTING,
    HTML_ELEMENTS,
    INVISIBLE,
    VOID,
    is_placeholder,
)

_NESTING = {
    "strong": InlineKind.STRONG,
    "em": InlineKind.EMPHASIS,
    "s": InlineKind.STRIKE,
    "link": InlineKind.LINK,
}
_DEEPEST = 30
"""Limit on nested pieces; deeper emphasis is merged into its parent."""
_ADDRESS = re.compile(
    r"(?<![A-Za-z])(?:https?|ftp)://[A-Za-z0-9\[][^\s<]*"
    r"|(?:^|(?<=[\s*_~(]))www\.[^\s<]*\.[^\s<]*"
    r"|(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]*[A-Za-z0-9_+-]@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z0-9_-]*[A-Za-z0-9]",
)
_BRACKETS = (("(", ")"), ("[", "]"))
_BEHIND_ADDRESS = frozenset("?!.,:;*_~'\"")
_ENTITY = re.compile(r"&[A-Za-z0-9]+;$")
_LONGEST_ENTITY = 40
_SPACES = re.compile(r"\s+")
_SAFE = MarkdownIt().validateLink


@dataclass(slots=True)
class _OpenElement:
    """An element that has begun and not ended."""

    name: str
    kind: InlineKind | None
    target: str = ""
    children: list[Inline] = field(default_factory=list)


class PieceBuilder:
    """Builder of the pieces of a line; a piece that is never closed ends with the line."""

    def __init__(self) -> None:
        self._open = [_OpenElement("", None)]
        self._invisible = ""

    def text(self, text: str, kind: InlineKind = InlineKind.TEXT, target: str = "") -> None:
        """Add a piece without children."""
        if self._invisible or not (text or target or kind is InlineKind.BREAK):
            return
        children = self._open[-1].children
        if kind is InlineKind.TEXT and children and children[-1].kind is InlineKind.TEXT:
            children[-1] = Inline(InlineKind.TEXT, children[-1].text + text)
        else:
            children.append(Inline(kind, text, target))

    def add_html_text(self, text: str) -> None:
        """Add text of HTML, with runs of white space collapsed."""
        self.text(_SPACES.sub(" ", text))

    def open(self, name: str, kind: InlineKind | None, target: str = "") -> None:
        """Begin a piece with children; without a kind its children are shown as they are."""
        if not self._invisible:
            is_deep = len(self._open) > _DEEPEST
            self._open.append(_OpenElement(name, None if is_deep else kind, target))

    def close(self, name: str) -> None:
        """End the innermost piece of this name and its children; without one nothing ends."""
        if self._invisible:
            self._invisible = "" if self._invisible == name else self._invisible
            return
        if all(each.name != name for each in self._open[1:]):
            return
        while self._close_innermost() != name:
            pass

    def tag(
        self, name: str, attributes: Mapping[str, str | None], raw: str, *, is_closed: bool = True
    ) -> None:
        """Add the effect of an HTML tag; a placeholder stays verbatim.

        A placeholder has an unknown name, or one like `<area>` without attributes and end tag.
        """
        if is_placeholder(name, attributes, is_closed=is_closed):
            self.text(raw)
        elif name == "br" or name in BLOCK_LIKE:
            self.text("", InlineKind.BREAK)
        elif name == "img":
            self._image(attributes)
        elif name in INVISIBLE:
            is_whole = name in VOID or raw.endswith("/>") or not is_closed
            self._invisible = self._invisible or ("" if is_whole else name)
        elif name == "a":
            href = attributes.get("href") or ""
            kind = InlineKind.LINK if href and _SAFE(href) else None
            self.open(name, kind, href if kind else "")
        elif name in FORMATTING:
            self.open(name, FORMATTING[name])

    def end_tag(self, name: str, raw: str) -> None:
        """End the piece that an HTML tag has begun."""
        if name in FORMATTING or self._invisible:
            self.close(name)
        elif name in BLOCK_LIKE:
            self.text("", InlineKind.BREAK)
        elif name not in HTML_ELEMENTS:
            self.text(raw)

    def words(self) -> Words:
        """Return the pieces, without space and breaks at both ends."""
        while len(self._open) > 1:
            self._close_innermost()
        return tuple(_link_addresses(_trim(self._open[0].children)))

    def _close_innermost(self) -> str:
        closed = self._open.pop()
        around = self._open[-1].children
        if closed.kind in {InlineKind.CODE, InlineKind.KEYS}:
            code = "".join(_verbatim(closed.children))
            if code.strip():
                around.append(Inline(closed.kind, code))
        elif closed.kind is None:
            for child in closed.children:
                self._append(child)
        elif closed.children:
            around.append(
                Inline(closed.kind, target=closed.target, children=tuple(closed.children))
            )
        return closed.name

    def _append(self, piece: Inline) -> None:
        if piece.kind is InlineKind.TEXT:
            self.text(piece.text)
        else:
            self._open[-1].children.append(piece)

    def _image(self, attributes: Mapping[str, str | None]) -> None:
        source = attributes.get("src") or ""
        self.text(attributes.get("alt") or "", InlineKind.IMAGE, source if _SAFE(source) else "")


def words_of(tokens: Iterable[Token]) -> Words:
    """Return the pieces of an inline token's children."""
    pieces = PieceBuilder()
    tokens = tuple(tokens)
    html = "".join(token.content for token in tokens if token.type == "html_inline").lower()
    for token in tokens:
        name = token.type.removesuffix("_open").removesuffix("_close")
        match token.type:
            case "text":
                pieces.text(token.content)
            case "code_inline":
                pieces.text(token.content, InlineKind.CODE)
            case "softbreak" | "hardbreak":
                pieces.text("\n", InlineKind.BREAK)
            case "image":
                pieces.text(token.content, InlineKind.IMAGE, str(token.attrs.get("src", "")))
            case "html_inline":
                _add_html(pieces, token.content, html)
            case _ if token.nesting == 1:
                pieces.open(token.type, _NESTING.get(name), str(token.attrs.get("href", "")))
            case _ if token.nesting == -1:
                pieces.close(f"{name}_open")
    return pieces.words()


def _add_html(pieces: PieceBuilder, tag: str, around: str) -> None:
    """Add the effect of one tag, comment or declaration; `around` has all tags of the line."""
    reader = _TagReader(pieces, tag, around)
    reader.feed(tag)
    reader.close()


class _TagReader(HTMLParser):
    """Reader of one tag for a `PieceBuilder`; comments and declarations are dropped."""

    def __init__(self, pieces: PieceBuilder, raw: str, around: str) -> None:
        super().__init__()
        self._pieces = pieces
        self._raw = raw
        self._around = around

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_closed = f"</{tag}" in self._around
        self._pieces.tag(tag, dict(attrs), self._raw, is_closed=is_closed)

    def handle_endtag(self, tag: str) -> None:
        self._pieces.end_tag(tag, self._raw)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._pieces.tag(tag, dict(attrs), self._raw)
        if tag not in VOID:
            self._pieces.close(tag)

    def handle_data(self, data: str) -> None:
        self._pieces.text(data)


def _verbatim(pieces: Iterable[Inline]) -> Iterable[str]:
    for piece in pieces:
        yield " " if piece.kind is InlineKind.BREAK else piece.text
        yield from _verbatim(piece.children)


def _trim(pieces: list[Inline]) -> Words:
    """Return the pieces without breaks and spaces at both ends."""
    start, end = 0, len(pieces)
    while start < end and _is_space(pieces[start]):
        start += 1
    while end > start and _is_space(pieces[end - 1]):
        end -= 1
    return tuple(pieces[start:end])


def _is_space(piece: Inline) -> bool:
    return piece.kind is InlineKind.BREAK or (
        piece.kind is InlineKind.TEXT and not piece.text.strip()
    )


def _link_addresses(pieces: Iterable[Inline]) -> Iterator[Inline]:
    """Yield the pieces with the addresses in their text as links, as GitHub detects them."""
    for piece in pieces:
        if piece.kind is InlineKind.TEXT:
            yield from _link_text(piece.text)
        elif piece.children and piece.kind is not InlineKind.LINK:
            yield replace(piece, children=tuple(_link_addresses(piece.children)))
        else:
            yield piece


def _link_text(text: str) -> Iterator[Inline]:
    behind = 0
    for match in _ADDRESS.finditer(text):
        address = _without_tail(match[0])
        before = text[behind : match.start()]
        if before:
            yield Inline(InlineKind.TEXT, before)
        has_scheme = "://" in address[:9]
        scheme = "" if has_scheme else "http://" if address.startswith("www.") else "mailto:"
        label = (Inline(InlineKind.TEXT, address),)
        yield Inline(InlineKind.LINK, target=scheme + address, children=label)
        behind = match.start() + len(address)
    if text[behind:]:
        yield Inline(InlineKind.TEXT, text[behind:])


def _without_tail(address: str) -> str:
    """Strip punctuation after an address, and brackets that it does not open."""
    surplus = {
        closing: address.count(closing) - address.count(opening) for opening, closing in _BRACKETS
    }
    end = len(address)
    while end:
        last = address[end - 1]
        entity = (
            _ENTITY.search(address, max(0, end - _LONGEST_ENTITY), end) if last == ";" else None
        )
        if entity:
            end = entity.start()
        elif last in _BEHIND_ADDRESS or surplus.get(last, 0) > 0:
            surplus[last] = surplus.get(last, 0) - 1
            end -= 1
        else:
            break
    return address[:end]
