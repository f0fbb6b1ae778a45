"""Pieces of a line: text, code, links, images and emphasis, as markdown-it reads them."""

import re
from collections.abc import Iterable, Iterator

from markdown_it.token import Token

from services.knowledge.page.block import Inline, InlineKind, Words

_NESTING = {
    "strong": InlineKind.STRONG,
    "em": InlineKind.EMPHASIS,
    "s": InlineKind.STRIKE,
    "link": InlineKind.LINK,
}
_HTML = {
    "b": InlineKind.STRONG,
    "strong": InlineKind.STRONG,
    "i": InlineKind.EMPHASIS,
    "em": InlineKind.EMPHASIS,
    "code": InlineKind.CODE,
    "tt": InlineKind.CODE,
    "samp": InlineKind.CODE,
    "kbd": InlineKind.KEYS,
    "del": InlineKind.STRIKE,
    "s": InlineKind.STRIKE,
}
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)\b[^<>]*>")
_PASSED_OVER = frozenset({"a", "span", "font", "u", "ins", "small", "sub", "sup", "mark", "abbr"})


def words_of(tokens: Iterable[Token]) -> Words:
    """Return the pieces of an inline token's children."""
    return tuple(_until("", iter(tokens)))


def _until(closing: str, tokens: Iterator[Token]) -> Iterator[Inline]:
    for token in tokens:
        if token.type == closing:
            return
        name = token.type.removesuffix("_open")
        if token.nesting == 1 and name in _NESTING:
            inside = tuple(_until(f"{name}_close", tokens))
            target = str(token.attrs.get("href", ""))
            yield Inline(_NESTING[name], target=target, children=inside)
        elif token.type == "text":
            yield Inline(InlineKind.TEXT, token.content)
        elif token.type == "code_inline":
            yield Inline(InlineKind.CODE, token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            yield Inline(InlineKind.BREAK)
        elif token.type == "image":
            yield Inline(InlineKind.IMAGE, token.content, target=str(token.attrs.get("src", "")))
        elif token.type == "html_inline":
            yield from _of_tag(token.content, tokens)


def _of_tag(tag: str, tokens: Iterator[Token]) -> Iterator[Inline]:
    """Read HTML that formats text as what it does; anything else stays as it is written."""
    if tag.startswith("<!--"):
        return
    found = _TAG.fullmatch(tag)
    name = found["name"].lower() if found else ""
    if name in {"br", "wbr"}:
        yield Inline(InlineKind.BREAK)
    elif found and not found["end"] and name in _HTML:
        inside = tuple(_until_tag(name, tokens))
        kind = _HTML[name]
        if kind in {InlineKind.CODE, InlineKind.KEYS}:
            yield Inline(kind, "".join(each.text for each in inside))
        else:
            yield Inline(kind, children=inside)
    elif name not in _PASSED_OVER and name not in _HTML:
        yield Inline(InlineKind.TEXT, tag)


def _until_tag(name: str, tokens: Iterator[Token]) -> Iterator[Inline]:
    for token in tokens:
        if token.type == "html_inline" and token.content.lower().startswith(f"</{name}"):
            return
        yield from _until("", iter([token]))
