"""Commands as sources show them, whole ones only."""

import re
from collections.abc import Iterable, Iterator

_CONTINUED = re.compile(r"\\\n\s*")
_PROMPT = re.compile(r"^\S*[#$%>]\s+(?=\S)")
_BETWEEN_PARTS = re.compile(r"\s*(?:\|\|?|&&|;)\s*")


def lines_of(command: str) -> list[str]:
    """Its lines without prompts, continued ones joined, spaces single."""
    lines = (" ".join(line.split()) for line in _CONTINUED.sub(" ", command).splitlines())
    return [_PROMPT.sub("", line) for line in lines if line]


def shown_in(texts: Iterable[str]) -> Iterator[str]:
    """Every line of the texts, and every part of a line that pipes or separators make."""
    for text in texts:
        for line in lines_of(text):
            yield line
            yield from filter(None, _BETWEEN_PARTS.split(line))
