"""Conversion of a file's bytes to a document."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from services.ingestion.converters import ConvertedDocument, UnreadableDocumentError, reader_of
from services.ingestion.converters.isolation import IsolatedReaders
from services.knowledge.model import Document

_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$|^(\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)
_CODE_BLOCK = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!\\)!?\[((?:[^\]\\]|\\.)*)\]\([^)]*\)")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[*_`]+")
_TITLE_LENGTH = 200


def read_document(
    document_id: str, data: bytes, isolated: IsolatedReaders, *, max_chars: int
) -> tuple[Document, Mapping[str, bytes]]:
    """Read a document, titled by its front matter, first heading, metadata or file name.

    The pictures embedded in its file come with it, by the addresses that its text uses for them.

    Raises:
        UnreadableDocumentError: It cannot be read, is empty, or is too long.
    """
    reader = reader_of(document_id)
    if reader is None:
        raise UnreadableDocumentError("no reader knows files of this name")
    if not data.strip():
        raise UnreadableDocumentError("it is empty")
    reading = isolated.read(reader, data) if reader.isolated else reader.read(data)
    text = reading.text
    if not text.strip():
        raise UnreadableDocumentError("it holds no text")
    if len(text) > max_chars:
        raise UnreadableDocumentError(
            f"it has {len(text):,} characters of text, more than the {max_chars:,} allowed"
        )
    document = Document(
        id=document_id,
        title=_title(document_id, reading)[:_TITLE_LENGTH],
        text=text,
        media_type=reader.media_type,
        content_hash=hashlib.sha256(data).hexdigest(),
        front_matter=reading.front_matter,
    )
    return document, reading.pictures


def _title(document_id: str, reading: ConvertedDocument) -> str:
    stated = reading.front_matter.get("title", "")
    if isinstance(stated, str) and stated.strip():
        return " ".join(stated.split())
    match = _HEADING.search(_CODE_BLOCK.sub("", _FRONT_MATTER.sub("", reading.text, count=1)))
    heading = (match.group(1) or match.group(2)) if match else ""
    return (
        " ".join(_MARKUP.sub(r"\1", _LINK.sub(r"\1", heading)).split())
        or " ".join(reading.title.split())
        or re.sub(r"[-_\s]+", " ", PurePosixPath(document_id).stem).strip()
    )
