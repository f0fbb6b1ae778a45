"""Writer of HTML elements as Markdown that shows the same words."""

import re
import string

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag
from markdownify import MarkdownConverter

from services.ingestion.converters.literal import (
    address_of,
    escaped,
    escaped_start,
    fenced,
    heading_words,
    image,
    inline_code,
)
from services.knowledge.page.elements import BLOCK_LIKE

_LITERAL = "\ue000"
"""Sign before words of the page while the marks of lists and quotes are set around them."""
_LINE_OF_WORDS = re.compile(rf"^((?:[ >]|- |\d+[.)] |: )*){_LITERAL}(.*)$", re.MULTILINE)
_START_OF_WORDS = re.compile(r"(^|\n)([ \t]*)(?=\S)")
_LINE_BREAKS = re.compile(r"\s*\n\s*")
_MARKS = {
    **dict.fromkeys(("b", "strong"), ("strong", "**")),
    **dict.fromkeys(("i", "em"), ("em", "*")),
    **dict.fromkeys(("del", "s"), ("del", "~~")),
}
"""Elements with emphasis: the tag and the mark that show them."""
_LANGUAGE_PREFIXES = ("language-", "lang-", "highlight-source-")
_NOT_IN_LANGUAGE = re.compile(r"[^\w+#.-]")
_LEADS_NOWHERE = re.compile(r"(?:javascript|vbscript|file|data):", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?|ftp|mailto):[^\s<>]*", re.IGNORECASE)
_MOST_DIGITS = 9
"""Largest number of digits in an item's number, as Markdown allows."""
_MOST_COLUMNS = 100
_PARTS_OF_TABLE = ["table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"]


