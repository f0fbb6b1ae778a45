"""Blocks of a page that a reading neither cites nor leaves out with a reason."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.block import Block, BlockKind, Page, Place, codes
from services.knowledge.page.boxes import find_boxes
from services.runbook.checking.left_out import BACKGROUND_ROLES
from services.runbook.model import LeftOut, Procedure
from services.runbook.program import line_numbers, lines_of
from services.workflow.page_code import CodeUse, PageCode, code_parts, inline_commands

WARNINGS = frozenset({"warning", "caution", "danger", "important"})
"""Types of callouts that no reason may leave out."""


class UnplacedKind(StrEnum):
    """Kind of block that should be in some step."""

    CALLOUT = "callout"
    COMMAND = "command"
    TABLE = "table"
    ITEM = "item"
    PARAGRAPH = "paragraph"


class UnplacedBlock(NamedTuple):
    """A block of the page that no step, note or reason accounts for."""

    place: Place
    kind: UnplacedKind

    @property
    def block(self) -> Block:
        """Return the block itself."""
        return self.place.block

    @property
    def own_lines(self) -> range:
        """Return its lines: those of an item or paragraph without what is nested in it."""
        is_whole = self.kind in {UnplacedKind.CALLOUT, UnplacedKind.COMMAND, UnplacedKind.TABLE}
        last = self.block.end_line if is_whole else self.block.own_end
        return range(self.block.start_line, last + 1)

    @property
    def is_warning(self) -> bool:
        """True if it warns, so that no reason leaves it out."""
        return self.block.kind is BlockKind.CALLOUT and self.block.callout in WARNINGS


def unplaced_blocks(
    procedures: Sequence[Procedure], left_out: Sequence[LeftOut], page: Page
) -> list[UnplacedBlock]:
    """Return the callouts, commands, tables, items and instructing paragraphs in no step.

    Those of the sections that instruct, and of any section that the procedures cite; warnings count
    in every section. None for a page without a procedure.
    """
    cited = {line for procedure in procedures for line in lines_of(procedure)}
    reasons = line_numbers(lines for each in left_out for lines in each.lines)
    return [
        each
        for each in blocks_to_place(procedures, page)
        if cited.isdisjoint(each.own_lines)
        and (each.is_warning or reasons.isdisjoint(each.own_lines))
    ]


def blocks_to_place(procedures: Sequence[Procedure], page: Page) -> list[UnplacedBlock]:
    """Return the blocks that should be in steps, whether or not they are."""
    cited = {line for procedure in procedures for line in lines_of(procedure)}
    if not cited:
        return []
    boxes = {box.block.key for box in find_boxes(page)}
    background = set(_background_lines(page, cited))
    candidates = (UnplacedBlock(place, kind) for place, kind in _kinds(page, boxes))
    return [each for each in candidates if each.is_warning or background.isdisjoint(each.own_lines)]


def _kinds(page: Page, boxes: set[str]) -> Iterator[tuple[Place, UnplacedKind]]:
    before = ""
    for place in page.places():
        block, text_before = place.block, before
        before = "" if block.kind is BlockKind.HEADING else block.text or before
        match block.kind:
            case BlockKind.CALLOUT:
                yield place, UnplacedKind.CALLOUT
            case BlockKind.CODE:
                parts = code_parts(PageCode(block.verbatim, block.language), text_before)
                if any(part.use is CodeUse.COMMAND for part in parts):
                    yield place, UnplacedKind.COMMAND
            case BlockKind.TABLE:
                yield place, UnplacedKind.TABLE
            case BlockKind.ITEM if block.text:
                yield place, UnplacedKind.ITEM
            case BlockKind.PARAGRAPH:
                if inline_commands(block.text, codes(block.words)):
                    yield place, UnplacedKind.COMMAND
                elif block.key in boxes:
                    yield place, UnplacedKind.PARAGRAPH


def _background_lines(page: Page, cited: set[int]) -> Iterator[int]:
    """Yield the lines of sections that instruct nobody and that no step cites."""
    for section in page.sections():
        own_end = section.blocks[-1].end_line if section.blocks else section.start_line
        lines = range(section.start_line, own_end + 1)
        if (
            section.heading
            and role_of_heading(section.heading.text) in BACKGROUND_ROLES
            and cited.isdisjoint(lines)
        ):
            yield from lines
