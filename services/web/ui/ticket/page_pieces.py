"""The blocks of a page, however deeply nested, as a flat sequence for a template."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from services.contracts.adoption import StepState
from services.knowledge.page.block import Block, BlockKind, Page, Words, codes
from services.knowledge.page.boxes import candidates
from services.runbook.checklist.build import first_instruction
from services.runbook.checklist.shown import options_in
from services.web.ui.page_links import PageLinks
from services.web.ui.ticket.phrases import Phrase, phrases
from services.web.ui.ticket.views import NumberedStep
from services.workflow.effects.queries import is_metric_query
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands

_MOST_LINES = 12
"""Lines of output that are shown open."""
_LEAST_FOLDED = 3
"""Least number of lines that are folded: fewer are not worth a click."""
_DEEPEST = 8
"""Levels of nested lists that are indented further each."""
_BELOW_TICKET = 3
"""Level of the page's first headings below the ticket's and the page's title."""
_LAST_LEVEL = 6
_VERBATIM = frozenset({BlockKind.CODE, BlockKind.OTHER, BlockKind.COMMENT})
CLOSED = frozenset({BlockKind.REFERENCE, BlockKind.CONTENTS, BlockKind.FRONT_MATTER})
"""Kinds of blocks that nobody reads to act on."""
_QUERY_LANGUAGES = frozenset({"promql", "logql", "metricsql"})
_CONTAINERS = CLOSED | {
    BlockKind.LIST,
    BlockKind.ITEM,
    BlockKind.CALLOUT,
    BlockKind.QUOTE,
    BlockKind.TABS,
    BlockKind.TAB,
    BlockKind.DETAILS,
    BlockKind.DEFINITIONS,
    BlockKind.DEFINITION,
    BlockKind.GROUP,
}
_SHORT_LINE = 50
"""Characters; a writer who ends a line before that does not wrap a long one."""
_LIST_MARK = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])\s")


@dataclass(frozen=True, slots=True)
class ChecklistBox:
    """A step to tick off, and what was done with it."""

    item: NumberedStep
    hands_over: bool = False
    """True if its words say to give the work to somebody else."""

    @property
    def state(self) -> StepState:
        """The state of the step."""
        return self.item.work.state

    @property
    def is_settled(self) -> bool:
        """True if nothing is left to do with it."""
        return self.state is not StepState.OPEN


@dataclass(frozen=True, slots=True)
class ShownCode:
    """Lines of a code block that are of one use; `rest` is folded behind a click."""

    use: str
    """A `CodeUse`, or `query` or `text`."""
    text: str
    prompt: str = ""
    rest: str = ""

    @property
    def more(self) -> int:
        """Number of lines that are folded."""
        return self.rest.count("\n") + 1 if self.rest else 0


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """The beginning of a block with its own words, or the end of a block."""

    block: Block
    name: str
    """The block's kind, or `references` for several."""
    is_end: bool = False
    depth: int = 0
    """Number of blocks around it."""
    nesting: int = 0
    """Number of lists around a list."""
    is_deep: bool = False
    """True if a list is not indented further than the one around it."""
    level: int = 0
    """Level of a heading on this page; 0 for a heading inside another block."""
    words: tuple[Phrase, ...] = ()
    is_candidate: bool = False
    """True if an owner may say whether it is a step."""
    label: str = ""
    """The words by which such a candidate is named."""
    has_breaks: bool = False
    """True if the writer's line breaks are meant and have to be kept."""
    box: ChecklistBox | None = None
    is_option: bool = False
    """True if it is one of several options to choose from, and no step by itself."""
    has_options: bool = False
    """True if it is the step that leads the options."""
    options_of: str = ""
    """The words that lead the options of a list."""
    commands: tuple[str, ...] = ()
    """Commands to type, among its words."""
    code: tuple[ShownCode, ...] = ()
    header: tuple[tuple[Phrase, ...], ...] = ()
    rows: tuple[tuple[tuple[Phrase, ...], ...], ...] = ()
    lines: tuple[str, ...] = ()
    """Lines of references, as the page writes them."""


@dataclass(frozen=True, slots=True)
class _PendingBlocks:
    """A block, or several references, not emitted yet, with its depth in the page."""

    blocks: tuple[Block, ...]
    depth: int
    nesting: int


class _Options(NamedTuple):
    """Keys of the option blocks, of the blocks that lead them, and of their lists."""

    items: frozenset[str]
    leads: frozenset[str]
    lists: Mapping[str, str]
    """Words that lead the options, by the key of their list."""


