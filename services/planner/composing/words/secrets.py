"""What is secret in what people say: a placeholder stands in its place before anybody reads it."""

import re

from services.kit.observability.redaction import (
    E_MAIL,
    PHONE,
    SECRET,
    redacted,
    redacted_field,
)

PLACEHOLDERS = {SECRET: "<secret>", E_MAIL: "<e-mail>", PHONE: "<phone>"}
_TOLD = re.compile(
    r"(?i)\b(?P<what>password|passwd|passphrase|api[ _-]?key|access[ _-]?key|secret(?: key)?|token)"
    r"(?P<between>\s+(?:is\s+|to\s+|as\s+|of\s+)?[\"'“`]?)(?P<secret>[^\s\"'”`,;]{4,}(?<![.]))"
)
_IS_SECRET = re.compile(r"\d|[^\w\s.-]|[a-z][A-Z]")
"""What no plain word has."""


def without_secrets(text: str) -> str:
    """The text with placeholders where secrets and what points to a person stood."""
    told = redacted(_TOLD.sub(_hidden, text))
    for mark, placeholder in PLACEHOLDERS.items():
        told = told.replace(mark, placeholder)
    return told


def is_placeholder(value: str) -> bool:
    """Whether it stands for something that nobody has written down."""
    return any(placeholder in value for placeholder in PLACEHOLDERS.values()) or any(
        mark in value for mark in PLACEHOLDERS
    )


def is_secret_name(name: str) -> bool:
    """Whether a parameter of that name holds a secret, whatever it is given."""
    return redacted_field(name, "some value") == SECRET


def _hidden(found: re.Match[str]) -> str:
    if found["secret"].startswith("<") or not _IS_SECRET.search(found["secret"]):
        return found[0]
    return f"{found['what']}{found['between']}{SECRET}"
