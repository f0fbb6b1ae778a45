"""Blocks of a Word document, from its styles, its numbering and its fonts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from docx.document import Document
from docx.oxml.ns import qn
from docx.styles.style import BaseStyle
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from lxml.etree import _Element

from services.ingestion.converters.layout.blocks import LayoutBlock, LayoutKind, is_monospaced
from services.ingestion.converters.layout.docx_numbering import Numbering
from services.ingestion.converters.layout.docx_pictures import pictures_of
from services.ingestion.converters.literal import escaped, inline_code

_HEADING_STYLE = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_CODE_STYLE = re.compile(
    r"code|source|verbatim|preformatted|console|terminal|command", re.IGNORECASE
)
_STYLE_DEPTH = re.compile(r"list .*?([2-9])$", re.IGNORECASE)
_TYPED_MARKER = re.compile(r"(?:(\d{1,3})[.)]|\\?[-•–*])[ \t\xa0]+(?=\S)")
"""A marker that somebody typed instead of making a list."""
_TYPED_LIST = "typed"
_CONTENTS = "Table of Contents"
_HEADING_LENGTH = 100


@dataclass(frozen=True)
class _Piece:
    """A block, and the list its paragraph belongs to."""

    block: LayoutBlock
    list_id: str = ""
    """Empty outside lists."""
    is_indented: bool = False
    is_bold: bool = False
    """Short and bold from end to end, as headings are made by hand."""


def blocks(document: Document) -> list[LayoutBlock]:
    """All blocks in reading order, each in the list item it belongs to."""
    numbering = Numbering(document)
    pieces = [_of_element(element, numbering) for element in _body(document)]
    kept = _with_headings(_join_code([piece for piece in pieces if piece]))
    return [piece.block for piece in _nested(kept)]


def _body(document: Document) -> Iterator[Paragraph | Table]:
    """Paragraphs and tables, those in content controls included, a contents list left out."""
    stack = [iter(document.element.body)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif element.tag == qn("w:p"):
            yield Paragraph(element, document)
        elif element.tag == qn("w:tbl"):
            yield Table(element, document)
        elif element.tag == qn("w:sdt") and not _is_contents(element):
            stack.append(iter(element.findall(qn("w:sdtContent") + "/*")))
        elif element.tag in {qn("w:ins"), qn("w:smartTag"), qn("w:customXml")}:
            stack.append(iter(element))


def _is_contents(control: _Element) -> bool:
    gallery = control.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}")
    return gallery is not None and gallery.get(qn("w:val")) == _CONTENTS


def _of_element(element: Paragraph | Table, numbering: Numbering) -> _Piece | None:
    if isinstance(element, Table):
        rows = tuple(tuple(map(_cell_text, row.cells)) for row in element.rows)
        return _Piece(LayoutBlock(LayoutKind.TABLE, rows=rows)) if any(map(any, rows)) else None
    return _of_paragraph(element, numbering)


def _cell_text(cell: _Cell) -> str:
    pictures = (pictures_of(run) for each in cell.paragraphs for run in _runs(each))
    return "\n".join(filter(None, (escaped(cell.text), *pictures)))


def _of_paragraph(paragraph: Paragraph, numbering: Numbering) -> _Piece | None:
    style = _style_names(paragraph)
    text = _text(paragraph)
    if not text.strip() or any(name.lower().startswith("toc ") for name in style):
        return None
    if level := _heading_level(style):
        return _Piece(LayoutBlock(LayoutKind.HEADING, text, depth=level))
    is_code = _is_code(paragraph, style)
    entry = None if is_code else numbering.entry(paragraph)
    if entry is not None:
        depth = entry.level + _style_depth(style)
        return _Piece(LayoutBlock(LayoutKind.ITEM, text, depth, entry.marker), entry.list_id)
    if not is_code and (typed := _TYPED_MARKER.match(text)):
        marker = f"{typed.group(1)}." if typed.group(1) else "-"
        return _Piece(LayoutBlock(LayoutKind.ITEM, text[typed.end() :], 0, marker), _TYPED_LIST)
    kind = LayoutKind.CODE if is_code else LayoutKind.PARAGRAPH
    return _Piece(
        LayoutBlock(kind, text),
        is_indented=_is_indented(paragraph),
        is_bold=not is_code and _is_bold(paragraph, text),
    )


def _style_names(paragraph: Paragraph) -> list[str]:
    names = []
    style: BaseStyle | None = paragraph.style
    while style is not None:
        names.append(style.name or "")
        style = getattr(style, "base_style", None)
    return names


def _heading_level(style: list[str]) -> int:
    """Zero outside headings; a title stands one level above the first heading."""
    for name in style:
        if found := _HEADING_STYLE.match(name):
            return int(found.group(1)) + 1
        if name.lower() == "title":
            return 1
    return 0


def _style_depth(style: list[str]) -> int:
    """Word's built-in list styles carry their depth in the name, each with a list of its own."""
    found = _STYLE_DEPTH.match(style[0]) if style else None
    return int(found.group(1)) - 1 if found else 0


def _is_bold(paragraph: Paragraph, text: str) -> bool:
    runs = [run for run in _runs(paragraph) if run.text.strip()]
    return len(text) <= _HEADING_LENGTH and bool(runs) and all(run.bold for run in runs)


def _is_indented(paragraph: Paragraph) -> bool:
    indent = paragraph.paragraph_format.left_indent
    return indent is not None and indent > 0


