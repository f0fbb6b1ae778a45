"""A checklist as GitHub's Markdown: the page with a task at each of its boxes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from services.kit.text import squeeze
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
from services.workflow.formats.markdown import CitationLink
from services.workflow.formats.markdown_escape import (
    code_span,
    escape_markdown,
    fence_code,
    is_safe_address,
)
from services.workflow.model import Citation, LinkedPage, Step, StepKind, Workflow
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands

_TASK = "[ ] "
_ALERTS = {"danger": "CAUTION"} | {
    name: name.upper() for name in ("note", "tip", "important", "warning", "caution")
}
"""GitHub's alerts, by a callout's name: https://docs.github.com/get-started/writing-on-github."""
_LAST_LEVEL = 6
_NUMBER = re.compile(r"(\d{1,9})([.)])")
_LINE_START = re.compile(r"^(?:(?=[-+=#])|(?P<number>\d{1,9})(?=[.)]$))")
"""Text that would begin a list, a heading or a rule at the start of a line."""
_SET_APART = frozenset({BlockKind.LIST, BlockKind.QUOTE, BlockKind.CALLOUT, BlockKind.DEFINITION})
"""Kinds of blocks that are set apart from the text above, but have no line at its margin."""
_WITH_TASK = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH, BlockKind.DEFINITION})
"""Kinds of blocks that are a task themselves; any other has its task above it."""
_MARKS = {InlineKind.STRONG: "**", InlineKind.EMPHASIS: "*", InlineKind.STRIKE: "~~"}
_SEPARATOR = "<!-- -->"
"""A comment between two lists, which would otherwise be one list."""


def to_checklist_markdown(
    workflow: Workflow,
    *,
    link: CitationLink | None = None,
    whole: bool = False,
    for_model: bool = False,
) -> str:
    """Return the page with its own numbers and nesting, and a task in the place of each box.

    All text is escaped as in `to_markdown`; of a link that is not http(s) only the name is shown.
    `whole` leaves no section closed, `for_model` leaves out the lines that no model may see.

    Raises:
        ValueError: The workflow shows no page.
    """
    page, boxes = page_of(workflow), boxes_of(workflow)
    closed = frozenset[str]() if whole else closed_sections(workflow, page)
    writer = _MarkdownWriter(page, boxes, for_model=for_model)
    margin = Margin()
    lines = [*_with_margin(_head(workflow, page, link), margin)]
    if workflow.page and workflow.page.links:
        lines += _with_margin(_linked_pages(workflow.page.links, link), margin)
    blocks: list[Block] = []
    for stretch in stretches(page, closed):
        blocks.append(stretch.block)
        if stretch.closed is not None:
            lines += writer.lines(blocks, margin)
            lines += _with_margin([f"*{box_count_words(stretch, boxes)}, not asked for*"], margin)
            blocks = []
    lines += writer.lines(blocks, margin)
    for step in steps_without_block(workflow, page):
        lines += _with_margin([f"* {_TASK}{escape_markdown(step.text)}"], margin)
        for command in step.commands:
            lines += _with_margin(
                _with_effects([command], fence_code(command, "sh").split("\n")), margin
            )
    for step in workflow.of_kind(StepKind.DECISION):
        ways = [f"- {escape_markdown(edge.condition)}" for edge in workflow.exits(step.id)]
        lines += _with_margin([f"**{escape_markdown(step.text)}**", "", *ways], margin)
    return "\n".join(lines) + "\n"


def _head(workflow: Workflow, page: Page, link: CitationLink | None) -> list[str]:
    """Return the title, the note that nobody has checked the page, and its document."""
    first = page.blocks[0] if page.blocks else None
    is_titled = first is not None and (first.level, first.text) == (1, workflow.title)
    title = [] if is_titled else [f"# {escape_markdown(workflow.title).strip() or 'Checklist'}", ""]
    document_id = workflow.page.document_id if workflow.page else ""
    name = escape_markdown(document_id)
    whole = Citation(document_id=document_id, start_line=1, end_line=len(page.lines))
    address = link(whole) if link else ""
    source = f"[{name}](<{address}>)" if is_safe_address(address) else name
    return [*title, f"*{AS_IT_IS}*", "", f"Source: {source}"]


def _linked_pages(links: Sequence[LinkedPage], link: CitationLink | None) -> list[str]:
    """Return the pages that a page of links leads to."""
    lines = [f"**{leads_to_words(links)}**", ""]
    for each in links:
        there = Citation(document_id=each.document_id, start_line=1, end_line=1)
        address = link(there) if link else ""
        name = escape_markdown(" ".join(each.title.split())) or escape_markdown(each.document_id)
        named = f"[{name}](<{address}>)" if is_safe_address(address) else name
        lines.append(f"- {named} ({code_span(each.document_id)})")
    return lines


