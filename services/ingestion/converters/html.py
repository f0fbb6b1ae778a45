"""HTML as Markdown, reduced to the page's own content."""

import base64
import binascii
import re
from typing import TYPE_CHECKING

from services.ingestion.converters.decode import decode
from services.ingestion.converters.reader import (
    MOST_PICTURES,
    ConvertedDocument,
    FormatReader,
    UnreadableDocumentError,
)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_NOT_CONTENT = (
    *("script", "style", "template", "noscript", "iframe", "object", "svg", "button", "select"),
    *("nav", "[role=navigation]", "[role=search]", "[aria-hidden=true]", "[hidden]"),
    *("body > header", "body > footer", "body > aside", "[role=banner]", "[role=contentinfo]"),
)
"""Selectors of what is no content.

Not forms, which some systems put around whole pages, nor asides within, which hold warnings.
"""
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_EMBEDDED_IMAGE = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)
_TRACKING_PIXEL_SIZES = frozenset({"0", "1"})
"""Widths or heights of a tracking pixel, which nobody sees."""


def read(data: bytes) -> ConvertedDocument:
    """Read headings, lists, tables, links, pictures and code of the page's main part.

    Raises:
        UnreadableDocumentError: It is something else than HTML, or nested beyond reason.
    """
    from bs4 import BeautifulSoup  # noqa: PLC0415  (only the process of its own pays for it)
    from bs4.dammit import EncodingDetector  # noqa: PLC0415

    from services.ingestion.converters.html_writer import HtmlMarkdownWriter  # noqa: PLC0415

    # Where the page does not say how it is encoded, the library would guess from its letters.
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    soup = BeautifulSoup(data if declared else decode(data), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.select(", ".join(_NOT_CONTENT)):
        element.decompose()
    pictures = _resolve_pictures(soup)
    candidates = map(soup.select, ("main", "[role=main]", "article"))
    main_part = next((each[0] for each in candidates if len(each) == 1), soup.body or soup)
    try:
        text = HtmlMarkdownWriter(soup).write(main_part).strip() + "\n"
    except RecursionError as error:
        raise UnreadableDocumentError("its elements are nested too deeply") from error
    return ConvertedDocument(text, title, pictures=pictures)


def _resolve_pictures(soup: "BeautifulSoup") -> dict[str, bytes]:
    """Keep only the pictures that are shown; return those embedded in the page itself."""
    embedded: dict[str, bytes] = {}
    for element in soup.find_all("img"):
        words, source = str(element.get("alt") or ""), str(element.get("src") or "").strip()
        if data_url := _EMBEDDED_IMAGE.match(source):
            name = f"picture-{len(embedded) + 1}"
            if len(embedded) < MOST_PICTURES:
                embedded[name] = _decoded(source[data_url.end() :])
            source = name
        scheme = _SCHEME.match(source)
        is_shown = source and (scheme is None or scheme[1].lower() in {"http", "https"})
        if not is_shown or element.find_parent(["pre", "code"]):
            element.replace_with(words)
        elif {str(element.get("width")), str(element.get("height"))} & _TRACKING_PIXEL_SIZES:
            element.decompose()
        else:
            element.attrs = {"alt": words, "src": source}
    return embedded


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()))
    except binascii.Error:
        return b""


READER = FormatReader("html", (".html", ".htm", ".xhtml"), "text/html", read, isolated=True)
