"""Decoding of bytes to text, by one stated policy."""

import codecs
import re

from services.ingestion.converters.reader import UnreadableDocumentError
from services.kit.text import clean_text

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_CONTENT = ((b"%PDF-", "PDF"), (b"PK\x03\x04", "a zip archive or an Office document"))
_LINE_END = re.compile("\r\n?")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_OTHER_SEPARATOR = re.compile("[\u2028\u2029]")
_CONTROL_SHARE = 0.01
"""Largest share of control characters in a text.

Terminal captures have a few, besides page breaks and escapes; one in a hundred is no text.
"""


def decode(data: bytes) -> str:
    """Decode a plain text file.

    A byte order mark decides; without one it is UTF-8, and where that fails Windows-1252, the
    usual encoding of old text files. Control characters become blanks.

    Raises:
        UnreadableDocumentError: It is binary, or in neither encoding.
    """
    for magic, name in _OTHER_CONTENT:
        if data.startswith(magic):
            raise UnreadableDocumentError(f"expected text, found {name}: the file name misleads")
    text = _decode(data)
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        raise UnreadableDocumentError("expected text, found binary content")
    return with_plain_lines(text)


def with_plain_lines(text: str) -> str:
    """Return the text with every line ended by a line feed and by nothing else.

    All who count lines must agree, so the rarer line separators become blanks.
    """
    return _OTHER_SEPARATOR.sub(" ", clean_text(_LINE_END.sub("\n", text)))


def _decode(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict(data, encoding)
    if b"\x00" in data:
        raise UnreadableDocumentError("expected text, found binary content (NUL bytes)")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _strict(data, "cp1252")


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError(
            f"expected UTF-8 or Windows-1252 text, byte {error.start} is in neither"
        ) from error