def _with_margin(lines: Sequence[str], margin: Margin) -> Iterator[str]:
    """Yield lines behind their margin, set apart from the lines above."""
    yield from margin.gap()
    for line in lines:
        prefix = margin.take()
        yield f"{prefix}{line}" if line else prefix.rstrip()


@dataclass(frozen=True, slots=True)
class _PendingBlock:
    """A block that is not written yet, with its margin and marker."""

    block: Block
    margin: Margin
    marker: str = ""
    """The marker of an item."""
    number: str = ""
    """The number of an item whose marker is not its number."""
    is_second_list: bool = False
    """True if another list, which it is no part of, directly precedes it."""
    has_task: bool = False
    """True if its task was written above it."""


class _MarkdownWriter:
    """Writer of blocks, however deep they are nested, without recursion."""

    def __init__(self, page: Page, boxes: Mapping[str, Step], *, for_model: bool) -> None:
        self._page = page
        self._boxes = boxes
        self._for_model = for_model
        self._before = ""
        """The words written last, which say what the code below them is."""

    def lines(self, blocks: Sequence[Block], margin: Margin) -> Iterator[str]:
        """Yield the lines of consecutive blocks, with all that is nested in them."""
        pending = _pending(blocks, margin)
        while pending:
            each = pending.pop()
            block, margin = each.block, each.margin
            step = None if each.has_task else self._boxes.get(block.key)
            is_wordless = leading_content(block) is not None
            if step and (block.kind not in _WITH_TASK or not (block.words or is_wordless)):
                yield from margin.gap()
                inner = margin.nested(each.marker or "* ")
                yield from _with_margin([f"{_TASK}{escape_markdown(step.text)}"], inner)
                pending.append(replace(each, margin=inner, has_task=True))
                continue
            if each.is_second_list:
                yield from _with_margin([_SEPARATOR], margin)
            is_task = step is not None and block.kind is BlockKind.PARAGRAPH
            if is_task or block.kind in _SET_APART:
                yield from margin.gap()
            margin = margin.nested("* ") if is_task else _inner(each)
            lead = f"{each.number}{_TASK if step else ''}{page_tick(block)}"
            own = self._own_lines(block, lead)
            if own and block.is_withheld:
                own = self._mark_withheld(block, own)
            if step and is_wordless:
                yield from _with_margin([f"{lead}{escape_markdown(step.text)}"], margin)
            elif own or (block.kind is BlockKind.ITEM and not block.children):
                yield from _with_margin(own or [""], margin)
            first = block.children[0].kind if block.children else None
            is_bare = block.kind is BlockKind.CALLOUT and len(own) == 1
            if is_bare and first is BlockKind.PARAGRAPH:
                margin = margin.continued()
            pending += _pending(block.children, margin, of=block)
            self._before = block.text or self._before

    def _own_lines(self, block: Block, lead: str) -> list[str]:
        """Return the lines of a block itself, without its nested blocks."""
        title = " ".join(_to_markdown(block.words).split())
        match block.kind:
            case BlockKind.HEADING if block.level <= _LAST_LEVEL:
                lines = [f"{'#' * block.level} {title}".rstrip()]
            case BlockKind.CALLOUT:
                name = _ALERTS.get(block.callout, "NOTE")
                is_named = block.text.strip(" :!").lower() in {"", block.callout}
                lines = [f"[!{name}]", *([] if is_named else [f"**{title}**"])]
            case BlockKind.HEADING | BlockKind.DETAILS | BlockKind.TAB | BlockKind.DEFINITION:
                lines = [f"{lead}**{title}**"] if title else []
            case BlockKind.CODE:
                lines = self._code(block)
            case BlockKind.TABLE:
                lines = _table(block)
            case BlockKind.RULE:
                lines = ["---"]
            case _ if block.words:
                lines = [
                    _LINE_START.sub(lambda match: f"{match['number'] or ''}\\", line.strip())
                    for line in _to_markdown(block.words).strip().split("\n")
                ]
                lines[0] = f"{lead}{lines[0]}"
                commands = (
                    () if block.is_withheld else inline_commands(block.text, codes(block.words))
                )
                lines = _with_effects(commands, lines, is_above=False)
            case _ if block.children or block.kind is BlockKind.ITEM:
                lines = []
            case _:
                text = block.verbatim or self._page.verbatim(block)
                lines = fence_code(text, "text").split("\n")
        return lines

    def _code(self, block: Block) -> list[str]:
        """Return a code block as the page has it, below the effects of its commands."""
        parts = code_parts(PageCode(block.verbatim, block.language), self._before)
        commands = [part.text for part in parts if part.use is CodeUse.COMMAND]
        language = re.sub(r"[^\w+#.-]", "", block.language)
        lines = fence_code(block.verbatim, language).split("\n")
        return lines if block.is_withheld else _with_effects(commands, lines)

    def _mark_withheld(self, block: Block, own: Sequence[str]) -> list[str]:
        """Return the lines of a block that screening left out, marked.

        For a model only the mark is returned.
        """
        mark = f"*{LEFT_OUT}*"
        if self._for_model:
            return [mark]
        return [f"{own[0]} {mark}", *own[1:]] if block.words else [mark, "", *own]


