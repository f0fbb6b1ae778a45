"""A checklist as GitHub's Markdown: the page with a task at each of its boxes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from services.knowledge.page.block import Block, BlockKind, InlineKind, Page, Words, codes
from services.knowledge.page.boxes import in_place_of_words
from services.procedure.checklist.margin import Margin
from services.procedure.checklist.sections import box_count_words, stretches
from services.procedure.checklist.shown import (
    AS_IT_IS,
    LEFT_OUT,
    boxes_of,
    closed_in,
    leads_to_words,
    page_of,
    without_place,
)
from services.workflow.effects.effect import effect_of
from services.workflow.formats.markdown import CitationLink
from services.workflow.formats.markdown_words import code_span, escaped, fenced, is_safe_address
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
"""Text that would begin a list, a heading or a rule at the head of a line."""
_SET_IN = frozenset({BlockKind.LIST, BlockKind.QUOTE, BlockKind.CALLOUT, BlockKind.DEFINITION})
"""Kinds of blocks that stand apart from what is above them, but have no line at its margin."""
_WITH_TASK = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH, BlockKind.DEFINITION})
"""Kinds of blocks that are a task themselves; any other has one above it."""
_MARKS = {InlineKind.STRONG: "**", InlineKind.EMPHASIS: "*", InlineKind.STRIKE: "~~"}
_SEPARATOR = "<!-- -->"
"""Between two lists, which would be one without it."""


def to_checklist_markdown(
    workflow: Workflow,
    *,
    link: CitationLink | None = None,
    whole: bool = False,
    for_model: bool = False,
) -> str:
    """Return the page with its own numbers and nesting, and a task in the place of each box.

    All of it is escaped as in `to_markdown`; a link that is not http(s) is named only. `whole`
    leaves no section closed, `for_model` leaves out the lines that no model may see.

    Raises:
        ValueError: The workflow shows no page.
    """
    page, boxes = page_of(workflow), boxes_of(workflow)
    closed = frozenset[str]() if whole else closed_in(workflow, page)
    writer = _Writer(page, boxes, for_model=for_model)
    margin = Margin()
    lines = [*_own(_head(workflow, page, link), margin)]
    if workflow.page and workflow.page.links:
        lines += _own(_leads_to(workflow.page.links, link), margin)
    blocks: list[Block] = []
    for stretch in stretches(page, closed):
        blocks.append(stretch.block)
        if stretch.closed is not None:
            lines += writer.lines(blocks, margin)
            lines += _own([f"*{box_count_words(stretch, boxes)}, not asked for*"], margin)
            blocks = []
    lines += writer.lines(blocks, margin)
    for step in without_place(workflow, page):
        lines += _own([f"* {_TASK}{escaped(step.text)}"], margin)
        for command in step.commands:
            lines += _own(_with_effects([command], fenced(command, "sh").split("\n")), margin)
    for step in workflow.of_kind(StepKind.DECISION):
        ways = [f"- {escaped(edge.condition)}" for edge in workflow.exits(step.id)]
        lines += _own([f"**{escaped(step.text)}**", "", *ways], margin)
    return "\n".join(lines) + "\n"


def _head(workflow: Workflow, page: Page, link: CitationLink | None) -> list[str]:
    """Return the title, how far it may be relied on, and the document."""
    first = page.blocks[0] if page.blocks else None
    is_titled = first is not None and (first.level, first.text) == (1, workflow.title)
    title = [] if is_titled else [f"# {escaped(workflow.title).strip() or 'Checklist'}", ""]
    document_id = workflow.page.document_id if workflow.page else ""
    name = escaped(document_id)
    whole = Citation(document_id=document_id, start_line=1, end_line=len(page.lines))
    address = link(whole) if link else ""
    source = f"[{name}](<{address}>)" if is_safe_address(address) else name
    return [*title, f"*{AS_IT_IS}*", "", f"Source: {source}"]


def _leads_to(links: Sequence[LinkedPage], link: CitationLink | None) -> list[str]:
    """Return the pages that one which is mostly links leads to."""
    lines = [f"**{leads_to_words(links)}**", ""]
    for each in links:
        there = Citation(document_id=each.document_id, start_line=1, end_line=1)
        address = link(there) if link else ""
        name = escaped(" ".join(each.title.split())) or escaped(each.document_id)
        named = f"[{name}](<{address}>)" if is_safe_address(address) else name
        lines.append(f"- {named} ({code_span(each.document_id)})")
    return lines


def _own(lines: Sequence[str], margin: Margin) -> Iterator[str]:
    """Yield lines behind their margin, apart from what stands above them."""
    yield from margin.gap()
    for line in lines:
        taken = margin.take()
        yield f"{taken}{line}" if line else taken.rstrip()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A block that is not written yet, and what stands before it."""

    block: Block
    margin: Margin
    marker: str = ""
    """Of an item."""
    number: str = ""
    """Of an item whose marker is not its number."""
    is_second_list: bool = False
    """Whether a list stands directly before it, which it is no part of."""
    has_task: bool = False
    """Whether its task was written above it."""


