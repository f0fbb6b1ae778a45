"""Mentions of a page: of other pages by links, and of things by their names."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from services.knowledge.document.links import normalise_link
from services.knowledge.page.block import BlockKind, Words, codes, links, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines

LONGEST_MENTION = 300
"""Most characters of a mention; a longer link or name is nothing that somebody renames."""
MOST_MENTIONS = 2_000
"""Most mentions kept of one page."""

_PLACEHOLDER = re.compile(r"[{}<>$\[\]*|]")
_COMPOUND = re.compile(
    r"(?<![\w./:<{$%=@-])[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+(?![\w>}-]|[.:/]\w)"
)
_LEAST_CHARACTERS = 6


class MentionKind(StrEnum):
    """Kind of a mention."""

    LINK = "link"
    NAME = "name"


class Mention(NamedTuple):
    """Reference of a line to a page or a thing."""

    kind: MentionKind
    what: str
    """Name, or target of a link as a path from the root."""
    line: int
    """Number of the first line that has it."""
    text: str
    """Text as the line has it."""
    in_code: bool = True
    """True if the page has it in code anywhere, unlike words joined in prose."""


def mentions_of(text: str, document_id: str) -> list[Mention]:
    """Return each mention once, at its first line, for names in code the first in code.

    At most `MOST_MENTIONS`. Names are compounds such as `kube-proxy` or `max_lag`, but not parts
    of paths, options or placeholders. Links in code, and links out of the documents, do not count.
    """
    mentions: dict[tuple[MentionKind, str], Mention] = {}
    for each in _mentions(text, document_id):
        key = (each.kind, each.what)
        before = mentions.get(key)
        is_new = (
            before is None and len(each.what) <= LONGEST_MENTION and len(mentions) < MOST_MENTIONS
        )
        if is_new or (before is not None and each.in_code and not before.in_code):
            mentions[key] = each
    return list(mentions.values())


def _mentions(text: str, document_id: str) -> Iterator[Mention]:
    for block in (place.block for place in parse_page(text).places()):
        is_code = block.kind is BlockKind.CODE
        content = block.verbatim.split("\n")
        is_fenced = len(content) <= block.end_line - block.start_line
        for number, line in enumerate(content, block.start_line + is_fenced):
            yield from _names(line, number, in_code=is_code)
        for number, words in word_lines(block):
            for code in codes(words):
                yield from _names(code, number)
            yield from _links(words, number, document_id)
            yield from _names(plain(words), number, in_code=False)


def _names(text: str, line: int, *, in_code: bool = True) -> Iterator[Mention]:
    for name in _COMPOUND.findall(text):
        if len(name) >= _LEAST_CHARACTERS:
            yield Mention(MentionKind.NAME, name, line, name, in_code)


def _links(words: Words, line: int, document_id: str) -> Iterator[Mention]:
    for target in (link.target for link in links(words)):
        if _PLACEHOLDER.search(target):
            continue
        leads = normalise_link(target, document_id)
        if leads and leads != document_id:
            yield Mention(MentionKind.LINK, leads, line, target)
