"""A file made by others, served so that a browser shows it and never runs it."""

from fastapi.responses import Response

_HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "content-disposition": "inline",
    # Its address holds the hash of its bytes; a proxy between must not hand it to others.
    "cache-control": "private, max-age=31536000, immutable",
}


def foreign_file(content: bytes, media_type: str) -> Response:
    """Return a response with the bytes under their detected media type."""
    return Response(content, media_type=media_type, headers=_HEADERS)
