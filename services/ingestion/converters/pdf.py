"""Reader of PDF, line by line with pdfplumber: a PDF has only looks, so looks decide."""

import io

from services.ingestion.converters.reader import (
    MOST_PICTURES,
    ConvertedDocument,
    FormatReader,
    UnreadableDocumentError,
)

_BROKEN = "the PDF is broken: open it in a program that shows it, and save it anew"
_PLACEHOLDER_TITLES = frozenset({"untitled", "anonymous", "unspecified"})


def read(data: bytes) -> ConvertedDocument:
    """Read headings by font size, list items by marker and indent, code by font.

    Tables and pictures are kept in their places.

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
            text_lines = lines(pdf)
    except (PdfminerException, PSException) as error:
        if isinstance(error.args[0] if error.args else None, PDFPasswordIncorrect):
            raise UnreadableDocumentError("the PDF is encrypted: remove its password") from error
        raise UnreadableDocumentError(_BROKEN) from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        # What pdfminer raises by accident on files that violate the format.
        raise UnreadableDocumentError(_BROKEN) from error
    if not any(line.words[0].text or line.rows for line in text_lines):
        raise UnreadableDocumentError("the PDF holds no text; scanned pages need OCR first")
    # A program wrote the title: a file name, or that there is none.
    name = title.lower().strip("()")
    is_placeholder = name in _PLACEHOLDER_TITLES or name.startswith("microsoft word -")
    pictures = [line.picture for line in text_lines if line.picture][:MOST_PICTURES]
    return ConvertedDocument(
        to_markdown(blocks(text_lines)),
        "" if is_placeholder else title,
        pictures={picture.name: picture.content for picture in pictures},
    )


READER = FormatReader("pdf", (".pdf",), "application/pdf", read, isolated=True)
