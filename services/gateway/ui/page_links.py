"""Where the links of a document's page lead from the pages here."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlencode, urlsplit

from services.gateway.formats import lines_url
from services.gateway.ui.templates import web_address
from services.knowledge.document.links import normalise_link
from services.knowledge.page.block import Block, BlockKind, Page

_NAMED = re.compile(
    r"""<a\s[^>]*?\b(?:name|id)=["']?(?P<tag>[^"'\s>]+)|\{#(?P<brace>[\w.:-]+)\s*\}"""
)
_LINES_BEFORE = 3
"""A named place belongs to the heading so many lines below it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads."""

    address: str
    """Empty where it cannot be followed from here: `written` is shown then."""
    written: str
    """As the page writes it."""
    is_outside: bool = False
    """Whether it leaves this site."""


class PageLinks:
    """Resolves the links of one document's page."""

    def __init__(self, page: Page, document_id: str) -> None:
        self._document_id = document_id
        self._anchors = anchors(page)

    def target(self, written: str) -> Target:
        """Return where a link leads: into the page, to another document, or out of this site.

        Only addresses of the web leave it; any other scheme is shown as text.
        """
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        path, _, fragment = written.partition("#")
        known = _path_of(path, self._document_id)
        if fragment and (not path or known == self._document_id):
            heading = find_anchor(self._anchors, fragment)
            return Target(f"#{element_id(heading)}" if heading else "", written)
        if not known:
            return Target("", written)
        query = urlencode({"from": self._document_id, "to": written})
        return Target(f"/knowledge/link?{query}", written)

    def picture(self, written: str, line: int) -> Target:
        """Return where a picture is: on the web, or at its line of the document."""
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        return Target(lines_url(self._document_id, line, line), written)


def element_id(heading: Block) -> str:
    """Return the id that a heading has on the pages here."""
    return f"at-{heading.key}"


def anchors(page: Page) -> dict[str, Block]:
    """Return the headings of a page by the fragments that lead to them.

    A fragment is the heading's words as GitHub writes them, the same in letters and digits alone,
    which other writers of sites agree on, or a name that the page gives the place.
    """
    headings = [block for block in page.blocks if block.kind is BlockKind.HEADING]
    found: dict[str, Block] = {}
    times = Counter[str]()
    for heading in headings:
        slug = re.sub(r"[^\w\- ]", "", heading.text.lower()).replace(" ", "-")
        found.setdefault(f"{slug}-{times[slug]}" if times[slug] else slug, heading)
        times[slug] += 1
    for heading in headings:
        found.setdefault(_bare(heading.text), heading)
    return found | dict(_named(page, headings))


def find_anchor(known: dict[str, Block], fragment: str) -> Block | None:
    """Return the heading that a fragment leads to."""
    wanted = unquote(fragment)
    return known.get(wanted) or known.get(wanted.lower()) or known.get(_bare(wanted))


def _named(page: Page, headings: list[Block]) -> Iterator[tuple[str, Block]]:
    starts = [heading.start_line for heading in headings]
    for number, line in enumerate(page.lines, start=1):
        for found in _NAMED.finditer(line) if "<a" in line or "{#" in line else ():
            place = bisect_left(starts, number)
            is_below = place < len(starts) and starts[place] - number <= _LINES_BEFORE
            if is_below or place:
                heading = headings[place if is_below else place - 1]
                yield found["tag"] or found["brace"], heading


def _path_of(path: str, document_id: str) -> str:
    try:
        return "" if urlsplit(path).scheme else normalise_link(path, document_id)
    except ValueError:
        return ""


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
