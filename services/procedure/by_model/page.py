"""A page as the model sees it: every line with its number, nothing that is secret."""

import re
from collections.abc import Iterable, Iterator

_WIDEST_LINE = 2000
"""Characters; a longer line is a dump, and its end says nothing about what to do."""

_SECRETS = (
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\b(?:gh[opsur]_|glpat-|xox[abprs]-|sk-)[\w-]{16,}"),
    re.compile(
        r"(?i)(?<=:)//[^/\s:@]+:(?P<secret>[^/\s@]+)(?=@)"
        r"|\b(?:bearer|basic)\s+(?P<token>[\w+/=.-]{16,})"
    ),
    re.compile(
        r"(?i)\b[\w-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)\b"
        r"[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s\"'<>${}|,;]{6,})"
    ),
)
_REDACTED = "[redacted]"


def numbered(text: str) -> str:
    """The lines of a page with their numbers, secrets redacted, lines of no end cut."""
    return "\n".join(numbered_lines(redacted(text).split("\n")))


def numbered_lines(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    """Redacted lines with their numbers from `first` on, lines of no end cut."""
    for number, line in enumerate(lines, first):
        yield f"{number} | {line[:_WIDEST_LINE]}"


def redacted(text: str) -> str:
    """The text without keys, tokens and passwords; lines keep their numbers."""
    for secret in _SECRETS:
        text = secret.sub(_hidden, text)
    return text


def _hidden(found: re.Match[str]) -> str:
    """What names the secret stays, the secret itself goes."""
    whole = found[0]
    value = next((each for each in found.groupdict().values() if each), None)
    if value is not None:
        return whole.replace(value, _REDACTED)
    return _REDACTED + "\n" * whole.count("\n")
