"""Text from outside made safe to store, and shortened to be shown."""

import re

_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

_UNSEEN = dict.fromkeys(
    [0x00AD, 0x061C, 0xFEFF, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)]
)
"""Characters that are invisible or change the direction of text: two names would look alike."""


def clean_text(text: str) -> str:
    """Remove terminal escape sequences, control characters and lone surrogates.

    Some devices and screens emit them.
    Tab and line breaks stay; every other control character becomes a space, so that words do not
    run together.
    """
    return _UNWANTED.sub(" ", _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n")))


def visible_text(text: str) -> str:
    """Clean a text as `clean_text`, and remove invisible and direction-changing characters."""
    return clean_text(text).translate(_UNSEEN)


def squeeze(text: str) -> str:
    """Return the text with each run of white space, line breaks included, as one space."""
    return " ".join(text.split())


def ellipsize(text: str, most: int) -> str:
    """Cut a text to `most` characters, the last of them an ellipsis if some are missing."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
