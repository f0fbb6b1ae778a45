"""Names of alerts, settings and things, and the words that they are made of."""

import re

_ALERT_NAME = re.compile(r"(?:[A-Z][a-z0-9]*){2,}[A-Za-z0-9]*")
_ALERT_NAMES = re.compile(rf"\b{_ALERT_NAME.pattern}\b")
_ERROR_CODE = re.compile(
    r"%?\b[A-Z][A-Z0-9]+(?:[-_][A-Z0-9]+)+\b|\b0x[0-9A-Fa-f]{4,}\b|\b[A-Z]{2,}\d{3,}\b"
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9]*[a-z0-9][A-Z]\w*|\w*_\w*")
COMPOUND = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
"""Words joined by hyphens or underscores."""
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def is_alert_name(name: str) -> bool:
    """Return True if the name is one word in mixed case, as alerts are named."""
    return _ALERT_NAME.fullmatch(name) is not None and not name.isupper()


def alert_names(title: str) -> list[str]:
    """Return the words of a title that are written as alerts are named.

    None of a title in capitals, where every word looks like an abbreviation.
    """
    return [] if title.isupper() else _ALERT_NAMES.findall(title)


def error_codes(text: str) -> list[str]:
    """Return the error codes of a text: `%BGP-5-ADJCHANGE`, `0x80070005`, `ORA12154`."""
    return _ERROR_CODE.findall(text)


def is_identifier(name: str) -> bool:
    """Return True if the name is written as alerts and settings are: `FanNotResponding`."""
    return _IDENTIFIER.fullmatch(name.strip()) is not None


def words_of(text: str) -> tuple[str, ...]:
    """Return the words in lower case and in order, compounds in parts."""
    return tuple(part.lower() for word in COMPOUND.findall(text) for part in parts_of(word))


def split_name(name: str) -> str:
    """Split a compound name into words: `KubeNodeNotReady` becomes `Kube Node Not Ready`."""
    return " ".join(part for word in COMPOUND.findall(name) for part in parts_of(word))


def parts_of(compound: str) -> list[str]:
    """Split one name at its capitals, digits and joints."""
    return _PART.findall(compound)