class _Writer:
    """Writes blocks, however deep they are nested, without calling itself."""

    def __init__(self, page: Page, boxes: Mapping[str, Step], *, for_model: bool) -> None:
        self._page = page
        self._boxes = boxes
        self._for_model = for_model
        self._before = ""
        """The words written last, which say what the code below them is."""

    def lines(self, blocks: Sequence[Block], margin: Margin) -> Iterator[str]:
        """Yield the lines of blocks that follow one another, with all that is nested in them."""
        waiting = _waiting(blocks, margin)
        while waiting:
            each = waiting.pop()
            block, margin = each.block, each.margin
            step = None if each.has_task else self._boxes.get(block.key)
            is_wordless = in_place_of_words(block) is not None
            if step and (block.kind not in _WITH_TASK or not (block.words or is_wordless)):
                yield from margin.gap()
                inner = margin.nested(each.marker or "* ")
                yield from _own([f"{_TASK}{escaped(step.text)}"], inner)
                waiting.append(replace(each, margin=inner, has_task=True))
                continue
            if each.is_second_list:
                yield from _own([_SEPARATOR], margin)
            is_task = step is not None and block.kind is BlockKind.PARAGRAPH
            if is_task or block.kind in _SET_IN:
                yield from margin.gap()
            margin = margin.nested("* ") if is_task else _inner(each)
            lead = f"{each.number}{_TASK if step else ''}{_page_tick(block)}"
            own = self._own_lines(block, lead)
            if own and block.is_withheld:
                own = self._withheld(block, own)
            if step and is_wordless:
                yield from _own([f"{lead}{escaped(step.text)}"], margin)
            elif own or (block.kind is BlockKind.ITEM and not block.children):
                yield from _own(own or [""], margin)
            first = block.children[0].kind if block.children else None
            is_bare = block.kind is BlockKind.CALLOUT and len(own) == 1
            if is_bare and first is BlockKind.PARAGRAPH:
                margin = margin.again()
            waiting += _waiting(block.children, margin, of=block)
            self._before = block.text or self._before

    def _own_lines(self, block: Block, lead: str) -> list[str]:
        """Return the lines that are a block's own, none of what is nested in it."""
        title = " ".join(_written(block.words).split())
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
                lines = [_line(line) for line in _written(block.words).strip().split("\n")]
                lines[0] = f"{lead}{lines[0]}"
                commands = (
                    () if block.is_withheld else inline_commands(block.text, codes(block.words))
                )
                lines = _with_effects(commands, lines, is_above=False)
            case _ if block.children or block.kind is BlockKind.ITEM:
                lines = []
            case _:
                text = block.verbatim or self._page.verbatim(block)
                lines = fenced(text, "text").split("\n")
        return lines

    def _code(self, block: Block) -> list[str]:
        """Return a code block as the page has it, below what its commands do."""
        parts = code_parts(PageCode(block.verbatim, block.language), self._before)
        commands = [part.text for part in parts if part.use is CodeUse.COMMAND]
        language = re.sub(r"[^\w+#.-]", "", block.language)
        lines = fenced(block.verbatim, language).split("\n")
        return lines if block.is_withheld else _with_effects(commands, lines)

    def _withheld(self, block: Block, own: Sequence[str]) -> list[str]:
        """Return the lines of a block that screening left out, marked; for a model the mark."""
        mark = f"*{LEFT_OUT}*"
        if self._for_model:
            return [mark]
        return [f"{own[0]} {mark}", *own[1:]] if block.words else [mark, "", *own]


