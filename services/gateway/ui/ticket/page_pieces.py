"""The blocks of a page in a row, as a template prints them: however deep they are nested."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from services.contracts.adoption import StepState
from services.gateway.ui.page_links import PageLinks
from services.gateway.ui.ticket.phrases import Phrase, phrases
from services.gateway.ui.ticket.views import NumberedStep
from services.knowledge.page.block import Block, BlockKind, Page, Words, codes
from services.knowledge.page.boxes import candidates
from services.procedure.checklist.build import first_instruction
from services.procedure.checklist.shown import options_in
from services.workflow.effects.queries import is_metric_query
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands

_MOST_LINES = 12
"""Lines of output that stand open."""
_LEASTCLOSED = 3
"""Fewer lines more are not worth a click."""
_DEEPEST = 8
"""Lists in one another that are set in further each."""
_FIRST_LEVEL = 3
"""Of the page's headings: above them stand the ticket's and the page's own title."""
_LAST_LEVEL = 6
_VERBATIM = frozenset({BlockKind.CODE, BlockKind.OTHER, BlockKind.COMMENT})
CLOSED = frozenset({BlockKind.REFERENCE, BlockKind.CONTENTS, BlockKind.FRONT_MATTER})
"""Kinds that nobody reads to act."""
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
"""Characters; who ends a line before that does not wrap a long one."""
_LIST_MARK = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])\s")


@dataclass(frozen=True, slots=True)
class Box:
    """A step to tick off, and what was done with it."""

    item: NumberedStep
    hands_over: bool = False
    """Whether its words say to give the work to somebody else."""

    @property
    def state(self) -> StepState:
        """What was done with it."""
        return self.item.work.state

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to do with it."""
        return self.state is not StepState.OPEN


@dataclass(frozen=True, slots=True)
class ShownCode:
    """Lines of a code block that are of one use, with those that stand behind a click."""

    use: str
    """A `CodeUse`, or `query` and `text`."""
    text: str
    prompt: str = ""
    rest: str = ""

    @property
    def more(self) -> int:
        """How many lines stand behind a click."""
        return self.rest.count("\n") + 1 if self.rest else 0


@dataclass(frozen=True, slots=True)
class Piece:
    """The beginning of a block with its own words, or its end."""

    block: Block
    name: str
    """Its kind, or `references` of several."""
    is_end: bool = False
    depth: int = 0
    """Blocks around it."""
    nesting: int = 0
    """Of a list: lists around it."""
    is_deep: bool = False
    """Of a list: whether it is not set in any further than the one around it."""
    level: int = 0
    """Of a heading: which one it is on the page here; 0 of one inside another block."""
    words: tuple[Phrase, ...] = ()
    is_candidate: bool = False
    """Whether an owner may say that it is a step, or none."""
    label: str = ""
    """Of such a one: the words that it is named by."""
    has_breaks: bool = False
    """Whether its words say where their lines end."""
    box: Box | None = None
    is_option: bool = False
    """Whether it is one of several of which one is to be chosen, and no step by itself."""
    has_options: bool = False
    """Whether it is the step that leads them."""
    options_of: str = ""
    """Of a list: the words that lead its options."""
    commands: tuple[str, ...] = ()
    """Typed, among its words."""
    code: tuple[ShownCode, ...] = ()
    header: tuple[tuple[Phrase, ...], ...] = ()
    rows: tuple[tuple[tuple[Phrase, ...], ...], ...] = ()
    lines: tuple[str, ...] = ()
    """Of references: as the page writes them."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A block that is not printed yet, or several references, and where it stands."""

    blocks: tuple[Block, ...]
    depth: int
    nesting: int


class _Options(NamedTuple):
    """Keys of the blocks of which one is to be chosen, of what leads them, and of their lists."""

    items: frozenset[str]
    leads: frozenset[str]
    lists: Mapping[str, str]
    """With the words that lead the options."""


