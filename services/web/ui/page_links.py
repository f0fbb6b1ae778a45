"""Resolution of the links and pictures in a document's page to addresses of this site."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlencode

from services.contracts.ingestion import Ingestion
from services.contracts.pictures import PagePicture
from services.kit.errors import FlowXpertError
from services.knowledge.document.links import linked_path
from services.knowledge.page.block import Block, Page
from services.knowledge.page.parsing import parse_page
from services.tickets.formats import lines_url
from services.web.ui.templates import web_address


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture that was ingested with the page."""

    address: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The target of a link."""

    address: str
    """The address to follow; empty if there is none from here, so that `written` is shown."""
    written: str
    """The link as the page writes it."""
    is_outside: bool = False
    """True if it leaves this site."""
    picture: ShownPicture | None = None
    """The picture, if it is one that can be shown here."""
    why_not: str = ""
    """The reason why a picture cannot be shown."""
    is_beside: bool = False
    """True if it leads to a page that is shown beside this one."""
    progress: str = ""
    """Progress of the work on that page, in words."""


@dataclass(frozen=True)
class LinkedDocuments:
    """Documents that the links of a page lead to, which a ticket's page shows beside it."""

    documents: Mapping[str, str]
    """Document ids, by the links as the page writes them."""
    address: Callable[[str, str], str]
    """Function from a document id and a fragment to the address that shows it there."""
    progress: Mapping[str, str]
    """Progress of the work on a document, in words, by document id."""


class PageLinks:
    """Resolver of the links of one document's page."""

    def __init__(
        self,
        page: Page,
        document_id: str,
        *,
        pictures: Iterable[PagePicture] = (),
        linked: LinkedDocuments | None = None,
        region: str = "",
    ) -> None:
        """Create the resolver; without `linked` a link leads away to the page of its document.

        `pictures` are those that were ingested with the document, or refused. `region` is the
        prefix of the anchors of the page's headings, if two pages are shown side by side.
        """
        self._page = page
        self._document_id = document_id
        self._pictures = {picture.path: picture for picture in pictures}
        self._linked = linked
        self._region = region

    def target(self, written: str) -> LinkTarget:
        """Resolve a link: into the page, to another document, or out of this site.

        Only web addresses leave the site; a link of any other scheme is shown as text, and so is a
        link to something that is no document here.
        """
        written = written.strip()
        if outside := web_address(written):
            return LinkTarget(outside, written, is_outside=True)
        path, _, fragment = written.partition("#")
        linked_id = linked_path(path, self._document_id)
        document = self._linked.documents.get(written) if self._linked else None
        if fragment and (not path or self._document_id in {linked_id, document}):
            heading = self.heading(fragment)
            return LinkTarget(f"#at-{self._region}{heading}" if heading else "", written)
        if self._linked is not None:
            if document is None:
                return LinkTarget("", written)
            progress = self._linked.progress.get(document, "")
            there = self._linked.address(document, fragment)
            return LinkTarget(
                there, written, is_beside=not there.startswith("#"), progress=progress
            )
        if not linked_id:
            return LinkTarget("", written)
        query = urlencode({"from": self._document_id, "to": written})
        return LinkTarget(f"/knowledge/link?{query}", written)

    def heading(self, fragment: str) -> str:
        """Return the key of the heading that a fragment leads to; empty if there is none.

        Fragments that differ only in punctuation lead to the same heading, since sites slug them
        differently.
        """
        wanted = unquote(fragment)
        anchors = self._page.anchors
        return (
            anchors.get(wanted)
            or anchors.get(wanted.lower())
            or self._key_by_slug.get(_slug(wanted), "")
        )

    @cached_property
    def _key_by_slug(self) -> dict[str, str]:
        return {_slug(anchor): key for anchor, key in reversed(self._page.anchors.items())}

    def picture(self, written: str, line: int) -> LinkTarget:
        """Resolve a picture: shown here, on the web, or named at its line of the document."""
        written = written.strip()
        if outside := web_address(written):
            return LinkTarget(outside, written, is_outside=True)
        picture = self._pictures.get(linked_path(written, self._document_id))
        if picture and picture.content_hash:
            query = urlencode({"document": self._document_id})
            address = f"/knowledge/picture/{picture.content_hash}?{query}"
            return LinkTarget(
                address, written, picture=ShownPicture(address, picture.width, picture.height)
            )
        refusal = picture.refusal if picture else "it was not taken in with the page"
        return LinkTarget(lines_url(self._document_id, line, line), written, why_not=refusal)


def _slug(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


PicturesOf = Callable[[str], Sequence[PagePicture]]
"""Function from a document id to the pictures that the document names."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture below a line of a document."""

    picture: ShownPicture
    alt: str
    written: str
    """The address as the page writes it."""


def pictures_from(ingestion: Ingestion | None) -> PicturesOf:
    """Return a function that asks ingestion; it finds no pictures if ingestion is unavailable."""

    def ask(document_id: str) -> Sequence[PagePicture]:
        if ingestion is None:
            return ()
        try:
            return ingestion.pictures(document_id)
        except FlowXpertError:
            return ()

    return ask


def links_with_pictures(
    page: Page,
    document_id: str,
    pictures_of: PicturesOf,
    *,
    linked: LinkedDocuments | None = None,
    region: str = "",
) -> PageLinks:
    """Return the links of a page, with its pictures if it names any."""
    names_any = next(_images(page), None) is not None
    pictures = pictures_of(document_id) if names_any else ()
    return PageLinks(page, document_id, pictures=pictures, linked=linked, region=region)


def pictures_by_line(
    pictures_of: PicturesOf, document_id: str, lines: Sequence[str]
) -> Mapping[int, Sequence[PlacedPicture]]:
    """Return the pictures that can be shown, by the line of the document that names them."""
    pictures = pictures_of(document_id)
    if not any(picture.content_hash for picture in pictures):
        return {}
    page = parse_page("\n".join(lines))
    links = PageLinks(page, document_id, pictures=pictures)
    placed: dict[int, list[PlacedPicture]] = defaultdict(list)
    for block, alt, written in _images(page):
        shown = links.picture(written, block.start_line).picture
        if shown:
            own = range(block.start_line, block.own_end + 1)
            line = next((n for n in own if written in lines[n - 1]), own[-1])
            placed[line].append(PlacedPicture(shown, alt, written))
    return placed


def _images(page: Page) -> Iterator[tuple[Block, str, str]]:
    """Yield the images of a page: their block, alternative text and address."""
    for place in page.places():
        for image in place.block.images():
            yield place.block, image.text, image.target