def _inner(each: _Waiting) -> Margin:
    """Return the margin of a block's own lines and of what is nested in it."""
    match each.block.kind:
        case BlockKind.ITEM:
            return each.margin.nested(each.marker or "- ")
        case BlockKind.DEFINITION:
            return each.margin.nested("- ")
        case BlockKind.QUOTE | BlockKind.CALLOUT:
            return each.margin.nested("> ", "> ")
        case _:
            return each.margin


def _waiting(blocks: Sequence[Block], margin: Margin, *, of: Block | None = None) -> list[_Waiting]:
    """Return blocks that follow one another, the first last."""
    is_list = of is not None and of.kind is BlockKind.LIST
    has_numbers = is_list and _is_counted([block.number for block in blocks])
    waiting: list[_Waiting] = []
    before: Block | None = None
    for block in blocks:
        is_second = before is not None and before.kind is block.kind is BlockKind.LIST
        number = "" if has_numbers or not block.number else f"{escaped(block.number)} "
        marker = f"{block.number} " if has_numbers else "- "
        waiting.append(_Waiting(block, margin, marker if is_list else "", number, is_second))
        before = block
    return waiting[::-1]


def _is_counted(numbers: Sequence[str]) -> bool:
    """Whether a list of Markdown shows these numbers: it counts from its first one."""
    matched = [_NUMBER.fullmatch(number) for number in numbers]
    found = [(int(each[1]), each[2]) for each in matched if each]
    if len(found) < len(numbers) or not found:
        return False
    first, sign = found[0]
    return found == [(first + n, sign) for n in range(len(found))]


def _page_tick(block: Block) -> str:
    """Return the tick that the page itself has at an item of a task list."""
    if block.is_checked is None:
        return ""
    return "☑ " if block.is_checked else "☐ "


def _with_effects(
    commands: Sequence[str], lines: Sequence[str], *, is_above: bool = True
) -> list[str]:
    """Return lines with what their commands do where these do not only look."""
    told = [(command, effect_of(command).words) for command in commands]
    marks = [
        f"*{code_span(command) + ': ' if len(commands) > 1 else ''}{escaped(words)}*"
        for command, words in told
        if words
    ]
    if is_above:
        return [*(line for mark in marks for line in (mark, "")), *lines]
    return [*lines, *(line for mark in marks for line in ("", mark))]


def _table(block: Block) -> list[str]:
    rows = [[_cell(cell) for cell in row] for row in (block.header, *block.rows)]
    columns = max(map(len, rows))
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    ruled = [filled[0], ["---"] * columns, *filled[1:]]
    return [f"| {' | '.join(row)} |" for row in ruled] if columns else []


def _cell(words: Words) -> str:
    """Return a cell on one line; the bar is escaped in its code, too."""
    text = " ".join(_written(words).split())
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _line(text: str) -> str:
    """Return a line whose beginning begins nothing else."""
    return _LINE_START.sub(lambda found: f"{found['number'] or ''}\\", text.strip())


def _written(words: Words) -> str:
    """Return words as Markdown, escaped, and a new line where the page has one."""
    parts: list[str] = []
    for each in words:
        inner = escaped(each.text) + _written(each.children)
        match each.kind:
            case InlineKind.CODE:
                parts.append(code_span(each.text))
            case InlineKind.BREAK:
                parts.append("\n")
            case InlineKind.STRONG | InlineKind.EMPHASIS | InlineKind.STRIKE:
                parts.append(_marked(inner, _MARKS[each.kind]))
            case InlineKind.LINK | InlineKind.IMAGE:
                is_image = each.kind is InlineKind.IMAGE
                parts.append(_linked(f"image: {inner}" if is_image else inner, each.target))
            case _:
                parts.append(inner)
    return "".join(parts)


def _marked(inner: str, mark: str) -> str:
    """Return text between marks, which take effect only where no space is inside of them."""
    core = inner.strip()
    if not core:
        return inner
    before, behind = inner[: inner.index(core)], inner[inner.index(core) + len(core) :]
    return f"{before}{mark}{core}{mark}{behind}"


def _linked(inner: str, target: str) -> str:
    """Return a link; an address of another kind, or within the team's pages, is named only."""
    is_web = target.lower().startswith(("http://", "https://")) and is_safe_address(target)
    if is_web:
        return f"[{inner or escaped(target)}](<{target}>)"
    return f"{inner} ({code_span(target)})" if target else inner
