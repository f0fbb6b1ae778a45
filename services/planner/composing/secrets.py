"""Redaction of secrets in people's words, by placeholders, before anything reads them."""

import re

from services.kit.observability.redaction import (
    E_MAIL,
    PHONE,
    SECRET,
    redact,
    redact_field,
)

PLACEHOLDERS = {SECRET: "<secret>", E_MAIL: "<e-mail>", PHONE: "<phone>"}
_SECRET_MENTION = re.compile(
    r"(?i)\b(?P<what>password|passwd|passphrase|api[ _-]?key|access[ _-]?key|secret(?: key)?|token)"
    r"(?P<between>\s+(?:is\s+|to\s+|as\s+|of\s+)?[\"'“`]?)(?P<secret>[^\s\"'”`,;]{4,}(?<![.]))"
)
_IS_SECRET = re.compile(r"\d|[^\w\s.-]|[a-z][A-Z]")
"""Characters that no plain word has."""


def without_secrets(text: str) -> str:
    """Replace secrets and personal data in the text by placeholders."""
    redacted_text = redact(_SECRET_MENTION.sub(_hide_secret, text))
    for mark, placeholder in PLACEHOLDERS.items():
        redacted_text = redacted_text.replace(mark, placeholder)
    return redacted_text


def is_placeholder(value: str) -> bool:
    """Return True if the value contains a placeholder."""
    return any(each in value for pair in PLACEHOLDERS.items() for each in pair)


def is_secret_name(name: str) -> bool:
    """Return True if a parameter of that name holds a secret, whatever its value."""
    return redact_field(name, "some value") == SECRET


def _hide_secret(match: re.Match[str]) -> str:
    if match["secret"].startswith("<") or not _IS_SECRET.search(match["secret"]):
        return match[0]
    return f"{match['what']}{match['between']}{SECRET}"