class HtmlMarkdownWriter(MarkdownConverter):
    """Writer of the elements of one page."""

    def __init__(self, soup: BeautifulSoup) -> None:
        super().__init__(heading_style="ATX", bullets="-", strip_document=None)
        self._markers: dict[int, str] = {}
        _simplify_tables(soup)
        for numbered in soup.find_all("ol"):
            self._number_items(numbered)

    def write(self, part: Tag) -> str:
        """Return the Markdown of a part of the page.

        Raises:
            RecursionError: Its elements are nested too deeply.
        """
        text = str(self.convert_soup(part))
        restored = _LINE_OF_WORDS.sub(
            lambda line: line[1] + escaped_start(line[2].replace(_LITERAL, "")), text
        )
        return restored.replace(_LITERAL, "")

    def _number_items(self, numbered: Tag) -> None:
        """Note the marker of each item of a list; where numbers jump, its delimiter changes.

        Markdown counts on from the first item, and begins anew where the delimiter changes.
        """
        before = numbered.find_previous_sibling()
        last = _items(before)[-1:] if before is not None and before.name == "ol" else []
        previous_marker = self._markers.get(id(last[0]), "") if last else ""
        sign = ")" if previous_marker.endswith(". ") else "."
        number = _number(numbered, "start", 1)
        shown: int | None = None
        for item in _items(numbered):
            number = _number(item, "value", number)
            if item.get_text(strip=True) or item.find("img"):
                if shown is not None and number != shown:
                    sign = ")" if sign == "." else "."
                self._markers[id(item)] = f"{number}{sign} "
                shown = number + 1
            number += 1

    def process_text(self, el: NavigableString, parent_tags: set[str]) -> str:
        """Return words of the page, escaped unless they are code."""
        text = str(super().process_text(el, parent_tags))  # type: ignore[misc] # its stub lacks it
        text = text.replace(_LITERAL, "")
        if "pre" in parent_tags:
            return text
        if "_noformat" in parent_tags:
            return _in_cell(_LINE_BREAKS.sub(" ", text), parent_tags)
        is_whole = (
            el.parent is not None
            and el.parent.name in BLOCK_LIKE
            and not (el.previous_sibling or el.next_sibling)
            and parent_tags.isdisjoint(_MARKS)
        )
        text = escaped(text, is_whole=is_whole, is_label="a" in parent_tags)
        if "_inline" in parent_tags:
            return _in_cell(text, parent_tags)
        return _START_OF_WORDS.sub(rf"\1\2{_LITERAL}", text)

    def escape(self, text: str, _: set[str]) -> str:
        """Return the words unchanged: `process_text` escapes them, knowing where they stand."""
        return text

    def convert_hN(self, n: int, _: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802
        """Return a heading; inside a cell or another heading plain words."""
        words = " ".join(text.split())
        if "_inline" in parent_tags or not words:
            return text
        return f"\n\n{'#' * min(max(n, 1), 6)} {heading_words(words)}\n\n"

    def convert_strong(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return words with emphasis, by tags where marks would not be read as such."""
        before, words, behind = _split_space(text)
        if "_noformat" in parent_tags or not words or "\n\n" in text:
            return text
        name, mark = _MARKS[el.name]
        inner = words.replace(_LITERAL, "")
        is_marked = _is_edge(inner[0], before, el.previous_sibling, -1) and _is_edge(
            inner[-1], behind, el.next_sibling, 0
        )
        start, end = (mark, mark) if is_marked else (f"<{name}>", f"</{name}>")
        return f"{before}{start}{words}{end}{behind}"

    convert_b = convert_em = convert_i = convert_del = convert_s = convert_strong

    def convert_code(self, _: Tag, text: str, parent_tags: set[str]) -> str:
        """Return code within a line."""
        before, code, behind = _split_space(text)
        if "_noformat" in parent_tags or not code:
            return text
        return f"{before}{inline_code(code)}{behind}"

    convert_kbd = convert_samp = convert_code

    def convert_br(self, _: Tag, __: str, parent_tags: set[str]) -> str:
        """Return the end of a line."""
        if "pre" in parent_tags:
            return "\n"
        return " " if parent_tags & {"_noformat", "_inline"} else "  \n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a block of code; inside a cell or heading, code within the line."""
        if "_inline" in parent_tags:
            code = _in_cell(" ".join(text.split()), parent_tags)
            return f" {inline_code(code)} " if code else ""
        code = re.sub(r"\A[ \n]*\n", "", text).rstrip()
        return f"\n\n{fenced(code, _language(el))}\n\n" if code else ""

    def convert_li(self, el: Tag, text: str, **_: set[str]) -> str:
        """Return an item with the number that the page shows."""
        text = text.strip()
        if not text:
            return "\n"
        marker = self._markers.get(id(el), "- ")
        indent = " " * len(marker)
        first, *rest = text.split("\n")
        return "\n".join([marker + first, *(indent + line if line else "" for line in rest)]) + "\n"

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a list, separated from the words before it unless its first number is 1."""
        markers = (self._markers.get(id(item), "") for item in _items(el))
        first = next(filter(None, markers), "1.")
        written = super().convert_list(el, text, parent_tags)  # type: ignore[misc] # as above
        return written if first.startswith(("1.", "1)")) else f"\n{written}"

    convert_ul = convert_ol = convert_list

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a link, or its words alone if it leads nowhere."""
        target = str(el.get("href") or "").strip()
        before, words, behind = _split_space(text)
        is_line = bool(words) and "\n\n" not in words and not words.startswith("#")
        if "_noformat" in parent_tags or not is_line or not target or _LEADS_NOWHERE.match(target):
            return text
        if el.get_text().strip() == target and _ADDRESS.fullmatch(target):
            return f"{before}<{target}>{behind}"
        return f"{before}[{words}]({address_of(target)}){behind}"

    def convert_img(self, el: Tag, _: str, parent_tags: set[str]) -> str:
        """Return a picture."""
        return _in_cell(image(str(el["alt"]), str(el["src"])), parent_tags)


def _simplify_tables(soup: BeautifulSoup) -> None:
    """Make the tables such as Markdown has: none in another, no row longer than the first."""
    for table in soup.find_all("table"):
        if table.name == "table" and table.find_parent("table"):
            for part in (table, *table.find_all(_PARTS_OF_TABLE)):
                part.name = "div"
    for caption in soup.select("table > caption"):
        if caption.parent is not None:
            caption.name = "p"
            caption.parent.insert_before(caption)
    for table in soup.find_all("table"):
        rows = table.find_all("tr")
        widths = [sum(_number(cell, "colspan", 1) for cell in _cells(row)) for row in rows]
        if rows and _cells(rows[0]):
            missing = min(max(widths), _MOST_COLUMNS) - widths[0]
            for _ in range(missing):
                rows[0].append(soup.new_tag(_cells(rows[0])[-1].name))


def _cells(row: Tag) -> list[Tag]:
    return row.find_all(["td", "th"], recursive=False)


def _split_space(text: str) -> tuple[str, str, str]:
    """Split off the space before and after the words."""
    words = text.strip()
    start = text.index(words)
    return text[:start], words, text[start + len(words) :]


def _is_edge(inner: str, space: str, beside: PageElement | None, at: int) -> bool:
    """Return True if a mark of emphasis between a character and its neighbour is read as one."""
    if isinstance(beside, Tag) and beside.name in _MARKS:
        return bool(space)
    outer = str(beside)[at] if isinstance(beside, NavigableString) and beside else ""
    return inner.isalnum() or bool(space) or outer.isspace() or outer in string.punctuation


def _in_cell(text: str, parent_tags: set[str]) -> str:
    return text.replace("|", "\\|") if parent_tags & {"td", "th"} else text


def _items(items: Tag) -> list[Tag]:
    return items.find_all("li", recursive=False)


def _number(element: Tag, attribute: str, otherwise: int) -> int:
    text = str(element.get(attribute) or "").strip()
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else otherwise


def _language(code: Tag) -> str:
    """Return the language of a code block, as highlighters write it into the class."""
    element = code.find("code") or code
    classes = [*element.get_attribute_list("class"), *code.get_attribute_list("class")]
    for name in map(str, classes):
        for prefix in _LANGUAGE_PREFIXES:
            if name.startswith(prefix):
                return _NOT_IN_LANGUAGE.sub("", name.removeprefix(prefix))
    return ""
