"""Pictures of a document's page: which are here, and at which lines."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.contracts.ingestion import Ingestion
from services.contracts.pictures import PagePicture
from services.gateway.ui.page_links import LinkedPages, PageLinks, ShownPicture
from services.kit.errors import FlowXpertError
from services.knowledge.page.block import Block, Page
from services.knowledge.page.parsing import parse_page

PicturesOf = Callable[[str], Sequence[PagePicture]]
"""What is known of the pictures that a document names, by its id."""


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture below a line of a document."""

    picture: ShownPicture
    alt: str
    written: str
    """As the page writes its address."""


def pictures_from(ingestion: Ingestion | None) -> PicturesOf:
    """Return a function that asks ingestion; where it is away, pages are shown without them."""

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
    linked: LinkedPages | None = None,
    region: str = "",
) -> PageLinks:
    """Return the links of a page, with its pictures where it names any."""
    names_any = next(_images(page), None) is not None
    pictures = pictures_of(document_id) if names_any else ()
    return PageLinks(page, document_id, pictures=pictures, linked=linked, region=region)


def pictures_by_line(
    pictures_of: PicturesOf, document_id: str, lines: Sequence[str]
) -> Mapping[int, Sequence[PlacedPicture]]:
    """Return the pictures that are here by the line of the document that names them."""
    known = pictures_of(document_id)
    if not any(picture.content_hash for picture in known):
        return {}
    page = parse_page("\n".join(lines))
    links = PageLinks(page, document_id, pictures=known)
    found: dict[int, list[PlacedPicture]] = defaultdict(list)
    for block, alt, written in _images(page):
        shown = links.picture(written, block.start_line).picture
        if shown:
            own = range(block.start_line, block.own_end + 1)
            line = next((n for n in own if written in lines[n - 1]), own[-1])
            found[line].append(PlacedPicture(shown, alt, written))
    return found


def _images(page: Page) -> Iterator[tuple[Block, str, str]]:
    """Yield the images of a page: their block, alternative text and address."""
    for place in page.places():
        for image in place.block.images():
            yield place.block, image.text, image.target
