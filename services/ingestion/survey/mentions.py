"""What a page refers to: pages by links, and things by their names."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from services.knowledge.document.links import normalise_link
from services.knowledge.page.block import BlockKind, Words, codes, links, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines

LONGEST = 300
"""Characters of what is kept; a longer link or name is nothing that somebody renames."""
MOST = 2_000
"""Mentions that are kept of one page."""

_PLACEHOLDER = re.compile(r"[{}<>$\[\]*|]")
_COMPOUND = re.compile(
    r"(?<![\w./:<{$%=@-])[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+(?![\w>}-]|[.:/]\w)"
)
_LEAST_CHARACTERS = 6


class MentionKind(StrEnum):
    """What is mentioned."""

    LINK = "link"
    NAME = "name"


class Mention(NamedTuple):
    """Something that a line refers to."""

    kind: MentionKind
    what: str
    """A name, or where a link leads as a path from the root."""
    line: int
    """The first that has it."""
    said: str
    """As the line has it."""
    in_code: bool = True
    """Whether the page has it in code anywhere, which words joined in prose are not."""


def mentions_of(text: str, document_id: str) -> list[Mention]:
    """Each thing once, at its first line, of names in code at the first in code; at most `MOST`.

    Names are compounds such as `kube-proxy` or `max_lag`; parts of paths, options and places to
    fill in are none. Links leave code alone, and those that lead out of the documents.
    """
    found: dict[tuple[MentionKind, str], Mention] = {}
    for each in _all(text, document_id):
        key = (each.kind, each.what)
        before = found.get(key)
        is_new = before is None and len(each.what) <= LONGEST and len(found) < MOST
        if is_new or (before is not None and each.in_code and not before.in_code):
            found[key] = each
    return list(found.values())


def _all(text: str, document_id: str) -> Iterator[Mention]:
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
