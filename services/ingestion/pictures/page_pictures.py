"""Pictures that a page names, loaded from the files of its root or from its own file."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.ingestion.converters import MOST_PICTURES, UnreadableDocumentError
from services.ingestion.pictures.sniffing import (
    MOST_BYTES,
    PictureForm,
    RefusedPictureError,
    sniff,
    too_many_bytes,
)
from services.ingestion.roots.scan import FileFinder, no_files
from services.ingestion.tables import MAX_ID_LENGTH
from services.knowledge.document.links import normalise_link
from services.knowledge.page.parsing import parse_page

MOST_BYTES_OF_A_PAGE = 25_000_000
"""Most bytes of all pictures of a page together."""
EMBEDDED = "held"
"""Fingerprint of a picture that is embedded in the document's own file."""

_NAMES_ONE = re.compile(r"!\[|<img\b", re.IGNORECASE)


@dataclass(frozen=True)
class LoadedPicture:
    """Picture of a page with its bytes, or the reason why it was refused."""

    path: str
    fingerprint: str
    content: bytes = b""
    form: PictureForm | None = None
    refusal: str = ""

    @property
    def content_hash(self) -> str:
        """Hash (sha256) of the bytes; empty if there are none."""
        return hashlib.sha256(self.content).hexdigest() if self.content else ""


@dataclass(frozen=True)
class PictureSources:
    """Sources of the bytes of a page's pictures."""

    find: FileFinder = no_files
    embedded: Mapping[str, bytes] = field(default_factory=dict)
    """Pictures embedded in the document's file, by the address that its text uses for them."""


def picture_paths(text: str, document_id: str) -> list[str]:
    """Return the paths of the pictures that a page refers to, each once, in order."""
    if not _NAMES_ONE.search(text):
        return []
    named = (
        normalise_link(image.target, document_id)
        for place in parse_page(text).places()
        for image in place.block.images()
    )
    paths = dict.fromkeys(
        path
        for path in named
        if path and path.isprintable() and len(path.encode()) <= MAX_ID_LENGTH
    )
    return list(paths)[:MOST_PICTURES]


def load_pictures(
    paths: Sequence[str], document_id: str, sources: PictureSources
) -> list[LoadedPicture]:
    """Load the pictures, each with its bytes or with the reason why it is refused."""
    embedded = {normalise_link(name, document_id): data for name, data in sources.embedded.items()}
    room = MOST_BYTES_OF_A_PAGE
    pictures = []
    for path in paths:
        if path in embedded:
            picture = _sniffed(path, EMBEDDED, embedded[path], room)
        else:
            picture = _read(path, sources.find, room)
        room -= len(picture.content)
        pictures.append(picture)
    return pictures


def fingerprint_of(path: str, find: FileFinder) -> str:
    """Return the fingerprint of the file as it is now, or nothing if none may be read."""
    try:
        file = find(path)
    except UnreadableDocumentError:
        return ""
    return file.fingerprint if file else ""


def _read(path: str, find: FileFinder, room: int) -> LoadedPicture:
    fingerprint = ""
    try:
        file = find(path)
        if file is None:
            return LoadedPicture(
                path, fingerprint, refusal="no such file was ingested with the page"
            )
        fingerprint = file.fingerprint
        if file.size > MOST_BYTES:
            raise too_many_bytes(file.size)
        data = file.read(MOST_BYTES)
    except (UnreadableDocumentError, RefusedPictureError) as error:
        return LoadedPicture(path, fingerprint, refusal=str(error))
    except OSError as error:
        return LoadedPicture(path, fingerprint, refusal=f"it cannot be read: {error.strerror}")
    return _sniffed(path, fingerprint, data, room)


def _sniffed(path: str, fingerprint: str, data: bytes, room: int) -> LoadedPicture:
    try:
        form = sniff(data)
    except RefusedPictureError as error:
        return LoadedPicture(path, fingerprint, refusal=str(error))
    if len(data) > room:
        too_many = f"the page's pictures have more than {MOST_BYTES_OF_A_PAGE:,} bytes together"
        return LoadedPicture(path, fingerprint, refusal=too_many)
    return LoadedPicture(path, fingerprint, data, form)
