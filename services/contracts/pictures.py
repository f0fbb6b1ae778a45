"""Pictures of a page, as they were taken in with it."""

from dataclasses import dataclass

from services.kit.errors import NotFoundError
from services.kit.value import Value


class PictureNotFoundError(NotFoundError):
    """No such picture was taken in with the document."""


class PagePicture(Value):
    """A picture that a page names, or the reason why it is not here."""

    path: str
    """From the root of the documents; the page names it from its own place."""
    content_hash: str = ""
    """sha256 of its bytes, hexadecimal; empty where it was not taken in."""
    media_type: str = ""
    """By its bytes, never by its name."""
    width: int = 0
    height: int = 0
    """In pixels, as its header says."""
    refusal: str = ""
    """Why it was not taken in."""


@dataclass(frozen=True)
class PictureFile:
    """The bytes of a picture."""

    content: bytes
    media_type: str