def _inner(each: _PendingBlock) -> Margin:
    """Return the margin of a block's own lines and of its nested blocks."""
    match each.block.kind:
        case BlockKind.ITEM:
            return each.margin.nested(each.marker or "- ")
        case BlockKind.DEFINITION:
            return each.margin.nested("- ")
        case BlockKind.QUOTE | BlockKind.CALLOUT:
            return each.margin.nested("> ", "> ")
        case _:
            return each.margin


def _pending(
    blocks: Sequence[Block], margin: Margin, *, of: Block | None = None
) -> list[_PendingBlock]:
    """Return consecutive blocks as a stack: the first is the last element."""
    is_list = of is not None and of.kind is BlockKind.LIST
    has_numbers = is_list and _is_counted_up([block.number for block in blocks])
    pending: list[_PendingBlock] = []
    before: Block | None = None
    for block in blocks:
        is_second = before is not None and before.kind is block.kind is BlockKind.LIST
        number = "" if has_numbers or not block.number else f"{escape_markdown(block.number)} "
        marker = f"{block.number} " if has_numbers else "- "
        pending.append(_PendingBlock(block, margin, marker if is_list else "", number, is_second))
        before = block
    return pending[::-1]


def _is_counted_up(numbers: Sequence[str]) -> bool:
    """Return True if a Markdown list shows these numbers: it counts up from its first."""
    matches = [_NUMBER.fullmatch(number) for number in numbers]
    numbers_and_signs = [(int(each[1]), each[2]) for each in matches if each]
    if len(numbers_and_signs) < len(numbers) or not numbers_and_signs:
        return False
    first, sign = numbers_and_signs[0]
    return numbers_and_signs == [(first + n, sign) for n in range(len(numbers_and_signs))]


def _with_effects(
    commands: Sequence[str], lines: Sequence[str], *, is_above: bool = True
) -> list[str]:
    """Return the lines with the effects of their commands, if these do not only look."""
    effects = [(command, effect_of(command).words) for command in commands]
    marks = [
        f"*{code_span(command) + ': ' if len(commands) > 1 else ''}{escape_markdown(words)}*"
        for command, words in effects
        if words
    ]
    if is_above:
        return [*(line for mark in marks for line in (mark, "")), *lines]
    return [*lines, *(line for mark in marks for line in ("", mark))]


def _table(block: Block) -> list[str]:
    # a bar is escaped, in code too
    rows = [
        [re.sub(r"(?<!\\)\|", r"\\|", squeeze(_to_markdown(cell))) for cell in row]
        for row in (block.header, *block.rows)
    ]
    columns = max(map(len, rows))
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    ruled = [filled[0], ["---"] * columns, *filled[1:]]
    return [f"| {' | '.join(row)} |" for row in ruled] if columns else []


def _to_markdown(words: Words) -> str:
    """Return words as escaped Markdown, with the page's line breaks."""
    parts: list[str] = []
    for each in words:
        inner = escape_markdown(each.text) + _to_markdown(each.children)
        match each.kind:
            case InlineKind.CODE:
                parts.append(code_span(each.text))
            case InlineKind.BREAK:
                parts.append("\n")
            case InlineKind.STRONG | InlineKind.EMPHASIS | InlineKind.STRIKE:
                parts.append(_emphasised(inner, _MARKS[each.kind]))
            case InlineKind.LINK | InlineKind.IMAGE:
                is_image = each.kind is InlineKind.IMAGE
                parts.append(_link(f"image: {inner}" if is_image else inner, each.target))
            case _:
                parts.append(inner)
    return "".join(parts)


def _emphasised(inner: str, mark: str) -> str:
    """Return text between marks, which take effect only without spaces inside of them."""
    core = inner.strip()
    if not core:
        return inner
    before, behind = inner[: inner.index(core)], inner[inner.index(core) + len(core) :]
    return f"{before}{mark}{core}{mark}{behind}"


def _link(inner: str, target: str) -> str:
    """Return a link; of an address that is not http(s) only the name and code."""
    is_web = target.lower().startswith(("http://", "https://")) and is_safe_address(target)
    if is_web:
        return f"[{inner or escape_markdown(target)}](<{target}>)"
    return f"{inner} ({code_span(target)})" if target else inner
