"""Placement of what a reading left out: asked of the model once, then hung at the step above.

Nothing of the page gets lost: a block that is neither placed nor left out with a reason that may be
believed becomes a note of the step above it on the page, in the page's words.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import structlog
from pydantic import ConfigDict, Field

from services.kit.value import Value
from services.knowledge.page.block import Block, BlockKind, Page, plain
from services.knowledge.page.parsing import parse_page
from services.llm.chat_model import Message, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import parse_answer
from services.runbook.by_model.question import numbered_lines
from services.runbook.checking.unplaced import UnplacedBlock, blocks_to_place, unplaced_blocks
from services.runbook.editing.apply import apply
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.editing.operations import Insert
from services.runbook.model import (
    Arm,
    Body,
    Choice,
    Do,
    LeftOut,
    LeftOutReason,
    LineRange,
    Loop,
    Node,
    Noted,
    Procedure,
    Remark,
)
from services.runbook.program import line_numbers
from services.runbook.words import text_of

PLACE_PROMPT = load_prompt("services.runbook.by_model", "place")
MOST_BLOCKS = 40
"""Blocks that one question asks about; later ones are hung without being asked for."""
LONGEST_NOTE = 600
"""Characters of a note in the page's words; the rest is on the page."""
_BELIEVED_SHARE = 0.5
"""Share of what should be in steps that reasons may leave out; beyond it no reason counts."""

_OWN_WORDS_ONLY = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH})

_log = structlog.get_logger()

Ask = Callable[[tuple[Message, ...]], str | None]
"""A question to the model; None if there is no answer to be had."""


class Placement(Value):
    """Place of one block: note of a step, step of its own, or left out with a reason."""

    model_config = ConfigDict(extra="ignore")

    line: int
    """First line of the block."""
    note_of: str = ""
    step: str = Field(default="", max_length=2_000)
    after: str | None = None
    before: str | None = None
    last_in: str | None = None
    left_out: LeftOutReason | None = None


class PlacementAnswer(Value):
    """A whole answer."""

    model_config = ConfigDict(title="Placements", extra="ignore")

    placed: tuple[Placement, ...] = Field(max_length=1_000)


class PlacedReading(NamedTuple):
    """Procedures in which every block that instructs is cited, noted or left out with a reason."""

    procedures: tuple[Procedure, ...]
    left_out: tuple[LeftOut, ...]


def place_blocks(
    procedures: Sequence[Procedure], left_out: Sequence[LeftOut], text: str, ask: Ask
) -> PlacedReading:
    """Return the procedures with the rest of the page placed; `ask` is called once at most.

    Nodes must be numbered. Answers that cannot be used are as good as none.
    """
    page = parse_page(text)
    reasons = _believed(procedures, left_out, page)
    procedures = tuple(procedures)
    missing = unplaced_blocks(procedures, reasons, page)
    if missing:
        answer = ask(_question(procedures, missing[:MOST_BLOCKS], page))
        placements = _parse(answer)
        for block in missing[:MOST_BLOCKS]:
            placement = placements.get(block.block.start_line)
            if placement is None:
                continue
            if placement.left_out is not None:
                lines = ((block.block.start_line, block.own_lines[-1]),)
                reasons = (*reasons, LeftOut(lines=lines, reason=placement.left_out))
            else:
                procedures = _placed(procedures, block, placement, page)
        reasons = _believed(procedures, reasons, page)
        for block in unplaced_blocks(procedures, reasons, page):
            procedures = _hung(procedures, block, page)
    return PlacedReading(procedures, reasons)


def _believed(
    procedures: Sequence[Procedure], left_out: Sequence[LeftOut], page: Page
) -> tuple[LeftOut, ...]:
    """Return the reasons, or none of them where they leave out too much of what instructs."""
    excused = len(unplaced_blocks(procedures, (), page))
    excused -= len(unplaced_blocks(procedures, left_out, page))
    is_believed = excused <= _BELIEVED_SHARE * len(blocks_to_place(procedures, page))
    return tuple(left_out) if is_believed else ()


def _question(
    procedures: Sequence[Procedure], missing: Sequence[UnplacedBlock], page: Page
) -> tuple[Message, ...]:
    """Return the question about these blocks."""
    program = "\n\n".join(
        "\n".join((f"Procedure: {each.title}", *_outline(each))) for each in procedures
    )
    lines = [
        line
        for each in missing
        for line in numbered_lines(
            page.lines[each.block.start_line - 1 : each.own_lines[-1]], each.block.start_line
        )
    ]
    return PLACE_PROMPT.render({"program": program, "lines": "\n".join(lines)})


