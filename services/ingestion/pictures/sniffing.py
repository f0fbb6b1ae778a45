"""Format and size of a picture by the first bytes of its file.

Nothing is decoded, and a file's name says nothing.
"""

import struct
from dataclasses import dataclass

MOST_BYTES = 5_000_000
"""Most bytes of one picture: a screenshot of a large screen has one or two million."""
MOST_PIXELS = 40_000_000
"""Most pixels of one picture: a browser holds four bytes of each."""
MOST_PIXELS_OF_A_SIDE = 16_384
"""Most pixels of one side: browsers draw no larger picture."""

_PNG = b"\x89PNG\r\n\x1a\n"
_MARKUP = b"<"
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that carry the size, ITU T.81 table B.1: tables and the extension have others."""
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})


class RefusedPictureError(ValueError):
    """The picture is not accepted; the message says why, in words that follow its name."""


@dataclass(frozen=True)
class PictureForm:
    """Format and size of a picture, as its bytes declare."""

    media_type: str
    width: int
    height: int


def sniff(data: bytes) -> PictureForm:
    """Return the format and size that a PNG, JPEG, GIF or WebP declares.

    Raises:
        RefusedPictureError: It is something else, broken, or too large.
    """
    if len(data) > MOST_BYTES:
        raise too_many_bytes(len(data))
    try:
        form = _form(data)
    except (struct.error, IndexError) as error:
        raise RefusedPictureError("its header is cut off") from error
    if not (form.width and form.height):
        raise RefusedPictureError("its header names no size")
    is_too_large = (
        form.width * form.height > MOST_PIXELS
        or max(form.width, form.height) > MOST_PIXELS_OF_A_SIDE
    )
    if is_too_large:
        raise RefusedPictureError(
            f"its header claims {form.width:,} × {form.height:,} pixels, more than are shown"
        )
    return form


def too_many_bytes(size: int) -> RefusedPictureError:
    """Return the refusal of a picture of so many bytes."""
    return RefusedPictureError(f"it has {size:,} bytes, more than the {MOST_BYTES:,} allowed")


def _form(data: bytes) -> PictureForm:
    if data.startswith(_PNG):
        length, kind, width, height = struct.unpack_from(">I4sII", data, len(_PNG))
        if (length, kind) != (13, b"IHDR"):
            raise RefusedPictureError("its header is broken")
        return PictureForm("image/png", width, height)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return PictureForm("image/gif", *struct.unpack_from("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return PictureForm("image/jpeg", *_jpeg_size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return PictureForm("image/webp", *_webp_size(data))
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_MARKUP):
        raise RefusedPictureError("it is SVG or HTML, which can hold a program")
    raise RefusedPictureError("it is no PNG, JPEG, GIF or WebP")


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size in the frame header, which follows segments of any kind."""
    at = 2
    while True:
        if data[at] != 0xFF:
            raise RefusedPictureError("its header is broken")
        marker = data[at + 1]
        if marker == 0xFF:  # filling
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        elif marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        elif marker in {0xD9, 0xDA}:
            raise RefusedPictureError("its header names no size")
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return the size in the first chunk, RFC 9649: lossy, lossless or extended."""
    kind = data[12:16]
    if kind == b"VP8 ":
        if data[23:26] != b"\x9d\x01\x2a":
            raise RefusedPictureError("its header is broken")
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", data, 21)
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        wide, high = data[24:27], data[27:30]
        if len(high) < 3:
            raise RefusedPictureError("its header is cut off")
        return int.from_bytes(wide, "little") + 1, int.from_bytes(high, "little") + 1
    raise RefusedPictureError("its header is broken")
