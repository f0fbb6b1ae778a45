"""Pictures and addresses in the Markdown that a reader makes."""

import re

_IN_WORDS = str.maketrans({"[": "(", "]": ")", "`": "'", "<": "‹", ">": "›"})
"""Signs that would end the words, or begin something else among them, and how they are shown."""
_IN_ADDRESS = {ord(letter): f"%{ord(letter):02X}" for letter in " ()<>[]\\|\"'`"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def image(words: str, address: str) -> str:
    """Return a picture as Markdown, with its words and the address where its bytes are."""
    shown = " ".join(words.split()).translate(_IN_WORDS).rstrip("\\ ")
    return f"![{shown}]({address_of(address)})"


def address_of(address: str) -> str:
    """Return an address as it stands in the Markdown of a picture or a link."""
    return _CONTROL.sub("", address.strip()).translate(_IN_ADDRESS)
