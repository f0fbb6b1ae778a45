"""Where the links of a document's page lead from the pages here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlencode

from services.contracts.pictures import PagePicture
from services.gateway.formats import lines_url
from services.gateway.ui.templates import web_address
from services.knowledge.document.links import linked_path
from services.knowledge.page.block import Page


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture that was taken in with the page."""

    address: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads."""

    address: str
    """Empty where it cannot be followed from here: `written` is shown then."""
    written: str
    """As the page writes it."""
    is_outside: bool = False
    """Whether it leaves this site."""
    picture: ShownPicture | None = None
    """Of a picture that can be shown here."""
    why_not: str = ""
    """Of a picture that cannot: the reason."""
    is_beside: bool = False
    """Whether it leads to a page that is shown beside this one."""
    progress: str = ""
    """How far the work on that page is, in words."""


@dataclass(frozen=True)
class LinkedPages:
    """Documents that the links of a page lead to, as a ticket's page shows them beside it."""

    documents: Mapping[str, str]
    """By the links as the page writes them."""
    address: Callable[[str, str], str]
    """Where a document is shown, at the heading that a fragment leads to."""
    progress: Mapping[str, str]
    """How far the work on a document is, in words, where there is any."""


class PageLinks:
    """Resolves the links of one document's page."""

    def __init__(
        self,
        page: Page,
        document_id: str,
        *,
        pictures: Iterable[PagePicture] = (),
        linked: LinkedPages | None = None,
        region: str = "",
    ) -> None:
        """Without `linked` a link leads away to the document that it means.

        `pictures` are those that were taken in with the document, or refused. `region` begins the
        anchors of the page's headings, where two pages stand beside each other.
        """
        self._page = page
        self._document_id = document_id
        self._pictures = {picture.path: picture for picture in pictures}
        self._linked = linked
        self._region = region

    def target(self, written: str) -> Target:
        """Return where a link leads: into the page, to another document, or out of this site.

        Only addresses of the web leave it; any other scheme is shown as text, and so is a link to
        what is no document here.
        """
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        path, _, fragment = written.partition("#")
        known = linked_path(path, self._document_id)
        document = self._linked.documents.get(written) if self._linked else None
        if fragment and (not path or self._document_id in {known, document}):
            heading = self.heading(fragment)
            return Target(f"#at-{self._region}{heading}" if heading else "", written)
        if self._linked is not None:
            return _beside(self._linked, document, fragment, written)
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
        """Return where a picture is: here, on the web, or named at its line of the document."""
        written = written.strip()
        if outside := web_address(written):
            return Target(outside, written, is_outside=True)
        known = self._pictures.get(linked_path(written, self._document_id))
        if known and known.content_hash:
            address = picture_address(self._document_id, known)
            return Target(
                address, written, picture=ShownPicture(address, known.width, known.height)
            )
        refusal = known.refusal if known else "it was not taken in with the page"
        return Target(lines_url(self._document_id, line, line), written, why_not=refusal)


def picture_address(document_id: str, picture: PagePicture) -> str:
    """Return the address of a picture's bytes."""
    query = urlencode({"document": document_id})
    return f"/knowledge/picture/{picture.content_hash}?{query}"


def _beside(linked: LinkedPages, document: str | None, fragment: str, written: str) -> Target:
    if document is None:
        return Target("", written)
    progress = linked.progress.get(document, "")
    address = linked.address(document, fragment)
    return Target(address, written, is_beside=not address.startswith("#"), progress=progress)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
