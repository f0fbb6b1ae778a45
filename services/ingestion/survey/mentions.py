"""What a page refers to: pages by links, and things by their names."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from services.knowledge.document.links import normalise_link

LONGEST = 300
"""Characters of what is kept; a longer link or name is nothing that somebody renames."""
MOST = 2_000
"""Mentions that are kept of one page."""

_FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)?\]\(\s*<?([^\s()<>]+)>?[^()\n]*\)"
)
_TARGET = re.compile(r"\]\([^()\n]*\)")
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
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence:
            yield from _names(line, number)
            continue
        for code in _CODE.finditer(line):
            yield from _names(code[2], number)
        prose = _CODE.sub("", line)
        yield from _links(prose, number, document_id)
        yield from _names(_TARGET.sub("]", prose), number, in_code=False)


def _names(text: str, line: int, *, in_code: bool = True) -> Iterator[Mention]:
    for name in _COMPOUND.findall(text):
        if len(name) >= _LEAST_CHARACTERS:
            yield Mention(MentionKind.NAME, name, line, name, in_code)


def _links(prose: str, line: int, document_id: str) -> Iterator[Mention]:
    for target in _LINK.findall(prose):
        if _PLACEHOLDER.search(target):
            continue
        leads = normalise_link(target, document_id)
        if leads and leads != document_id:
            yield Mention(MentionKind.LINK, leads, line, target)
