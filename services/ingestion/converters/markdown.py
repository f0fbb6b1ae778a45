"""Readers of Markdown and plain text, which are kept as they are.

Front matter of Markdown is read, and stays in the text. Of plain text, what looks like a list or
heading is read as Markdown.
"""

import yaml

from services.ingestion.converters.decode import decode
from services.ingestion.converters.reader import ConvertedDocument, FormatReader
from services.knowledge.document.front_matter import FRONT_MATTER


def read(data: bytes) -> ConvertedDocument:
    """Return the source itself, and its front matter."""
    text = decode(data)
    return ConvertedDocument(text, front_matter=_front_matter(text))


def _front_matter(text: str) -> dict[str, str | list[str]]:
    """Return scalars and flat lists of scalars; what does not parse is ordinary text."""
    match = FRONT_MATTER.match(text)
    if match is None:
        return {}
    try:
        loaded = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    if not isinstance(loaded, dict):
        return {}
    entries = ((str(key), _entry(value)) for key, value in loaded.items() if _is_scalar(key))
    return {key: entry for key, entry in entries if entry is not None}


def _entry(value: object) -> str | list[str] | None:
    if isinstance(value, list):
        return [str(each) for each in value if _is_scalar(each)]
    return str(value) if _is_scalar(value) else None


def _is_scalar(value: object) -> bool:
    # Nested values are left out: aliases could make them as large as they like.
    return value is not None and not isinstance(value, dict | list | set | tuple)


READER = FormatReader("markdown", (".md", ".markdown", ".mdown", ".mkd"), "text/markdown", read)
TEXT_READER = FormatReader(
    "text", (".txt", ".text"), "text/plain", lambda data: ConvertedDocument(decode(data))
)
