"""Titles of documents that say what the document is about."""

import re

from services.knowledge.model import Document

_GENERIC = re.compile(
    r"(issue|problem|incident|alert)?\s*(symptoms?|overview|introduction|summary|descriptions?"
    r"|background|read ?me|index|trouble ?shooting( guide)?|trouble ?shoot|guide|run ?books?"
    r"|play ?books?|procedures?|steps|issue|problem|error|cause|resolution|mitigation|details?"
    r"|known issues?|meaning|impact|diagnosis|notes?|faq|untitled|validation)(\s+details?)?",
    re.IGNORECASE,
)
_WORD_BREAK = re.compile(r"[-_\s]+")


def specific_title(document: Document) -> str:
    """Return the title, or one made from the path if the title would fit any document."""
    title = document.title.strip()
    if title and not is_generic(title):
        return title
    parts = document.id.rsplit(".", 1)[0].split("/")
    while len(parts) > 1 and is_generic(_words(parts[-1])):
        parts.pop()
    return _words(parts[-1]) or title


def is_generic(title: str) -> bool:
    """Return True if a title names a kind of section rather than a fault."""
    return _GENERIC.fullmatch(title.strip(" :.#*")) is not None


def _words(name: str) -> str:
    return _WORD_BREAK.sub(" ", name).strip()
