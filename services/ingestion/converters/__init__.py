"""Readers, one file per form of document and one line in the list."""

from services.ingestion.converters import docx, html, markdown, pdf
from services.ingestion.converters.reader import (
    MOST_PICTURES,
    ConvertedDocument,
    FormatReader,
    UnreadableDocumentError,
)

READERS: tuple[FormatReader, ...] = (
    markdown.READER,
    markdown.TEXT_READER,
    html.READER,
    pdf.READER,
    docx.READER,
)

_BY_SUFFIX = {suffix: reader for reader in READERS for suffix in reader.suffixes}


def reader_of(name: str) -> FormatReader | None:
    """Return the reader for a file of this name, or None if no reader knows its suffix."""
    _, dot, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(f".{suffix.lower()}") if dot else None


__all__ = [
    "MOST_PICTURES",
    "READERS",
    "ConvertedDocument",
    "FormatReader",
    "UnreadableDocumentError",
    "reader_of",
]