class PagePieces:
    """Turns blocks of a page into pieces."""

    def __init__(
        self,
        page: Page,
        links: PageLinks,
        boxes: Mapping[str, Box],
    ) -> None:
        """`boxes` are those of the page by the keys of their blocks."""
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

    def of(self, blocks: Sequence[Block], *, depth: int = 0) -> Iterator[Piece]:
        """Yield the pieces of outermost blocks; `depth` headings above them are not shown."""
        waiting: list[_Waiting | Piece] = [*_waiting(blocks, 0, 0)]
        before = ""
        while waiting:
            each = waiting.pop()
            if isinstance(each, Piece):
                yield each
                continue
            block = each.blocks[0]
            piece = self._piece(each, before, hidden=depth)
            yield piece
            before = block.text or before
            if block.kind in _CONTAINERS:
                waiting.append(replace(piece, is_end=True))
            nesting = each.nesting + (block.kind is BlockKind.LIST)
            waiting += _waiting(block.children, each.depth + 1, nesting)

    def _piece(self, each: _Waiting, before: str, *, hidden: int) -> Piece:
        block = each.blocks[0]
        own = range(block.start_line, self._own_end(block) + 1)
        commands = () if block.is_withheld else inline_commands(block.text, codes(block.words))
        is_candidate = block.key in self._candidates
        is_outermost = not each.depth and block.kind is BlockKind.HEADING
        level = _FIRST_LEVEL + self._above[block.key] - hidden if is_outermost else 0
        return Piece(
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
        """Return the last line that is its own, none of what is nested in it."""
        if block.lead_end or not block.children:
            return block.own_end
        return max(block.start_line, block.children[0].start_line - 1)

    def _cells(self, block: Block, row: tuple[Words, ...]) -> tuple[tuple[Phrase, ...], ...]:
        return tuple(phrases(cell, self._links, block.start_line) for cell in row)


def _has_breaks(lines: Sequence[str]) -> bool:
    """Whether the writer of these lines means where they end, and does not merely wrap them."""
    return any(
        above.endswith(("  ", "\\"))
        or "<br" in above
        or len(above) < _SHORT_LINE
        or _LIST_MARK.match(below) is not None
        for above, below in pairwise(lines)
    ) or any("<br" in line for line in lines[-1:])


def _waiting(blocks: Sequence[Block], depth: int, nesting: int) -> list[_Waiting]:
    """Return the blocks, the first last; references that follow one another are together."""
    found: list[_Waiting] = []
    for is_reference, group in groupby(blocks, key=lambda each: each.kind is BlockKind.REFERENCE):
        run = tuple(group)
        together = [run] if is_reference else [(each,) for each in run]
        found += [_Waiting(each, depth, nesting) for each in together]
    return found[::-1]


def _options(page: Page, boxes: Collection[str]) -> _Options:
    """Return the either/ors of a page whose lead is a box, and its options none by themselves."""
    words: dict[str, str] = {}
    found = options_in(page, boxes)
    for place in page.places():
        for option in found.get(place.block.key, ()):
            words[option.key] = place.block.text
    lists = {
        place.parents[-1].key: words[place.block.key]
        for place in page.places()
        if place.block.key in words and place.parents
    }
    return _Options(frozenset(words), frozenset(found), lists)


def _shown_code(block: Block, before: str) -> Iterator[ShownCode]:
    if _is_query(block) and not block.is_withheld:
        yield ShownCode("query", block.verbatim)
    elif block.kind is BlockKind.CODE and not block.is_withheld:
        for part in code_parts(PageCode(block.verbatim, block.language), before):
            if part.use is CodeUse.COMMAND:
                yield ShownCode(part.use.value, part.text, part.prompt)
            else:
                yield _folded(part.use.value, part.text)
    elif block.kind in _VERBATIM:
        yield _folded("output" if block.kind is BlockKind.CODE else "text", block.verbatim)


def _is_query(block: Block) -> bool:
    """Whether the code is one query of a time-series database, over several lines or not."""
    is_code = block.kind is BlockKind.CODE
    return is_code and (
        block.language in _QUERY_LANGUAGES or is_metric_query(block.verbatim.lstrip("(\n "))
    )


def _folded(use: str, text: str) -> ShownCode:
    lines = text.split("\n")
    if len(lines) < _MOST_LINES + _LEASTCLOSED:
        return ShownCode(use, text)
    rest = "\n".join(lines[_MOST_LINES:])
    return ShownCode(use, "\n".join(lines[:_MOST_LINES]), rest=rest)