def _runs(paragraph: Paragraph) -> Iterator[Run]:
    """Runs that are read: hyperlinks and insertions included, deletions and fallbacks not."""
    unread = {qn("w:del"), qn("w:moveFrom"), qn("w:txbxContent"), qn("w:pPr")}
    stack = [iter(paragraph._p)]  # python-docx leaves insertions to the XML
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif element.tag == qn("w:r"):
            yield Run(element, paragraph)
        elif element.tag not in unread:
            stack.append(iter(element))


def _text(paragraph: Paragraph) -> str:
    """The text, with commands set in a monospaced font marked as code."""
    if _is_code(paragraph, _style_names(paragraph)):
        return "".join(run.text for run in _runs(paragraph)).rstrip()
    parts: list[tuple[bool, str]] = []
    written: list[str] = []
    for run in _runs(paragraph):
        is_code = _is_code_run(run)
        if parts and parts[-1][0] == is_code:
            parts[-1] = (is_code, parts[-1][1] + run.text)
        else:
            parts.append((is_code, run.text))
        if pictures := pictures_of(run):
            written += [*_written(parts), pictures]
            parts = []
    text = "".join([*written, *_written(parts)])
    return text.replace("\t", " ").strip()


def _written(parts: list[tuple[bool, str]]) -> Iterator[str]:
    return (_marked(text) if is_code else escaped(text) for is_code, text in parts)


def _marked(code: str) -> str:
    inner = code.strip()
    if not inner or "\n" in inner:
        return escaped(code)
    start = code.index(inner)
    return f"{code[:start]}{inline_code(inner)}{code[start + len(inner) :]}"


def _is_code_run(run: Run) -> bool:
    if is_monospaced(run.font.name or ""):
        return True
    style = run.style
    if style is None or style.name in {None, "Default Paragraph Font"}:
        return False
    return bool(_CODE_STYLE.search(style.name or "")) or is_monospaced(style.font.name or "")


def _is_code(paragraph: Paragraph, style: list[str]) -> bool:
    """Whether every character stands in a style or font for code."""
    if any(_CODE_STYLE.search(name) for name in style) or _style_is_monospaced(paragraph):
        return True
    runs = [run for run in _runs(paragraph) if run.text.strip()]
    return bool(runs) and all(_is_code_run(run) for run in runs)


def _style_is_monospaced(paragraph: Paragraph) -> bool:
    style: BaseStyle | None = paragraph.style
    while style is not None:
        font = getattr(style, "font", None)
        if font is not None and font.name:
            return is_monospaced(font.name)
        style = getattr(style, "base_style", None)
    return False


def _join_code(pieces: list[_Piece]) -> list[_Piece]:
    """Neighbouring lines of code are one block: Word makes a paragraph of each."""
    joined: list[_Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and last.block.kind is piece.block.kind is LayoutKind.CODE:
            text = f"{last.block.text}\n{piece.block.text}"
            joined[-1] = replace(last, block=replace(last.block, text=text))
        else:
            joined.append(piece)
    return joined


def _with_headings(pieces: list[_Piece]) -> list[_Piece]:
    """Levels from 1 without a gap at the top; bold lines are headings where no style says so."""
    levels = [piece.block.depth for piece in pieces if piece.block.kind is LayoutKind.HEADING]
    shift = min(levels) - 1 if levels else 0
    return [_with_heading(piece, shift, has_styles=bool(levels)) for piece in pieces]


def _with_heading(piece: _Piece, shift: int, *, has_styles: bool) -> _Piece:
    block = piece.block
    if block.kind is LayoutKind.HEADING:
        return replace(piece, block=replace(block, depth=block.depth - shift))
    if not piece.is_bold:
        return piece
    if has_styles:
        return replace(piece, block=replace(block, text=f"**{block.text}**"))
    return replace(piece, block=replace(block, kind=LayoutKind.HEADING, depth=2))


def _nested(pieces: list[_Piece]) -> list[_Piece]:
    """What stands between two steps of one numbered list belongs to the first of them."""
    nested = list(pieces)
    for at, piece in enumerate(pieces):
        previous = _previous_step(pieces, at) if piece.list_id else None
        for between in range(previous + 1, at) if previous is not None else ():
            nested[between] = _within(nested[between], piece.block.depth + 1)
    for at, piece in enumerate(nested[1:], start=1):
        before = nested[at - 1].block
        if piece.block.kind is not LayoutKind.CODE or piece.block.depth:
            continue
        if before.kind is LayoutKind.ITEM and _announces(before, piece):
            nested[at] = _within(piece, before.depth + 1)
    return nested


def _announces(item: LayoutBlock, code: _Piece) -> bool:
    """Whether the code below an item is the item's own: below a numbered step it always is."""
    return item.marker != "-" or item.text.endswith(":") or code.is_indented


def _previous_step(pieces: list[_Piece], at: int) -> int | None:
    """Where the item before this one stands, if this one is numbered on from it."""
    block = pieces[at].block
    if block.marker in {"-", "1."}:
        return None
    for before in range(at - 1, -1, -1):
        other = pieces[before]
        if other.block.kind is LayoutKind.HEADING:
            return None
        if other.list_id == pieces[at].list_id and other.block.depth == block.depth:
            return before
    return None


def _within(piece: _Piece, depth: int) -> _Piece:
    block = piece.block
    if block.depth >= depth:
        return piece
    return replace(piece, block=replace(block, depth=block.depth + depth))
