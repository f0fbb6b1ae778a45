"""Makes the DOCX and the PDF among the example documents from the Markdown in `sources/`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from docx import Document
from docx.document import Document as DocxDocument
from docx.shared import Pt
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import Flowable, Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table

EXAMPLES = Path(__file__).parent


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, numbered item, code block or table of a source."""

    kind: str
    text: str = ""
    level: int = 0
    rows: list[list[str]] = field(default_factory=list)


def read(path: Path) -> list[Block]:
    """The blocks of a Markdown source, in order."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    return list(_blocks(SyntaxTreeNode(tokens)))


def _blocks(node: SyntaxTreeNode, number: int = 0) -> Iterator[Block]:
    for child in node.children:
        if child.type == "heading":
            yield Block("heading", _inline(child), level=int(child.tag[1]))
        elif child.type == "fence":
            yield Block("code", child.content.rstrip("\n"))
        elif child.type == "table":
            yield Block(
                "table", rows=[_cells(row) for part in child.children for row in part.children]
            )
        elif child.type == "ordered_list":
            for position, item in enumerate(child.children, start=1):
                yield from _blocks(item, position)
        elif child.type == "paragraph":
            yield Block("item" if number else "paragraph", _inline(child), level=number)


def _cells(row: SyntaxTreeNode) -> list[str]:
    return [_inline(cell) for cell in row.children]


def _inline(node: SyntaxTreeNode) -> str:
    return node.children[0].content if node.children else ""


def write_docx(blocks: list[Block], path: Path) -> None:
    """Headings as heading styles, items as a numbered text, code in a fixed font."""
    document = Document()
    document.core_properties.author = "Network operations"
    for block in blocks:
        _add_to_docx(document, block)
    document.save(str(path))


def _add_to_docx(document: DocxDocument, block: Block) -> None:
    if block.kind == "heading":
        document.add_heading(block.text, level=block.level)
    elif block.kind == "item":
        document.add_paragraph(f"{block.level}. {block.text}")
    elif block.kind == "code":
        run = document.add_paragraph().add_run(block.text)
        run.font.name, run.font.size = "Courier New", Pt(8)
    elif block.kind == "table":
        table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
        for row in block.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    else:
        document.add_paragraph(block.text)


def write_pdf(blocks: list[Block], path: Path) -> None:
    """A4 pages; the same source gives the same bytes."""
    flowables = [part for block in blocks for part in (_flowable(block), Spacer(0, 6))]
    template = SimpleDocTemplate(
        str(path), pagesize=A4, title=blocks[0].text, author="Network operations", invariant=1
    )
    template.build(flowables)


def _flowable(block: Block) -> Flowable:
    styles = getSampleStyleSheet()
    if block.kind == "heading":
        return Paragraph(escape(block.text), styles[f"Heading{block.level}"])
    if block.kind == "item":
        hanging = ParagraphStyle("Item", styles["BodyText"], leftIndent=18)
        return Paragraph(escape(block.text), hanging, bulletText=f"{block.level}.")
    if block.kind == "code":
        return Preformatted(block.text, styles["Code"])
    if block.kind == "table":
        cells = [
            [Paragraph(escape(text), styles["BodyText"]) for text in row] for row in block.rows
        ]
        return Table(cells, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.grey)])
    return Paragraph(escape(block.text), styles["BodyText"])


WRITERS: dict[str, Callable[[list[Block], Path], None]] = {
    "memory-leak.docx": write_docx,
    "acl-tcam-exhaustion.pdf": write_pdf,
}


def main() -> None:
    """Write every binary document from its source."""
    for name, write in WRITERS.items():
        source = EXAMPLES / "sources" / Path(name).with_suffix(".md")
        write(read(source), EXAMPLES / "documents" / "exports" / name)


if __name__ == "__main__":
    main()
