"""Blocks of a Word document, from its styles, its numbering and its fonts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from docx.document import Document
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph
from docx.text.run import Run

from services.ingestion.converters.layout.blocks import LayoutBlock, LayoutKind, is_monospaced
from services.ingestion.converters.layout.docx_numbering import WordNumbering, styles_of
from services.ingestion.converters.layout.docx_pictures import pictures_of
from services.ingestion.converters.literal import escaped, inline_code

_HEADING_STYLE = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_CODE_STYLE = re.compile(
    r"code|source|verbatim|preformatted|console|terminal|command", re.IGNORECASE
)
_STYLE_DEPTH = re.compile(r"list .*?([2-9])$", re.IGNORECASE)
_TYPED_MARKER = re.compile(r"(?:(\d{1,3})[.)]|\\?[-•–*])[ \t\xa0]+(?=\S)")
"""Marker that somebody typed instead of making a list."""
_TYPED_LIST = "typed"
_CONTENTS = "Table of Contents"
_HEADING_LENGTH = 100


@dataclass(frozen=True)
class _DocxBlock:
    """Block with the list its paragraph belongs to."""

    block: LayoutBlock
    list_id: str = ""
    """Id of the list; empty outside lists."""
    is_indented: bool = False
    is_bold: bool = False
    """True if it is short and bold from end to end, as headings are made by hand."""


def blocks(document: Document) -> list[LayoutBlock]:
    """Return all blocks in reading order, each in the list item it belongs to."""
    numbering = WordNumbering(document)
    pieces = [
        _of_table(each) if isinstance(each, Table) else _of_paragraph(each, numbering)
        for each in _body(document)
    ]
    kept = _with_headings(_join_code([piece for piece in pieces if piece]))
    return [piece.block for piece in _nested(kept)]


def _body(document: Document) -> Iterator[Paragraph | Table]:
    """Yield paragraphs and tables, also those in content controls, but no table of contents."""
    stack = [iter(document.element.body)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif element.tag == qn("w:p"):
            yield Paragraph(element, document)
        elif element.tag == qn("w:tbl"):
            yield Table(element, document)
        elif element.tag == qn("w:sdt"):
            kind = f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}"
            gallery = element.find(kind)
            if gallery is None or gallery.get(qn("w:val")) != _CONTENTS:
                stack.append(iter(element.findall(qn("w:sdtContent") + "/*")))
        elif element.tag in {qn("w:ins"), qn("w:smartTag"), qn("w:customXml")}:
            stack.append(iter(element))


def _of_table(table: Table) -> _DocxBlock | None:
    rows: list[tuple[str, ...]] = []
    for row in table.rows:
        texts = []
        for cell in row.cells:
            runs = (run for each in cell.paragraphs for run in _runs(each))
            texts.append("\n".join(filter(None, (escaped(cell.text), *map(pictures_of, runs)))))
        rows.append(tuple(texts))
    has_text = any(map(any, rows))
    return _DocxBlock(LayoutBlock(LayoutKind.TABLE, rows=tuple(rows))) if has_text else None


def _of_paragraph(paragraph: Paragraph, numbering: WordNumbering) -> _DocxBlock | None:
    style = [each.name or "" for each in styles_of(paragraph)]
    text = _text(paragraph)
    if not text.strip() or any(name.lower().startswith("toc ") for name in style):
        return None
    if level := _heading_level(style):
        return _DocxBlock(LayoutBlock(LayoutKind.HEADING, text, depth=level))
    is_code = _is_code(paragraph)
    entry = None if is_code else numbering.entry(paragraph)
    if entry is not None:
        # Each of Word's built-in list styles has a list of its own, and its depth in its name.
        match = _STYLE_DEPTH.match(style[0]) if style else None
        depth = entry.level + (int(match.group(1)) - 1 if match else 0)
        return _DocxBlock(LayoutBlock(LayoutKind.ITEM, text, depth, entry.marker), entry.list_id)
    if not is_code and (typed := _TYPED_MARKER.match(text)):
        marker = f"{typed.group(1)}." if typed.group(1) else "-"
        return _DocxBlock(LayoutBlock(LayoutKind.ITEM, text[typed.end() :], 0, marker), _TYPED_LIST)
    kind = LayoutKind.CODE if is_code else LayoutKind.PARAGRAPH
    indent = paragraph.paragraph_format.left_indent
    runs = [run for run in _runs(paragraph) if run.text.strip()]
    is_bold = len(text) <= _HEADING_LENGTH and bool(runs) and all(run.bold for run in runs)
    return _DocxBlock(
        LayoutBlock(kind, text),
        is_indented=indent is not None and indent > 0,
        is_bold=not is_code and is_bold,
    )


def _heading_level(style: list[str]) -> int:
    """Return the level of a heading, one below the title's; 0 if it is no heading."""
    for name in style:
        if match := _HEADING_STYLE.match(name):
            return int(match.group(1)) + 1
        if name.lower() == "title":
            return 1
    return 0


