"""Pictures of a PDF: their places, and the bytes of those that are easily extracted.

A PDF keeps photographs as JPEG files, and screenshots as bare pixels, of which a PNG is made; of
other forms only the place is kept.
"""

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pdfminer.ascii85 import ascii85decode
from pdfminer.pdftypes import PDFStream, resolve1
from pdfplumber.page import Page
from PIL import Image

_LEAST = 24.0
"""Least width and height, in points; anything smaller is a bullet, a rule or a sign."""
_WHOLE_PAGE = 0.8
"""Share of the page that a scan or a background covers."""
_MOST_PIXELS = 10_000_000
"""Most pixels of an uncompressed picture, three bytes each."""
_MODES = {1: "L", 3: "RGB"}
_BITS = 8
_NO_PREDICTOR = 1


@dataclass(frozen=True)
class PdfPicture:
    """A picture on a page."""

    name: str
    words: str
    box: tuple[float, float, float, float]
    """Left, top, right and bottom, in points from the page's upper left corner."""
    content: bytes
    """Bytes of the picture; empty where the PDF keeps it in a form of its own."""


def pictures_of(page: Page) -> Iterator[PdfPicture]:
    """Yield the pictures of a page, except those that are tiny or cover all of it."""
    number = 0
    for embedded in page.images:
        x0, top, x1, bottom = (float(embedded[side]) for side in ("x0", "top", "x1", "bottom"))
        wide, high = x1 - x0, bottom - top
        is_small = min(wide, high) < _LEAST
        if is_small or wide * high > _WHOLE_PAGE * float(page.width * page.height):
            continue
        number += 1
        yield PdfPicture(
            f"page-{page.page_number}-picture-{number}",
            f"Picture {number} of page {page.page_number}",
            (x0, top, x1, bottom),
            _content(embedded["stream"]),
        )


def _content(stream: PDFStream) -> bytes:
    filters, raw = stream.get_filters(), stream.rawdata
    if stream.decipher is not None or raw is None:
        return b""
    if filters and str(filters[0][0].name) in {"ASCII85Decode", "A85"}:
        filters, raw = filters[1:], ascii85decode(raw)
    if len(filters) != 1:
        return b""
    name, parameters = str(filters[0][0].name), filters[0][1]
    if name in {"DCTDecode", "DCT"}:
        return bytes(raw)
    predictor = resolve1(parameters.get("Predictor", 1)) if parameters else 1
    if name in {"FlateDecode", "Fl"} and predictor == _NO_PREDICTOR:
        return _png(stream, raw)
    return b""


def _png(stream: PDFStream, raw: bytes) -> bytes:
    """Return pixels of one byte a colour as a PNG, or nothing if they are something else."""
    size = (_number(stream, "Width"), _number(stream, "Height"))
    if not 0 < size[0] * size[1] <= _MOST_PIXELS or _number(stream, "BitsPerComponent") != _BITS:
        return b""
    most = 3 * size[0] * size[1]
    try:
        pixels = zlib.decompressobj().decompress(raw, most + 1)
    except zlib.error:
        return b""
    colors, rest = divmod(len(pixels), size[0] * size[1])
    if rest or colors not in _MODES:
        return b""
    out = io.BytesIO()
    Image.frombytes(_MODES[colors], size, pixels).save(out, "PNG")
    return out.getvalue()


def _number(stream: PDFStream, name: str) -> int:
    value: Any = resolve1(stream.get(name))
    return value if isinstance(value, int) else 0
