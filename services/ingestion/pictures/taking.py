"""The pictures that a page names, from the files of its root or from its own file."""

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
"""All pictures of a page together."""
HELD_BY_DOCUMENT = "held"
"""Fingerprint of a picture that the document's own file holds."""

_NAMES_ONE = re.compile(r"!\[|<img\b", re.IGNORECASE)


@dataclass(frozen=True)
class TakenPicture:
    """A picture of a page with its bytes, or why it was not taken in."""

    path: str
    fingerprint: str
    content: bytes = b""
    form: PictureForm | None = None
    refusal: str = ""

    @property
    def content_hash(self) -> str:
        """sha256 of the bytes; empty where there are none."""
        return hashlib.sha256(self.content).hexdigest() if self.content else ""


@dataclass(frozen=True)
class PictureSources:
    """Where the bytes of a page's pictures are."""

    find: FileFinder = no_files
    held: Mapping[str, bytes] = field(default_factory=dict)
    """Those that the document's own file holds, by the address that its text names them with."""


def picture_paths(text: str, document_id: str) -> list[str]:
    """Return the paths of the pictures that a page names beside itself, each once, in order."""
    if not _NAMES_ONE.search(text):
        return []
    named = (
        normalise_link(image.target, document_id)
        for place in parse_page(text).places()
        for image in place.block.images()
    )
    paths = dict.fromkeys(path for path in named if _is_path(path))
    return list(paths)[:MOST_PICTURES]


def _is_path(path: str) -> bool:
    return bool(path) and path.isprintable() and len(path.encode()) <= MAX_ID_LENGTH


def take(paths: Sequence[str], document_id: str, sources: PictureSources) -> list[TakenPicture]:
    """Return the pictures, each with its bytes or with the reason why it is not taken in."""
    held = {normalise_link(name, document_id): data for name, data in sources.held.items()}
    room = MOST_BYTES_OF_A_PAGE
    pictures = []
    for path in paths:
        if path in held:
            taken = _sniffed(path, HELD_BY_DOCUMENT, held[path], room)
        else:
            taken = _read(path, sources.find, room)
        room -= len(taken.content)
        pictures.append(taken)
    return pictures


def fingerprint_of(path: str, find: FileFinder) -> str:
    """Return that of the file as it is now; empty where there is none that may be read."""
    try:
        file = find(path)
    except UnreadableDocumentError:
        return ""
    return file.fingerprint if file else ""


def _read(path: str, find: FileFinder, room: int) -> TakenPicture:
    fingerprint = ""
    try:
        file = find(path)
        if file is None:
            return TakenPicture(
                path, fingerprint, refusal="no such file was ingested with the page"
            )
        fingerprint = file.fingerprint
        if file.size > MOST_BYTES:
            raise too_many_bytes(file.size)
        data = file.read(MOST_BYTES)
    except (UnreadableDocumentError, RefusedPictureError) as error:
        return TakenPicture(path, fingerprint, refusal=str(error))
    except OSError as error:
        return TakenPicture(path, fingerprint, refusal=f"it cannot be read: {error.strerror}")
    return _sniffed(path, fingerprint, data, room)


def _sniffed(path: str, fingerprint: str, data: bytes, room: int) -> TakenPicture:
    try:
        form = sniff(data)
    except RefusedPictureError as error:
        return TakenPicture(path, fingerprint, refusal=str(error))
    if len(data) > room:
        too_many = f"the page's pictures have more than {MOST_BYTES_OF_A_PAGE:,} bytes together"
        return TakenPicture(path, fingerprint, refusal=too_many)
    return TakenPicture(path, fingerprint, data, form)
