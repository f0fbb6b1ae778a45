"""Text from outside, made safe to store: some devices and screens print more than characters."""

import re

_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

_UNSEEN = dict.fromkeys(
    [0x00AD, 0x061C, 0xFEFF, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)]
)
"""Characters that show nothing and turn the text around them: two names would look alike."""


def clean_text(text: str) -> str:
    """The text without terminal escape sequences, control characters and lone surrogates.

    Tab and line breaks stay; every other control character becomes a space, so that words do not
    run together.
    """
    return _UNWANTED.sub(" ", _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n")))


def visible_text(text: str) -> str:
    """`clean_text` without what shows nothing, or turns the direction of writing."""
    return clean_text(text).translate(_UNSEEN)
