"""A checklist as text for blind readers: the page with its boxes, and the line each part is on."""

from collections.abc import Iterator, Mapping
from functools import partial

from services.knowledge.page.block import Block, BlockKind, Inline, InlineKind, Page, Words, plain
from services.knowledge.page.parsing import parse_page
from services.procedure.page_code import CodeUse, PageCode, code_parts
from services.workflow.model import ShownPage, Workflow

_BOX = "[ ] "
_MARKS = {CodeUse.COMMAND: "$ ", CodeUse.COMMENT: "# ", CodeUse.OUTPUT: "| "}
_SILENT = frozenset({BlockKind.FRONT_MATTER, BlockKind.COMMENT, BlockKind.REFERENCE})

Line = tuple[int, str]
"""Line of the page and text; 0 where nothing of the page stands on it."""


def to_checklist_text(workflow: Workflow) -> str:
    """Return the page of a checklist as it is shown, sections that are not asked for folded."""
    return "".join(f"{text}\n" for _, text in checklist_lines(workflow))


def checklist_lines(workflow: Workflow) -> Iterator[Line]:
    """Yield the lines of the text, each with the line of the page that it is of."""
    if workflow.page is None:
        return
    yield 0, "Your team's page as it is. Nobody has checked its decisions."
    yield 0, ""
    page = parse_page(workflow.page.text, withheld=workflow.page.withheld)
    boxed = {step.node for step in workflow.steps if step.node}
    folded = _folded(page, workflow.page)
    before = ""
    for place in page.places():
        if place.parents:
            continue
        block = place.block
        around = [block, *place.headings] if block.kind is BlockKind.HEADING else place.headings
        hidden = next((heading for heading in around if heading.key in folded), None)
        if hidden is block:
            count = len(boxed.intersection(folded[block.key]))
            yield block.start_line, f"{_heading(block)} ({count} boxes, one tap away)"
            yield 0, ""
        elif hidden is None:
            yield from _block(block, boxed, "", before)
            yield 0, ""
        before = block.text or before


def _folded(page: Page, shown: ShownPage) -> Mapping[str, set[str]]:
    """Return by the key of each outermost closed heading the keys of the blocks below it.

    A heading is closed where neither it nor one above or below it is open.
    """
    if not shown.open:
        return {}
    folded: dict[str, set[str]] = {}
    open_ = set(shown.open)
    sections = [section for section in page.sections() if section.heading]
    around = {
        place.block.key: {heading.key for heading in place.headings}
        for place in page.places()
        if place.block.kind is BlockKind.HEADING
    }
    holding = {key for heading in open_ for key in around.get(heading, ())}
    for section in sections:
        key = section.heading.key if section.heading else ""
        above = around[key]
        if key in open_ or above & open_ or key in holding or above & folded.keys():
            continue
        folded[key] = {
            block.key
            for top in page.blocks
            if section.start_line <= top.start_line <= section.end_line
            for block in top.walk()
        }
    return folded


def _block(block: Block, boxed: set[str], indent: str, before: str) -> Iterator[Line]:
    line, words = block.start_line, _words(block.words)
    box = _BOX if block.key in boxed else ""
    below = partial(_below, block, boxed)
    match block.kind:
        case BlockKind.HEADING:
            yield line, f"{indent}{_heading(block)}"
        case BlockKind.ITEM:
            number = f"{block.number} " if block.number else "- "
            yield line, f"{indent}{number}{box}{words}"
            yield from below(indent + " " * len(number))
        case BlockKind.CALLOUT:
            lead = f"{indent}! {(block.callout or 'note').upper()}: "
            yield line, f"{lead}{words}".rstrip()
            yield from below(f"{indent}! ")
        case BlockKind.CODE:
            yield from _code(block, indent, before)
        case _ if words or block.children:
            if words:
                yield line, f"{indent}{box}{words}"
            is_flat = block.kind in {BlockKind.LIST, BlockKind.QUOTE, BlockKind.TABS}
            yield from below(indent if is_flat else f"{indent}  ")
        case _:
            yield from _literal(block, indent)


def _literal(block: Block, indent: str) -> Iterator[Line]:
    """Yield what stands as it is written: rows of a table, and what has no words of its own."""
    if block.kind is BlockKind.TABLE:
        for place, row in enumerate((block.header, *block.rows)):
            own = block.start_line + place + bool(place)
            yield own, f"{indent}| {' | '.join(map(_words, row))} |"
    elif block.kind not in _SILENT:
        for place, text in enumerate(block.verbatim.splitlines()):
            yield block.start_line + place, f"{indent}| {text}"


def _below(block: Block, boxed: set[str], indent: str) -> Iterator[Line]:
    before = block.text
    for child in block.children:
        yield from _block(child, boxed, indent, before)
        before = child.text or before


def _code(block: Block, indent: str, before: str) -> Iterator[Line]:
    line = block.start_line + 1
    for part in code_parts(PageCode(block.verbatim, block.language), before):
        for number, text in enumerate(part.text.split("\n")):
            is_continued = part.use is CodeUse.COMMAND and number
            mark = "  " if is_continued else _MARKS[part.use]
            yield line, f"{indent}{mark}{text}"
            line += 1


def _heading(block: Block) -> str:
    return f"{'#' * min(block.level, 6)} {_words(block.words)}"


def _words(words: Words) -> str:
    """Return the words on one line; of a link and an image also where it leads."""
    return " ".join("".join(_piece(each) for each in words).split())


def _piece(piece: Inline) -> str:
    text = " " if piece.kind is InlineKind.BREAK else piece.text or _words(piece.children)
    if piece.kind is InlineKind.CODE:
        return f"`{text}`"
    if piece.kind is InlineKind.IMAGE:
        return f"[image: {text}] ({piece.target})"
    if piece.kind is InlineKind.LINK and piece.target not in {"", plain(piece.children)}:
        return f"{text} ({piece.target})"
    return text
