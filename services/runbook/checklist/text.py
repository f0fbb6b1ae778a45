"""A checklist as plain text: the page with `[ ]` at its boxes.

    [ ] 3. Look at the drive:
           $ pumpctl status loop-2
           | drive: tripped
           [ ] - If it says `tripped`, press reset once.

Its numbers, its nesting and the ends of its lines are the page's own. `! …` above a command says
what it changes or destroys. A section that the ticket does not ask for is its heading with the
number of its boxes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from services.knowledge.page.block import Block, BlockKind, InlineKind, Page, Words, codes
from services.knowledge.page.boxes import leading_content
from services.runbook.checklist.sections import box_count_words, stretches
from services.runbook.checklist.shown import (
    AS_IT_IS,
    LEFT_OUT,
    Margin,
    boxes_of,
    closed_sections,
    leads_to_words,
    page_of,
    page_tick,
    steps_without_block,
)
from services.workflow.effects.effect import effect_of
from services.workflow.model import LinkedPage, Step, StepKind, Workflow
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands

_BOX = "[ ] "
_LAST_LEVEL = 6
_WIDEST_CELL = 40
"""Characters up to which the cells of a column are padded to one width."""


class LineRole(StrEnum):
    """The role of a line of the text."""

    HEADING = "heading"
    WORDS = "words"
    CALLOUT = "callout"
    EFFECT = "effect"
    COMMAND = "command"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line with its margin and role."""

    margin: str = ""
    """The text before it: room, boxes and numbers of the blocks around it."""
    text: str = ""
    role: LineRole = LineRole.WORDS
    line: int = 0
    """The page's line that it shows; 0 if the page has none."""

    def __str__(self) -> str:
        """Return the line as it is printed."""
        return f"{self.margin}{self.text}".rstrip()


def to_checklist_text(workflow: Workflow, *, whole: bool = False) -> str:
    """Return the page with its boxes below its title; `whole` leaves no section closed.

    Raises:
        ValueError: The workflow shows no page.
    """
    head = [f"Checklist: {' '.join(workflow.title.split())}".rstrip(), AS_IT_IS, ""]
    return "\n".join([*head, *map(str, page_lines(workflow, whole=whole))]) + "\n"


def page_lines(workflow: Workflow, *, whole: bool = False) -> Iterator[TextLine]:
    """Yield the lines of a checklist below its title; see `to_checklist_text`.

    Raises:
        ValueError: The workflow shows no page.
    """
    yield from _linked_pages(workflow.page.links if workflow.page else ())
    page = page_of(workflow)
    boxes = boxes_of(workflow)
    writer = _TextWriter(page, boxes)
    closed = frozenset[str]() if whole else closed_sections(workflow, page)
    for number, stretch in enumerate(stretches(page, closed)):
        if number:
            yield TextLine()
        if stretch.closed is None:
            yield from writer.lines(stretch.block)
        else:
            heading = (
                f"{_heading(stretch.block)} ({box_count_words(stretch, boxes)}, not asked for)"
            )
            yield TextLine(text=heading, role=LineRole.HEADING, line=stretch.block.start_line)
    if added := steps_without_block(workflow, page):
        yield from (TextLine(), TextLine(text="Steps that are not on the page:"))
        for step in added:
            yield TextLine(_BOX, step.text)
            for command in step.commands:
                yield from _command_lines(command, Margin(*[" " * len(_BOX)] * 2))
    for step in workflow.of_kind(StepKind.DECISION):
        yield from (TextLine(), TextLine(text=step.text))
        yield from (TextLine("- ", edge.condition) for edge in workflow.exits(step.id))


def _linked_pages(links: Sequence[LinkedPage]) -> Iterator[TextLine]:
    """Yield the pages that a page of links leads to, above the page itself."""
    if links:
        yield TextLine(text=f"{leads_to_words(links)}:")
        for link in links:
            part = f"#{link.part}" if link.part else ""
            yield TextLine("- ", f"{' '.join(link.title.split())} ({link.document_id}{part})")
        yield TextLine()


def plain_text(words: Words) -> str:
    """Return words with code, links and images marked, and the page's line breaks."""
    parts: list[str] = []
    for each in words:
        inner = each.text + plain_text(each.children)
        match each.kind:
            case InlineKind.CODE:
                parts.append(f"`{inner}`")
            case InlineKind.BREAK:
                parts.append("\n")
            case InlineKind.STRIKE:
                parts.append(f"~~{inner}~~")
            case InlineKind.IMAGE:
                parts.append(f"[image: {inner}] ({each.target})")
            case InlineKind.LINK if each.target and each.target != inner:
                parts.append(f"{inner} ({each.target})")
            case _:
                parts.append(inner)
    return "".join(parts)


