"""Names of alerts, settings and things, and the words they are made of."""

import re
from functools import lru_cache

_ALERT_NAME = re.compile(r"(?:[A-Z][a-z0-9]*){2,}[A-Za-z0-9]*")
_IDENTIFIER = re.compile(r"[A-Za-z0-9]*[a-z0-9][A-Z]\w*|\w*_\w*")
_COMPOUND = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def is_alert_name(name: str) -> bool:
    """Whether the name is one word in capitals and small letters, as alerts are named."""
    return _ALERT_NAME.fullmatch(name) is not None and not name.isupper()


def is_identifier(name: str) -> bool:
    """Whether it is written as alerts and settings are: `FanNotResponding`, `max_lag`."""
    return _IDENTIFIER.fullmatch(name.strip()) is not None


@lru_cache(maxsize=16384)
def words_of(text: str) -> tuple[str, ...]:
    """The words in lower case and order, compounds in parts."""
    parts = (part for word in _COMPOUND.findall(text) for part in _PART.findall(word))
    return tuple(part.lower() for part in parts)