def _runs(paragraph: Paragraph) -> Iterator[Run]:
    """Yield the runs that are read: hyperlinks and insertions, but no deletions or fallbacks."""
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
    """Return the text, with commands set in a monospaced font marked as code."""
    if _is_code(paragraph):
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
    for is_code, text in parts:
        inner = text.strip()
        if not is_code or not inner or "\n" in inner:
            yield escaped(text)
        else:
            before, after = text.split(inner, 1)
            yield f"{before}{inline_code(inner)}{after}"


def _is_code_run(run: Run) -> bool:
    if is_monospaced(run.font.name or ""):
        return True
    style = run.style
    if style is None or style.name in {None, "Default Paragraph Font"}:
        return False
    return bool(_CODE_STYLE.search(style.name or "")) or is_monospaced(style.font.name or "")


def _is_code(paragraph: Paragraph) -> bool:
    """Return True if every character stands in a style or font for code."""
    styles = list(styles_of(paragraph))
    fonts = (getattr(style, "font", None) for style in styles)
    font = next((font.name for font in fonts if font is not None and font.name), "")
    if any(_CODE_STYLE.search(style.name or "") for style in styles) or is_monospaced(font):
        return True
    runs = [run for run in _runs(paragraph) if run.text.strip()]
    return bool(runs) and all(_is_code_run(run) for run in runs)


def _join_code(pieces: list[_DocxBlock]) -> list[_DocxBlock]:
    """Join neighbouring lines of code into one block: Word makes a paragraph of each."""
    joined: list[_DocxBlock] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and last.block.kind is piece.block.kind is LayoutKind.CODE:
            text = f"{last.block.text}\n{piece.block.text}"
            joined[-1] = replace(last, block=replace(last.block, text=text))
        else:
            joined.append(piece)
    return joined


def _with_headings(pieces: list[_DocxBlock]) -> list[_DocxBlock]:
    """Shift levels to begin at 1; make bold lines headings where no style marks any."""
    levels = [piece.block.depth for piece in pieces if piece.block.kind is LayoutKind.HEADING]
    shift = min(levels) - 1 if levels else 0
    shown = []
    for piece in pieces:
        block = piece.block
        if block.kind is LayoutKind.HEADING:
            block = replace(block, depth=block.depth - shift)
        elif piece.is_bold and levels:
            block = replace(block, text=f"**{block.text}**")
        elif piece.is_bold:
            block = replace(block, kind=LayoutKind.HEADING, depth=2)
        shown.append(replace(piece, block=block))
    return shown


def _nested(pieces: list[_DocxBlock]) -> list[_DocxBlock]:
    """Put what stands between two steps of one numbered list into the first of them."""
    nested = list(pieces)
    for at, piece in enumerate(pieces):
        previous = _previous_step(pieces, at) if piece.list_id else None
        for between in range(previous + 1, at) if previous is not None else ():
            nested[between] = _within(nested[between], piece.block.depth + 1)
    for at, piece in enumerate(nested[1:], start=1):
        before = nested[at - 1].block
        if piece.block.kind is not LayoutKind.CODE or piece.block.depth:
            continue
        # Code below a numbered step is always the step's own.
        is_announced = before.marker != "-" or before.text.endswith(":") or piece.is_indented
        if before.kind is LayoutKind.ITEM and is_announced:
            nested[at] = _within(piece, before.depth + 1)
    return nested


def _previous_step(pieces: list[_DocxBlock], at: int) -> int | None:
    """Return the index of the item before, if this one continues its numbering."""
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


def _within(piece: _DocxBlock, depth: int) -> _DocxBlock:
    block = piece.block
    if block.depth >= depth:
        return piece
    return replace(piece, block=replace(block, depth=block.depth + depth))
