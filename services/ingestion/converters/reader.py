"""Interface of the readers: bytes of one format in, Markdown out."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError

MOST_PICTURES = 50
"""Most pictures of one document; any further ones keep only their place and their words."""


class UnreadableDocumentError(InvalidInputError):
    """The document cannot be turned into text; the message is the reason shown to its owner."""


@dataclass(frozen=True)
class ConvertedDocument:
    """Markdown of a document, with what its file says about it."""

    text: str
    """Markdown with lines that end in a line feed and in nothing else, so that all counts agree."""
    title: str = ""
    """Title stated besides the text, such as an HTML page's title; empty if there is none."""
    front_matter: dict[str, str | list[str]] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Pictures embedded in the file, by the address that the text names them with."""


@dataclass(frozen=True)
class FormatReader:
    """Reader of one format of documents.

    `read` raises `UnreadableDocumentError` with a reason. An `isolated` reader parses a format
    complex enough to hang, crash or swallow memory; it runs in a process of its own.
    """

    name: str
    suffixes: tuple[str, ...]
    """Suffixes of file names, lower case, with the dot."""
    media_type: str
    read: Callable[[bytes], ConvertedDocument]
    isolated: bool = False
