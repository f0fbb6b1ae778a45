"""PDF, read line by line with pdfplumber: looks are all that a PDF has, so looks decide."""

import io

from services.ingestion.converters.reader import (
    MOST_PICTURES,
    Reader,
    Reading,
    UnreadableDocumentError,
)


def read(data: bytes) -> Reading:
    """Headings by font size, list items by marker and indent, code by font, tables and pictures.

    Raises:
        UnreadableDocumentError: Encrypted, broken, something else, or pictures of text only.
    """
    import pdfplumber  # noqa: PLC0415  (only the process of its own pays for it)
    from pdfminer.pdfdocument import PDFPasswordIncorrect  # noqa: PLC0415
    from pdfminer.psexceptions import PSException  # noqa: PLC0415
    from pdfplumber.utils.exceptions import PdfminerException  # noqa: PLC0415

    from services.ingestion.converters.layout.blocks import to_markdown  # noqa: PLC0415
    from services.ingestion.converters.layout.pdf_blocks import blocks  # noqa: PLC0415
    from services.ingestion.converters.layout.pdf_lines import lines  # noqa: PLC0415

    if b"%PDF-" not in data[:1024]:
        raise UnreadableDocumentError("expected a PDF, found another format")
    try:
        with pdfplumber.open(io.BytesIO(data)) as pdf:
            title = str((pdf.metadata or {}).get("Title") or "").strip()
            found = lines(pdf)
    except (PdfminerException, PSException) as error:
        if isinstance(error.args[0] if error.args else None, PDFPasswordIncorrect):
            raise UnreadableDocumentError("the PDF is encrypted: remove its password") from error
        raise UnreadableDocumentError(f"the PDF is broken: {error!r}") from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        # What pdfminer raises by accident on files that violate the format.
        raise UnreadableDocumentError(f"the PDF is broken: {error!r}") from error
    if not any(line.words[0].text or line.rows for line in found):
        raise UnreadableDocumentError("the PDF holds no text; scanned pages need OCR first")
    held = [line.picture for line in found if line.picture][:MOST_PICTURES]
    return Reading(
        to_markdown(blocks(found)),
        "" if _is_placeholder(title) else title,
        pictures={picture.name: picture.content for picture in held},
    )


def _is_placeholder(title: str) -> bool:
    """Whether the title is what a program writes by itself: a file name, or that there is none."""
    name = title.lower().strip("()")
    return name in {"untitled", "anonymous", "unspecified"} or name.startswith("microsoft word -")


READER = Reader("pdf", (".pdf",), "application/pdf", read, isolated=True)
