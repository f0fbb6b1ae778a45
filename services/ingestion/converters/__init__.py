"""Readers, one file per form of document and one line in the list."""

from services.ingestion.converters import docx, html, markdown, pdf, text
from services.ingestion.converters.reader import (
    MOST_PICTURES,
    Reader,
    Reading,
    UnreadableDocumentError,
)

READERS: tuple[Reader, ...] = (
    markdown.READER,
    text.READER,
    html.READER,
    pdf.READER,
    docx.READER,
)

_BY_SUFFIX = {suffix: reader for reader in READERS for suffix in reader.suffixes}


def reader_of(name: str) -> Reader | None:
    """The reader for a file of this name; None when no reader knows its suffix."""
    _, dot, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(f".{suffix.lower()}") if dot else None


__all__ = ["MOST_PICTURES", "READERS", "Reader", "Reading", "UnreadableDocumentError", "reader_of"]
