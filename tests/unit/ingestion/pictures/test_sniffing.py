"""What a picture's first bytes say, and what is refused."""

import struct

import pytest

from services.ingestion.pictures.sniffing import MOST_BYTES, RefusedPictureError, sniff
from tests.pictures import picture

SVG = (
    b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
)
EXTENDED = picture("WEBP", (7, 5), is_clear=True, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (picture("PNG", (7, 5)), "image/png"),
        (picture("GIF", (7, 5)), "image/gif"),
        (picture("JPEG", (7, 5)), "image/jpeg"),
        (picture("JPEG", (7, 5), progressive=True, comment=b"\xff\xc0 no frame"), "image/jpeg"),
        (picture("WEBP", (7, 5)), "image/webp"),
        (picture("WEBP", (7, 5), lossless=True), "image/webp"),
        (EXTENDED, "image/webp"),
    ],
)
def test_format_and_size_are_those_of_the_bytes(data, media_type):
    form = sniff(data)
    assert (form.media_type, form.width, form.height) == (media_type, 7, 5)


def test_the_kinds_of_webp_are_all_among_these():
    kinds = {picture("WEBP"), picture("WEBP", lossless=True), EXTENDED}
    assert {each[12:16] for each in kinds} == {b"VP8 ", b"VP8L", b"VP8X"}


def png_of(width: int, height: int) -> bytes:
    data = bytearray(picture("PNG"))
    data[16:24] = struct.pack(">II", width, height)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (SVG, "SVG or HTML"),
        (b"\xef\xbb\xbf\n <svg/>", "SVG or HTML"),
        (b"<!doctype html><script>alert(1)</script>", "SVG or HTML"),
        (b"", "no PNG"),
        (b"%PDF-1.7", "no PNG"),
        (b"BM\x00\x00", "no PNG"),
        (png_of(30_000, 30_000), "30,000 × 30,000 pixels"),
        (png_of(20_000, 1), "20,000 × 1 pixels"),
        (png_of(7_000, 7_000), "7,000 × 7,000 pixels"),
        (png_of(0, 5), "no size"),
        (picture("PNG") + bytes(MOST_BYTES), "bytes, more than the 5,000,000 allowed"),
        (picture("PNG").replace(b"IHDR", b"IDAT"), "broken"),
        (b"\xff\xd8\xff\xd9\x00", "no size"),
        (picture("JPEG")[:2] + b"\xff\x00\x00\x00no marker", "broken"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00no frame", "broken"),
        (b"RIFF\x00\x00\x00\x00WEBPABCD\x00\x00\x00\x00", "broken"),
    ],
)
def test_what_is_no_picture_or_too_large_is_refused_with_the_reason(data, reason):
    with pytest.raises(RefusedPictureError, match=reason):
        sniff(data)


@pytest.mark.parametrize(
    "data",
    [
        picture("PNG"),
        picture("GIF"),
        picture("JPEG"),
        picture("WEBP"),
        picture("WEBP", lossless=True),
        EXTENDED,
    ],
)
def test_a_header_that_is_cut_off_anywhere_is_refused(data):
    whole = next(n for n in range(len(data)) if _is_taken(data[:n]))
    assert whole > 8
    for length in range(whole):
        with pytest.raises(RefusedPictureError):
            sniff(data[:length])


def _is_taken(data: bytes) -> bool:
    try:
        return bool(sniff(data))
    except RefusedPictureError:
        return False


def test_a_jpeg_without_an_end_to_its_segments_is_refused():
    with pytest.raises(RefusedPictureError, match="cut off"):
        sniff(b"\xff\xd8" + b"\xff\xe0\x00\x02" * 10_000)


def test_a_segment_that_names_no_length_does_not_stand_still():
    """A length of zero would lead back to the same marker for ever."""
    with pytest.raises(RefusedPictureError):
        sniff(b"\xff\xd8\xff\xe0\x00\x00" + bytes(100))
