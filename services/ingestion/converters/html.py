"""HTML by markdownify, once everything is gone that is not the page's own content."""

from typing import TYPE_CHECKING

from services.ingestion.converters.decode import decode
from services.ingestion.converters.reader import Reader, Reading, UnreadableDocumentError

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

_NOT_CONTENT = (
    *("script", "style", "template", "noscript", "iframe", "object", "svg", "button", "select"),
    *("nav", "[role=navigation]", "[role=search]", "[aria-hidden=true]", "[hidden]"),
    *("body > header", "body > footer", "body > aside", "[role=banner]", "[role=contentinfo]"),
)
"""Not forms, which some systems put around whole pages, nor asides within, which hold warnings."""


def read(data: bytes) -> Reading:
    """Headings, lists, tables, links and code of the page's main part.

    Raises:
        UnreadableDocumentError: It is something else than HTML, or nested beyond reason.
    """
    from bs4 import BeautifulSoup  # noqa: PLC0415  (only the process of its own pays for it)
    from bs4.dammit import EncodingDetector  # noqa: PLC0415
    from markdownify import MarkdownConverter  # noqa: PLC0415

    # Where the page does not say how it is encoded, the library would guess from its letters.
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    soup = BeautifulSoup(data if declared else decode(data), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.select(", ".join(_NOT_CONTENT)):
        element.decompose()
    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        escape_asterisks=False,
        escape_underscores=False,
        strip=["img"],
        code_language_callback=_language,
    )
    _escape_pipes(soup)
    try:
        return Reading(converter.convert_soup(_main_part(soup)).strip() + "\n", title)
    except RecursionError as error:
        raise UnreadableDocumentError("its elements are nested too deeply") from error


def _main_part(soup: "BeautifulSoup") -> "Tag":
    for selector in ("main", "[role=main]", "article"):
        found = soup.select(selector)
        if len(found) == 1:
            return found[0]
    return soup.body or soup


def _language(code: "Tag") -> str | None:
    """The language of a code block, as highlighters write it into the class."""
    element = code.find("code") or code
    classes = [*element.get_attribute_list("class"), *code.get_attribute_list("class")]
    for name in map(str, classes):
        for prefix in ("language-", "lang-", "highlight-source-"):
            if name.startswith(prefix):
                return name.removeprefix(prefix)
    return None


def _escape_pipes(soup: "BeautifulSoup") -> None:
    for text in soup.find_all(string=lambda string: string is not None and "|" in string):
        if text.find_parent(["td", "th"]):
            text.replace_with(text.replace("|", "\\|"))


READER = Reader("html", (".html", ".htm", ".xhtml"), "text/html", read, isolated=True)
