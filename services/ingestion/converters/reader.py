"""What every reader is: bytes of one form in, Markdown out."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.kit.errors import InvalidInputError

MOST_PICTURES = 50
"""Of one document; those behind them keep their place and their words alone."""


class UnreadableDocumentError(InvalidInputError):
    """The document cannot be turned into text; the message is the reason shown to its owner."""


@dataclass(frozen=True)
class Reading:
    """Markdown, and what the form itself says about the document."""

    text: str
    """Lines end in a line feed and in nothing else, so that all who count lines agree."""
    title: str = ""
    """What the file says besides its text, such as an HTML page's title; empty when nothing."""
    front_matter: dict[str, str | list[str]] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Pictures that the file itself holds, by the address that the text names them with."""


@dataclass(frozen=True)
class Reader:
    """One form of document.

    `read` raises `UnreadableDocumentError` with a reason. An `isolated` reader parses a format
    complex enough to hang, crash or swallow memory; it runs in a process of its own.
    """

    name: str
    suffixes: tuple[str, ...]
    """Lower case, with the dot."""
    media_type: str
    read: Callable[[bytes], Reading]
    isolated: bool = False
