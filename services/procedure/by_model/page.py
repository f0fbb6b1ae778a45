"""A page as the model sees it: every line with its number, nothing that is secret."""

from collections.abc import Iterable, Iterator

from services.kit.observability.redaction import redacted

_WIDEST_LINE = 2000
"""Characters; a longer line is a dump, and its end says nothing about what to do."""


def numbered(text: str) -> str:
    """The lines of a page with their numbers, secrets redacted, lines of no end cut."""
    return "\n".join(numbered_lines(redacted(text).split("\n")))


def numbered_lines(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    """Redacted lines with their numbers from `first` on, lines of no end cut."""
    for number, line in enumerate(lines, first):
        yield f"{number} | {line[:_WIDEST_LINE]}"