def _outline(procedure: Procedure) -> Iterator[str]:
    """Yield a line for each node and arm: its id, its lines, its words, indented by depth."""

    def rows(body: Body, depth: int) -> Iterator[str]:
        for node in body:
            yield row(node, depth)
            if isinstance(node, Choice):
                for arm in node.arms:
                    yield row(arm, depth + 1)
                    yield from rows(arm.body, depth + 2)
                if node.otherwise:
                    yield f"{'  ' * (depth + 1)}otherwise:"
                    yield from rows(node.otherwise, depth + 2)
            elif isinstance(node, Loop):
                yield from rows(node.body, depth + 1)

    def row(each: Node | Arm, depth: int) -> str:
        lines = ", ".join(f"{first}-{last}" for first, last in each.lines)
        return f"{'  ' * depth}{each.id} [{lines}] {text_of(each)}"

    for name, body in procedure.bodies.items():
        if body:
            yield f"{name}:"
            yield from rows(body, 1)


def _parse(answer: str | None) -> dict[int, Placement]:
    """Return the placements by line, the first of each; none if the answer cannot be read."""
    if answer is None:
        return {}
    try:
        placed = parse_answer(answer, PlacementAnswer).placed
    except ModelAnswerError as error:
        _log.warning("procedure.placement_failed", reason=str(error))
        return {}
    return {each.line: each for each in reversed(placed)}


def _placed(
    procedures: tuple[Procedure, ...], missing: UnplacedBlock, placement: Placement, page: Page
) -> tuple[Procedure, ...]:
    """Return the procedures with the block as the placement says; unchanged where it cannot be."""
    lines = ((missing.block.start_line, missing.own_lines[-1]),)
    if placement.note_of:
        return _with_note(procedures, placement.note_of, words_of_page(missing.block, page), lines)
    place = {"after": placement.after, "before": placement.before, "last_in": placement.last_in}
    if not placement.step.strip():
        return procedures
    node = Do(text=placement.step.strip(), lines=lines)
    changed = list(procedures)
    for number, procedure in enumerate(procedures):
        ids = {each.id for each in procedure.sourced()} | set(procedure.bodies)
        if not ids.isdisjoint(filter(None, place.values())):
            try:
                changed[number] = apply(procedure, [Insert(node=node, **place)])
            except (UnusableOperationError, ValueError):
                return procedures
            return tuple(changed)
    return procedures


def _hung(
    procedures: tuple[Procedure, ...], missing: UnplacedBlock, page: Page
) -> tuple[Procedure, ...]:
    """Return the procedures with the block as a note of the step above it on the page."""
    line = missing.block.start_line
    above: tuple[int, str] = (0, "")
    below: tuple[int, str] | None = None
    for procedure in procedures:
        for node in procedure.walk():
            if not isinstance(node, Noted):
                continue
            for number in sorted(line_numbers(node.lines)):
                if above[0] < number <= line:
                    above = (number, node.id)
                elif number > line and (below is None or number < below[0]):
                    below = (number, node.id)
    id_ = above[1] or (below[1] if below else "")
    lines = ((line, missing.own_lines[-1]),)
    return _with_note(procedures, id_, words_of_page(missing.block, page), lines)


def _with_note(
    procedures: tuple[Procedure, ...], id_: str, text: str, lines: tuple[LineRange, ...]
) -> tuple[Procedure, ...]:
    """Return the procedures with a note at the node of this id, an arm's at its choice."""
    note = Remark(text=text, lines=lines)
    is_done = False

    def noted(node: Node) -> tuple[Node, ...]:
        nonlocal is_done
        arms = {arm.id for arm in node.arms} if isinstance(node, Choice) else set()
        if is_done or not isinstance(node, Noted) or id_ not in {node.id, *arms}:
            return (node,)
        is_done = True
        return (node.model_copy(update={"notes": (*node.notes, note)}),)

    return tuple(procedure.map(node=noted, order="down") for procedure in procedures)


def words_of_page(block: Block, page: Page) -> str:
    """Return the words of a block as a note: cells and code in a row, of a callout all below it."""
    blocks = (block,) if block.kind in _OWN_WORDS_ONLY else block.walk()
    parts = [part for each in blocks if (part := _own_words(each, page))]
    words = " ".join(" · ".join(parts).split())
    return words if len(words) <= LONGEST_NOTE else f"{words[: LONGEST_NOTE - 1]}…"


def _own_words(block: Block, page: Page) -> str:
    if block.kind is BlockKind.CODE:
        return block.verbatim
    if block.kind is BlockKind.TABLE:
        rows = [": ".join(filter(None, map(plain, row))) for row in (block.header, *block.rows)]
        return "; ".join(filter(None, rows))
    return block.text or ("" if block.children else page.verbatim(block))
