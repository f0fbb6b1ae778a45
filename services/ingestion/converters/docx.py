"""Reader of DOCX, paragraph by paragraph with python-docx."""

import io
import zipfile

from services.ingestion.converters.reader import (
    ConvertedDocument,
    FormatReader,
    UnreadableDocumentError,
)

_MAX_XML_BYTES = 200_000_000
_MAX_RATIO = 200
"""Largest ratio of expansion: real documents stay below 50 to 1, bombs exceed 1,000 to 1."""


def read(data: bytes) -> ConvertedDocument:
    """Read headings, nested lists, tables, pictures and code, in Word's order and numbering.

    Raises:
        UnreadableDocumentError: Encrypted, broken, something else, or expanding beyond reason.
    """
    from docx import Document  # noqa: PLC0415  (only the process of its own pays for it)
    from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415
    from lxml.etree import LxmlError  # noqa: PLC0415

    from services.ingestion.converters.layout.blocks import to_markdown  # noqa: PLC0415
    from services.ingestion.converters.layout.docx_blocks import blocks  # noqa: PLC0415
    from services.ingestion.converters.layout.docx_pictures import embedded_pictures  # noqa: PLC0415

    _check_package(data)
    try:
        document = Document(io.BytesIO(data))
        title = (document.core_properties.title or "").strip()
        markdown = to_markdown(blocks(document))
        pictures = embedded_pictures(document)
    except (PackageNotFoundError, zipfile.BadZipFile, LxmlError, KeyError, ValueError) as error:
        raise UnreadableDocumentError(f"the Word document is broken: {error}") from error
    title = "" if title.lower() in _PLACEHOLDER_TITLES else title
    return ConvertedDocument(markdown, title, pictures=pictures)


_PLACEHOLDER_TITLES = frozenset({"word document", "untitled", "document"})
"""Titles that office programs write when nobody named the document."""


def _check_package(data: bytes) -> None:
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableDocumentError("the Word document is encrypted or in the format before 2007")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UnreadableDocumentError(f"expected a Word document: {error}") from error
    if "[Content_Types].xml" not in {entry.filename for entry in entries}:
        raise UnreadableDocumentError("expected a Word document, found another zip archive")
    size = sum(entry.file_size for entry in entries)
    if size > _MAX_XML_BYTES or size > max(10_000_000, _MAX_RATIO * len(data)):
        raise UnreadableDocumentError(
            f"it expands from {len(data):,} to {size:,} bytes, which no honest document does"
        )


READER = FormatReader(
    "docx",
    (".docx",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    read,
    isolated=True,
)
