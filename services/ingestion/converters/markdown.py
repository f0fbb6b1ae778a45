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
    front_matter: dict[str, str | list[str]] = {}
    for key, value in loaded.items():
        if _is_scalar(key) and isinstance(value, list):
            front_matter[str(key)] = [str(each) for each in value if _is_scalar(each)]
        elif _is_scalar(key) and _is_scalar(value):
            front_matter[str(key)] = str(value)
    return front_matter


def _is_scalar(value: object) -> bool:
    # Nested values are left out: aliases could make them as large as they like.
    return value is not None and not isinstance(value, dict | list | set | tuple)


READER = FormatReader("markdown", (".md", ".markdown", ".mdown", ".mkd"), "text/markdown", read)
TEXT_READER = FormatReader(
    "text", (".txt", ".text"), "text/plain", lambda data: ConvertedDocument(decode(data))
)
