"""Markdown is kept as it is; its front matter is read, and stays in the text."""

import yaml

from services.ingestion.converters.decode import decode
from services.ingestion.converters.reader import Reader, Reading
from services.knowledge.document.front_matter import FRONT_MATTER


def read(data: bytes) -> Reading:
    """The source itself, and its front matter."""
    text = decode(data)
    return Reading(text, front_matter=_front_matter(text))


def _front_matter(text: str) -> dict[str, str | list[str]]:
    """Scalars and flat lists of scalars; what does not parse is text like any other."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return {}
    try:
        loaded = yaml.safe_load(found.group(1))
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


READER = Reader("markdown", (".md", ".markdown", ".mdown", ".mkd"), "text/markdown", read)
