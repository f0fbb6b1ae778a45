"""Placement of what a reading left out: asked of the model once, then hung at the step above.

Nothing of the page gets lost: a block that is neither placed nor left out with a reason that may be
believed becomes a note of the step above it on the page, in the page's words.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import structlog
from pydantic import ConfigDict, Field, ValidationError

from services.kit.observability.redaction import redact
from services.kit.value import Value
from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.parsing import parse_page
from services.language.words import tokenise
from services.llm.chat_model import Message, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import parse_answer
from services.runbook.by_model.page_content import (
    OWN_SHARE,
    shares_words,
    words_of_page,
)
from services.runbook.by_model.question import numbered_lines
from services.runbook.checking.check import UNSURE, UnusableReadingError, check_reading
from services.runbook.checking.cited_blocks import is_forbidden
from services.runbook.checking.unplaced import (
    UnplacedBlock,
    UnplacedKind,
    blocks_to_place,
    unplaced_blocks,
)
from services.runbook.editing.apply import apply
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.editing.operations import Insert
from services.runbook.lowering import lower
from services.runbook.model import (
    Arm,
    Body,
    Choice,
    Do,
    End,
    Jump,
    LeftOut,
    LeftOutReason,
    Loop,
    Node,
    Noted,
    Procedure,
    Reader,
    Reading,
    Remark,
)
from services.runbook.program import line_numbers
from services.runbook.words import text_of

PLACE_PROMPT = load_prompt("services.runbook.by_model", "place")
MOST_BLOCKS = 40
"""Blocks that one question asks about; later ones are hung without being asked for."""
_BELIEVED_SHARE = 0.5
"""Share of what should be in steps that reasons may leave out; beyond it no reason counts."""


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
    outlines = [
        _outline(each, f"p{number}." if len(procedures) > 1 else "")
        for number, each in enumerate(procedures, start=1)
    ]
    program = "\n\n".join("\n".join(each) for each in outlines)
    redacted = redact("\n".join(page.lines)).split("\n")
    lines = [
        line
        for each in missing
        for line in numbered_lines(
            redacted[each.block.start_line - 1 : each.own_lines[-1]], each.block.start_line
        )
    ]
    return PLACE_PROMPT.render({"program": program, "lines": "\n".join(lines)})


def _outline(procedure: Procedure, prefix: str) -> Iterator[str]:
    """Yield a line for each node and arm: its id, its lines, its words, indented by depth.

    The `prefix` tells ids of several procedures apart.
    """

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
        return f"{'  ' * depth}{prefix}{each.id} [{lines}] {text_of(each)}"

    yield f"Procedure: {procedure.title}"
    for name, body in procedure.bodies.items():
        if body:
            yield f"{prefix}{name}:"
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
    """Return the procedures with the block as the placement says; unchanged where it cannot be.

    A callout may be a note alone. The words of a step are the answer's if the page has them, and
    speak to no model.
    """
    lines = ((missing.block.start_line, missing.own_lines[-1]),)
    page_words = words_of_page(missing.block, page)
    if placement.note_of:
        number, id_ = _at(procedures, placement.note_of)
        return _with_note(procedures, number, id_, Remark(text=page_words, lines=lines))
    text = placement.step.strip()
    reference = placement.after or placement.before or placement.last_in
    if not text or not reference or missing.kind is UnplacedKind.CALLOUT:
        return procedures
    is_code = missing.block.kind is BlockKind.CODE  # its commands are the page's own
    least = 1 / max(1, len(tokenise(text))) if is_code else OWN_SHARE
    if not shares_words(text, page_words, least):
        return procedures
    number, id_ = _at(procedures, reference)
    target = next((each for each in procedures[number].walk() if each.id == id_), None)
    relation = "after" if placement.after else "before" if placement.before else "last_in"
    if relation == "after" and isinstance(target, End | Jump):
        relation = "before"
    is_doubtful = is_forbidden(text, (missing.block,))
    node = Do(text=text, lines=lines, confidence=UNSURE if is_doubtful else 1.0)
    try:
        changed = apply(procedures[number], [Insert.model_validate({"node": node, relation: id_})])
        read = Reading(reader=Reader.MODEL, procedures=(changed,))
        (checked,) = check_reading(read, "\n".join(page.lines)).reading.procedures
    except (UnusableOperationError, UnusableReadingError, ValidationError):
        return procedures
    return (*procedures[:number], checked, *procedures[number + 1 :])


def _at(procedures: Sequence[Procedure], reference: str) -> tuple[int, str]:
    """Return the number of the procedure and the id that a reference of the outline names."""
    number, point, id_ = reference.strip().removeprefix("p").partition(".")
    if point and number.isdecimal() and 1 <= int(number) <= len(procedures):
        return int(number) - 1, id_
    return 0, reference.strip()


def _hung(
    procedures: tuple[Procedure, ...], missing: UnplacedBlock, page: Page
) -> tuple[Procedure, ...]:
    """Return the procedures with the block as a note of the drawn step above it on the page.

    Without one above it is the first one below, and without any with lines the first of all.
    """
    line = missing.block.start_line
    places: list[tuple[int, int, str]] = []
    for number, procedure in enumerate(procedures):
        drawn = {step.node for step in lower(procedure, "page").steps}
        for node in procedure.walk():
            if isinstance(node, Do | Choice | End) and not drawn.isdisjoint(_ids(node)):
                cited = line_numbers(node.lines) or {0}
                places += [(each, number, node.id) for each in cited]
    above = [each for each in places if 0 < each[0] <= line]
    below = [each for each in places if each[0] > line]
    nearest = max(above, default=None, key=lambda each: each[0]) or min(below or places)
    note = Remark(text=words_of_page(missing.block, page), lines=((line, missing.own_lines[-1]),))
    return _with_note(procedures, nearest[1], nearest[2], note)


def _ids(node: Node) -> set[str]:
    """Return the ids by which a drawing may name a node: its own, of a choice those of its arms."""
    return {node.id, *(arm.id for arm in node.arms)} if isinstance(node, Choice) else {node.id}


def _with_note(
    procedures: tuple[Procedure, ...], number: int, id_: str, note: Remark
) -> tuple[Procedure, ...]:
    """Return the procedures with a note at the node of this id, an arm's at its choice."""

    def noted(node: Node) -> tuple[Node, ...]:
        if not isinstance(node, Noted) or id_ not in _ids(node):
            return (node,)
        return (node.model_copy(update={"notes": (*node.notes, note)}),)

    changed = procedures[number].map(node=noted, order="down")
    return (*procedures[:number], changed, *procedures[number + 1 :])
