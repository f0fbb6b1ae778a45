"""Word's list numbering: a paragraph's list, its depth and its number."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from docx.document import Document
from docx.oxml.ns import qn
from docx.styles.style import BaseStyle
from docx.text.paragraph import Paragraph
from lxml.etree import _Element

_UNNUMBERED = {"bullet", "none"}


@dataclass(frozen=True)
class ListEntry:
    """Place of a paragraph in a list."""

    list_id: str
    level: int
    """Depth in the list, from 0."""
    marker: str
    """Marker: `-` or a number with a full stop, counted on as Word shows it."""


class WordNumbering:
    """Counter of list paragraphs; ask for each once, in document order."""

    def __init__(self, document: Document) -> None:
        self._lists = _lists(document)
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def entry(self, paragraph: Paragraph) -> ListEntry | None:
        """Return the paragraph's place in its list, or None outside lists."""
        list_id, level = "", 0
        # The paragraph's own properties come first; python-docx has no API for numbering.
        for owner in (paragraph._p, *(style.element for style in styles_of(paragraph))):
            numbering = owner.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
            if numbering is not None:
                level = level or int(_value(numbering.find(qn("w:ilvl")), "0"))
                list_id = list_id or _value(numbering.find(qn("w:numId")), "")
        if list_id not in self._lists:
            return None
        formats = self._lists[list_id]
        number_format, start = formats.get(level, ("decimal", 1))
        if number_format in _UNNUMBERED:
            return ListEntry(list_id, level, "-")
        counts = self._counts[list_id]
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        counts[level] = counts.get(level, start - 1) + 1
        return ListEntry(list_id, level, f"{counts[level]}.")


def styles_of(paragraph: Paragraph) -> Iterator[BaseStyle]:
    """Yield the style of the paragraph and those that it is based on, the nearest first."""
    style: BaseStyle | None = paragraph.style
    while style is not None:
        yield style
        style = getattr(style, "base_style", None)


def _lists(document: Document) -> dict[str, dict[int, tuple[str, int]]]:
    """Return number format and first number by level, by list id."""
    try:
        root = document.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return {}
    abstract = {
        each.get(qn("w:abstractNumId")): _levels(each) for each in root.findall(qn("w:abstractNum"))
    }
    return {
        str(each.get(qn("w:numId"))): {
            **abstract.get(_value(each.find(qn("w:abstractNumId")), ""), {}),
            **dict(
                level
                for override in each.findall(qn("w:lvlOverride"))
                for level in _levels(override).items()
            ),
        }
        for each in root.findall(qn("w:num"))
        if each.get(qn("w:numId")) != "0"
    }


def _levels(parent: _Element) -> dict[int, tuple[str, int]]:
    return {
        int(level.get(qn("w:ilvl"), "0")): (
            _value(level.find(qn("w:numFmt")), "decimal"),
            int(_value(level.find(qn("w:start")), "1")),
        )
        for level in parent.findall(qn("w:lvl"))
    }


def _value(element: _Element | None, default: str) -> str:
    return default if element is None else element.get(qn("w:val"), default)
