"""Where the links of a document's page lead from the pages here."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlencode, urlsplit

from services.gateway.formats import lines_url
from services.gateway.ui.templates import web_address
from services.knowledge.document.links import normalise_link
from services.knowledge.page.block import Page


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
        self._page = page
        self._document_id = document_id

    def target(self, written: str) -> Target:
        """Return where a link leads: into the page, to another document, or out of this site.

        Only addresses of the web leave it; any other scheme is shown as text.
        """
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        path, _, fragment = written.partition("#")
        known = linked_path(path, self._document_id)
        if fragment and (not path or known == self._document_id):
            heading = self.heading(fragment)
            return Target(f"#at-{heading}" if heading else "", written)
        if not known:
            return Target("", written)
        query = urlencode({"from": self._document_id, "to": written})
        return Target(f"/knowledge/link?{query}", written)

    def heading(self, fragment: str) -> str:
        """Return the key of the heading that a fragment leads to; empty where there is none.

        Fragments that differ in signs alone lead to the same heading: sites make them differently.
        """
        wanted = unquote(fragment)
        known = self._page.anchors
        return known.get(wanted) or known.get(wanted.lower()) or self._bare.get(_bare(wanted), "")

    @cached_property
    def _bare(self) -> dict[str, str]:
        return {_bare(anchor): key for anchor, key in reversed(self._page.anchors.items())}

    def picture(self, written: str, line: int) -> Target:
        """Return where a picture is: on the web, or at its line of the document."""
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        return Target(lines_url(self._document_id, line, line), written)


def linked_path(path: str, document_id: str) -> str:
    """Return where a link without its fragment leads among the documents; empty if out of them."""
    try:
        return "" if urlsplit(path).scheme else normalise_link(path, document_id)
    except ValueError:
        return ""


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