class _TextWriter:
    """Writer of blocks, however deep they are nested, without recursion."""

    def __init__(self, page: Page, boxes: Mapping[str, Step]) -> None:
        self._page = page
        self._boxes = boxes
        self._before = ""
        """The words written last, which say what the code below them is."""

    def lines(self, outermost: Block) -> Iterator[TextLine]:
        """Yield the lines of a block with all that is nested in it."""
        pending = [(outermost, Margin(), LineRole.WORDS)]
        while pending:
            block, margin, role = pending.pop()
            if step := self._boxes.get(block.key):
                margin = margin.nested(_BOX)
                if not block.words and leading_content(block) is None:
                    yield TextLine(margin.take(), step.text)
            margin = _inner(block, margin)
            role = LineRole.CALLOUT if block.kind is BlockKind.CALLOUT else role
            own = list(_with_line_numbers(self._own_lines(block, margin, role), block))
            if own and block.is_withheld:
                own[0] = replace(own[0], text=f"{own[0].text} [{LEFT_OUT}]")
            yield from own
            if block.kind in {BlockKind.DETAILS, BlockKind.TAB} and own:
                margin = Margin(margin.rest + "  ", margin.rest + "  ")
            pending += [(child, margin, role) for child in reversed(block.children)]
            self._before = block.text or self._before

    def _own_lines(self, block: Block, margin: Margin, role: LineRole) -> Iterator[TextLine]:
        """Yield the lines of a block itself, without its nested blocks."""
        is_callout = block.kind is BlockKind.CALLOUT and bool(block.children)
        is_in_margin = is_callout and block.text.strip(" :!").lower() == block.callout
        if block.kind is BlockKind.HEADING:
            yield TextLine(margin.take(), _heading(block), LineRole.HEADING)
        elif block.kind is BlockKind.CODE:
            yield from self._code(block, margin)
        elif block.kind is BlockKind.TABLE:
            for row in _aligned([*([block.header] if block.header else []), *block.rows]):
                yield TextLine(margin.take(), row, role)
        elif block.words and not is_in_margin:
            for line in (page_tick(block) + plain_text(block.words).strip()).split("\n"):
                yield TextLine(margin.take(), line.strip(), role)
            yield from _inline_effects(block, margin)
        elif not block.children and not block.words:
            is_item = block.kind is BlockKind.ITEM
            text = block.verbatim or ("" if is_item else self._page.verbatim(block))
            for line in text.split("\n"):
                yield TextLine(margin.take(), line, role)

    def _code(self, block: Block, margin: Margin) -> Iterator[TextLine]:
        if block.is_withheld:
            yield from _output_lines(block.verbatim, margin)
            return
        for part in code_parts(PageCode(block.verbatim, block.language), self._before):
            if part.use is CodeUse.COMMAND:
                yield from _command_lines(part.text, margin, part.prompt)
            elif part.use is CodeUse.OUTPUT:
                yield from _output_lines(part.text, margin)
            else:
                for line in part.text.split("\n"):
                    yield TextLine(margin.take(), line, LineRole.OUTPUT)


def _with_line_numbers(lines: Iterable[TextLine], block: Block) -> Iterator[TextLine]:
    """Yield the lines with their line numbers; the effect of a command has the command's."""
    content = block.verbatim.count("\n") + 1
    is_fenced = block.kind is BlockKind.CODE and content <= block.end_line - block.start_line
    number = block.start_line + is_fenced
    for line in lines:
        yield replace(line, line=min(number, block.own_end))
        number += line.role is not LineRole.EFFECT


def _inner(block: Block, margin: Margin) -> Margin:
    """Return the margin of a block's own lines and of its nested blocks."""
    match block.kind:
        case BlockKind.ITEM:
            return margin.nested(f"{block.number or '-'} ")
        case BlockKind.QUOTE:
            return margin.nested("> ", "> ")
        case BlockKind.CALLOUT:
            return margin.nested(f"! {block.callout.upper() or 'NOTE'}: ", "  ")
        case _:
            return margin


def _heading(block: Block) -> str:
    """Return a heading behind `#` for each of its levels; a bold paragraph has none."""
    sign = "#" * block.level if block.level <= _LAST_LEVEL else ""
    return f"{sign} {' '.join(plain_text(block.words).split())}".strip()


def _inline_effects(block: Block, margin: Margin) -> Iterator[TextLine]:
    """Yield the effects of the commands among a block's words."""
    commands = () if block.is_withheld else inline_commands(block.text, codes(block.words))
    for command in commands:
        if words := effect_of(command).words:
            yield TextLine(margin.take(), f"! `{command}`: {words}", LineRole.EFFECT)


def _command_lines(command: str, margin: Margin, prompt: str = "") -> Iterator[TextLine]:
    """Yield a command behind its prompt, or behind `$` if the prompt names nothing."""
    if words := effect_of(command).words:
        yield TextLine(margin.take(), f"! {words}", LineRole.EFFECT)
    sign = prompt if any(map(str.isalnum, prompt)) else "$"
    for line in command.split("\n"):
        yield TextLine(margin.take(), f"{sign} {line}", LineRole.COMMAND)
        sign = ">"


def _output_lines(text: str, margin: Margin) -> Iterator[TextLine]:
    for line in text.split("\n"):
        yield TextLine(margin.take(), f"| {line}", LineRole.OUTPUT)


def _aligned(rows: Sequence[Sequence[Words]]) -> Iterator[str]:
    """Yield the rows of a table with padded cells; very wide ones stand out."""
    cells = [[" ".join(plain_text(cell).split()) for cell in row] for row in rows]
    columns = max(map(len, cells), default=0)
    widths = [
        max((min(len(row[n]), _WIDEST_CELL) for row in cells if n < len(row)), default=0)
        for n in range(columns)
    ]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        yield " | ".join(padded).rstrip()