class PagePieces:
    """Converter of a page's blocks to pieces."""

    def __init__(
        self,
        page: Page,
        links: PageLinks,
        boxes: Mapping[str, ChecklistBox],
        *,
        first_level: int = _BELOW_TICKET,
    ) -> None:
        """Prepare the page.

        Args:
            page: The page.
            links: Its links.
            boxes: Its boxes, by the keys of their blocks.
            first_level: Level of the page's first headings, from 1.
        """
        self._first_level = first_level
        self._page = page
        self._links = links
        self._boxes = boxes
        self._options = _options(page, boxes)
        self._candidates = {place.block.key for place in candidates(page)}
        self._above = {
            place.block.key: len(place.headings)
            for place in page.places()
            if place.block.kind is BlockKind.HEADING and not place.parents
        }

    def of(self, blocks: Sequence[Block], *, depth: int = 0) -> Iterator[BlockPiece]:
        """Yield the pieces of outermost blocks; `depth` headings above them are not shown."""
        stack: list[_PendingBlocks | BlockPiece] = [*_pending_blocks(blocks, 0, 0)]
        before = ""
        while stack:
            each = stack.pop()
            if isinstance(each, BlockPiece):
                yield each
                continue
            block = each.blocks[0]
            piece = self._piece(each, before, hidden=depth)
            yield piece
            before = block.text or before
            if block.kind in _CONTAINERS:
                stack.append(replace(piece, is_end=True))
            nesting = each.nesting + (block.kind is BlockKind.LIST)
            stack += _pending_blocks(block.children, each.depth + 1, nesting)

    def _piece(self, each: _PendingBlocks, before: str, *, hidden: int) -> BlockPiece:
        block = each.blocks[0]
        own = range(block.start_line, self._own_end(block) + 1)
        commands = () if block.is_withheld else inline_commands(block.text, codes(block.words))
        is_candidate = block.key in self._candidates
        is_outermost = not each.depth and block.kind is BlockKind.HEADING
        level = self._first_level + self._above[block.key] - hidden if is_outermost else 0
        return BlockPiece(
            block=block,
            name="references" if block.kind is BlockKind.REFERENCE else block.kind.value,
            depth=each.depth,
            is_deep=each.nesting >= _DEEPEST,
            nesting=each.nesting,
            level=min(level, _LAST_LEVEL),
            words=phrases(block.words, self._links, block.start_line, commands),
            is_candidate=is_candidate,
            label=block.text or first_instruction(block) if is_candidate else "",
            has_breaks=_has_breaks(self._page.lines[own.start - 1 : own.stop - 1]),
            box=self._boxes.get(block.key),
            is_option=block.key in self._options.items,
            has_options=block.key in self._options.leads,
            options_of=self._options.lists.get(block.key, ""),
            commands=commands,
            code=tuple(_shown_code(block, before)),
            header=self._cells(block, block.header),
            rows=tuple(self._cells(block, row) for row in block.rows),
            lines=tuple(map(self._page.verbatim, each.blocks))
            if block.kind in CLOSED and not block.children
            else (),
        )

    def _own_end(self, block: Block) -> int:
        """Return the last line of the block itself, without its nested blocks."""
        if block.lead_end or not block.children:
            return block.own_end
        return max(block.start_line, block.children[0].start_line - 1)

    def _cells(self, block: Block, row: tuple[Words, ...]) -> tuple[tuple[Phrase, ...], ...]:
        return tuple(phrases(cell, self._links, block.start_line) for cell in row)


def _has_breaks(lines: Sequence[str]) -> bool:
    """Return True if the writer means the line breaks, and does not merely wrap lines."""
    return any(
        above.endswith(("  ", "\\"))
        or "<br" in above
        or len(above) < _SHORT_LINE
        or _LIST_MARK.match(below) is not None
        for above, below in pairwise(lines)
    ) or any("<br" in line for line in lines[-1:])


def _pending_blocks(blocks: Sequence[Block], depth: int, nesting: int) -> list[_PendingBlocks]:
    """Return the blocks in reverse order; consecutive references are kept together."""
    pending: list[_PendingBlocks] = []
    for is_reference, group in groupby(blocks, key=lambda each: each.kind is BlockKind.REFERENCE):
        run = tuple(group)
        together = [run] if is_reference else [(each,) for each in run]
        pending += [_PendingBlocks(each, depth, nesting) for each in together]
    return pending[::-1]


def _options(page: Page, boxes: Collection[str]) -> _Options:
    """Return the option lists of a page whose lead is a box, so that no option is a step."""
    words: dict[str, str] = {}
    options_by_lead = options_in(page, boxes)
    for place in page.places():
        for option in options_by_lead.get(place.block.key, ()):
            words[option.key] = place.block.text
    lists = {
        place.parents[-1].key: words[place.block.key]
        for place in page.places()
        if place.block.key in words and place.parents
    }
    return _Options(frozenset(words), frozenset(options_by_lead), lists)


def _shown_code(block: Block, before: str) -> Iterator[ShownCode]:
    is_query = block.kind is BlockKind.CODE and (
        block.language in _QUERY_LANGUAGES or is_metric_query(block.verbatim.lstrip("(\n "))
    )
    if is_query and not block.is_withheld:
        yield ShownCode("query", block.verbatim)
    elif block.kind is BlockKind.CODE and not block.is_withheld:
        for part in code_parts(PageCode(block.verbatim, block.language), before):
            if part.use is CodeUse.COMMAND:
                yield ShownCode(part.use.value, part.text, part.prompt)
            else:
                yield _fold(part.use.value, part.text)
    elif block.kind in _VERBATIM:
        yield _fold("output" if block.kind is BlockKind.CODE else "text", block.verbatim)


def _fold(use: str, text: str) -> ShownCode:
    lines = text.split("\n")
    if len(lines) < _MOST_LINES + _LEAST_FOLDED:
        return ShownCode(use, text)
    rest = "\n".join(lines[_MOST_LINES:])
    return ShownCode(use, "\n".join(lines[:_MOST_LINES]), rest=rest)
