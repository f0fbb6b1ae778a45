"""Pictures of a page, as they were ingested with it."""

from dataclasses import dataclass

from services.kit.errors import NotFoundError
from services.kit.value import Value


class PictureNotFoundError(NotFoundError):
    """No such picture was ingested with the document."""


class PagePicture(Value):
    """A picture that a page refers to, or the reason why it is missing."""

    path: str
    """Path from the root of the documents; the page refers to it from its own folder."""
    content_hash: str = ""
    """SHA-256 of its bytes, hexadecimal; empty if it was not ingested."""
    media_type: str = ""
    """Media type by its bytes, never by its name."""
    width: int = 0
    height: int = 0
    """Height in pixels, like `width` as the file's header states it."""
    refusal: str = ""
    """Reason why the picture was not ingested."""


@dataclass(frozen=True)
class PictureFile:
    """The bytes of a picture."""

    content: bytes
    media_type: str
