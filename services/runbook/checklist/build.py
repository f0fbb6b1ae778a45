"""Construction of a page's checklist: its boxes in order, each with what belongs to it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from services.kit.text import squeeze
from services.knowledge.page.block import Block, BlockKind, Page, Place, codes, plain
from services.knowledge.page.box_fit import AS_SHIPPED, Habit
from services.knowledge.page.boxes import (
    Box,
    candidates,
    find_boxes,
    last_own_line,
    leading_content,
)
from services.knowledge.page.parsing import parse_page
from services.runbook.model import Do, Procedure, Reader, Reading
from services.runbook.program import assign_ids
from services.workflow.model import (
    Citation,
    Provenance,
    ShownPage,
    Step,
    StepKind,
    Transition,
    Workflow,
    WorkflowKind,
)
from services.workflow.page_code import CodePart, CodeUse, PageCode, code_parts, inline_commands

ENDING = "How did it end?"
OVER = "It is over"
HAND_OVER = "Hand over"
LONGEST_PAGE = 1_000_000
"""Characters; a longer page is a book, and has no checklist."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|(?<=[。！？])")
_LONGEST_INSTRUCTION = 200
"""Characters of a first instruction; the whole block stands beside it."""
_LONGEST_GROUP = 80
_SILENT = frozenset(
    {
        BlockKind.FRONT_MATTER,
        BlockKind.CONTENTS,
        BlockKind.REFERENCE,
        BlockKind.COMMENT,
        BlockKind.RULE,
    }
)
"""Kinds of blocks that no step needs beside it."""


@dataclass
class _BoxDraft:
    """A box with the commands, notes and lines up to the next one."""

    box: Box
    notes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    expected: str = ""
    lines: list[tuple[int, int]] = field(default_factory=list)


def checklist_of_page(
    shown: ShownPage,
    *,
    corrections: Mapping[str, bool],
    habit: Habit = AS_SHIPPED,
    planner: str = "",
) -> Workflow | None:
    """Return the checklist of a page as it is stored, or None if the page is too long.

    `corrections` are an owner's corrections of boxes, by the key of the block; `habit` are weights
    learned from such corrections.
    """
    if len(shown.text) > LONGEST_PAGE:
        return None
    page = parse_page(shown.text, withheld=shown.withheld)
    return build_checklist(page, shown, planner=planner, corrections=corrections, habit=habit)


def build_checklist(
    page: Page,
    shown: ShownPage,
    *,
    planner: str,
    corrections: Mapping[str, bool],
    habit: Habit = AS_SHIPPED,
) -> Workflow:
    """Return the checklist workflow of a page whose logic nobody has read.

    The last box leads to the question how the work ended: it is over, or handed over. `corrections`
    are an owner's corrections of boxes, by the key of the block; `habit` are weights learned from
    such corrections.
    """
    drafts = _drafts(page, find_boxes(page, corrections, habit=habit))
    steps = [_step(n, draft, page, shown.document_id) for n, draft in enumerate(drafts, start=1)]
    ending = Step(id="end", kind=StepKind.DECISION, text=ENDING, implied=True)
    ends = [
        Step(id="over", kind=StepKind.TERMINAL, text=OVER, implied=True),
        Step(id="hand-over", kind=StepKind.TERMINAL, text=HAND_OVER, implied=True),
    ]
    ordered = [*steps, ending]
    straight = pairwise(ordered)
    return Workflow(
        title=shown.title,
        steps=(*ordered, *ends),
        transitions=(
            *(Transition(source=one.id, target=next_.id) for one, next_ in straight),
            *(Transition(source=ending.id, target=end.id, condition=end.text) for end in ends),
        ),
        provenance=Provenance(
            kind=WorkflowKind.CHECKLIST, planner=planner, document_ids=(shown.document_id,)
        ),
        page=shown,
    )


def commands_by_block(page: Page, boxes: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the commands of each box as the page has them, placeholders open, by block key."""
    own = [Box(place) for place in candidates(page) if place.block.key in boxes]
    drafts = _drafts(page, own)
    return {each.box.block.key: tuple(dict.fromkeys(each.commands)) for each in drafts}


def step_at_block(page: Page, key: str, boxes: Collection[str]) -> Do | None:
    """Return the step that a block is beside other boxes, with its code; None if it cannot be one.

    `boxes` are the keys of all boxes of the page.
    """
    own = [Box(place) for place in candidates(page) if place.block.key in {key, *boxes}]
    draft = next((each for each in _drafts(page, own) if each.box.block.key == key), None)
    return _do(_step(1, draft, page, "")) if draft else None


def _drafts(page: Page, boxes: Sequence[Box]) -> list[_BoxDraft]:
    """Give each box the code and the notes up to the next one.

    Blocks between a heading and its first box belong to that box, blocks at the head of the page to
    the first box.
    """
    by_key = {box.block.key: _BoxDraft(box) for box in boxes}
    options = {option.key for box in boxes for option in box.options}
    drafts: list[_BoxDraft] = []
    waiting: list[str] = []
    is_new_section = True
    before = ""
    for place in page.places():
        block = place.block
        if block.kind is BlockKind.HEADING:
            is_new_section = True
        elif draft := by_key.get(block.key):
            draft.notes += waiting
            draft.lines.append((block.start_line, last_own_line(block)))
            draft.commands += inline_commands(block.text, codes(block.words))
            drafts.append(draft)
            waiting, is_new_section = [], False
        elif block.kind is BlockKind.CODE and not block.is_withheld:
            parts = code_parts(PageCode(block.verbatim, block.language), before)
            if drafts and not is_new_section:
                _add_code(drafts[-1], block, parts)
            else:
                waiting += [part.text for part in parts]
        elif note := _note(place, options):
            if drafts and not is_new_section:
                drafts[-1].notes.append(note)
            else:
                waiting.append(note)
        before = block.text or before
    if drafts:
        drafts[-1].notes += waiting
    return drafts


def _add_code(draft: _BoxDraft, block: Block, parts: Sequence[CodePart]) -> None:
    draft.lines.append((block.start_line, block.end_line))
    draft.commands += [part.text for part in parts if part.use is CodeUse.COMMAND]
    output = "\n".join(part.text for part in parts if part.use is CodeUse.OUTPUT)
    if output and draft.expected:
        draft.notes.append(output)
    else:
        draft.expected = draft.expected or output


def _note(place: Place, options: set[str]) -> str:
    """Return the words of a block that stands beside steps; empty if it has none of its own."""
    block = place.block
    if block.kind in _SILENT or block.is_withheld or block.key in options:
        return ""
    if block.kind is BlockKind.TABLE:
        rows = (block.header, *block.rows)
        return "\n".join(" | ".join(map(plain, row)) for row in rows)
    words = block.text or block.verbatim
    lead = f"{block.callout.capitalize()}: " if block.callout and words else ""
    callout = next((p for p in reversed(place.parents) if p.callout and not p.text), None)
    if callout is not None and callout.children and callout.children[0] is block:
        lead = f"{callout.callout.capitalize()}: "
    return f"{lead}{words}"


def _step(number: int, draft: _BoxDraft, page: Page, document_id: str) -> Step:
    block = draft.box.block
    place = draft.box.place
    items = (parent for parent in place.parents if parent.kind is BlockKind.ITEM)
    around = [each.text for each in (*place.headings, *items) if not each.is_withheld]
    return Step(
        id=f"s{number}",
        kind=StepKind.PROCESS,
        text=first_instruction(block),
        commands=tuple(dict.fromkeys(draft.commands)),
        expected=draft.expected,
        citations=tuple(
            Citation(document_id=document_id, start_line=first, end_line=last)
            for first, last in _merge_ranges(draft.lines)
        ),
        notes=tuple(draft.notes),
        node=block.key,
        block="\n".join(page.lines[block.start_line - 1 : last_own_line(block)]),
        group=tuple(name[:_LONGEST_GROUP] for name in around if name),
    )


def first_instruction(block: Block) -> str:
    """Return the first sentence of a block in plain words, cut if it is very long.

    No sentence ends inside inline code: `find . -type d` is one word of it. For an item without
    words it is the first command of its code, or the head of its table.
    """
    instead = leading_content(block)
    if instead is None:
        text = masked = plain(block.words)
        for code in sorted(map(squeeze, codes(block.words)), key=len, reverse=True):
            masked = masked.replace(code, "x" * len(code)) if code else masked
        first = _SENTENCE_END.split(masked, maxsplit=1)[0]
        text = text[: len(first)].rstrip(" :.")
    elif instead.kind is BlockKind.TABLE:
        text = " | ".join(map(plain, instead.header or next(iter(instead.rows), ())))
    else:
        parts = code_parts(PageCode(instead.verbatim, instead.language), "")
        commands = (part.text for part in parts if part.use is CodeUse.COMMAND)
        text = squeeze(next(commands, instead.verbatim.strip().split("\n")[0]))
    if len(text) <= _LONGEST_INSTRUCTION:
        return text
    return f"{text[:_LONGEST_INSTRUCTION].rsplit(' ', 1)[0]}…"


def _merge_ranges(lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges that follow one another, with at most one line between them."""
    merged: list[tuple[int, int]] = []
    for first, last in lines:
        if merged and first <= merged[-1][1] + 2:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


_NO_CORRECTIONS: Mapping[str, bool] = {}


def reading_from_boxes(
    text: str,
    title: str,
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    habit: Habit = AS_SHIPPED,
    withheld: Collection[int] = (),
) -> Reading:
    """Return a straight program: a step for each box of the page, in its order.

    The procedure is marked as begun from boxes: an approval is of the boxes alone, unless its
    approver says that the decisions were looked at.

    Args:
        text: The page as people see it, or without the lines that screening left out.
        title: The name of a page that has no heading.
        corrections: An owner's corrections of boxes, by the key of the block.
        habit: Weights of the form of steps, learned from such corrections.
        withheld: Lines of it that screening left out: nothing of the reading is from them.
    """
    page = parse_page(text, withheld=withheld)
    headings = (place.block for place in page.places() if place.block.level == 1)
    heading = next((each.text for each in headings if not each.is_withheld), "")
    shown = ShownPage(document_id=title, title=heading or title, text=text)
    checklist = build_checklist(page, shown, planner="", corrections=corrections, habit=habit)
    body = tuple(map(_do, checklist.of_kind(StepKind.PROCESS)))
    procedure = Procedure(
        title=shown.title, lines=((1, len(page.lines)),), body=body, begun_from_boxes=True
    )
    return assign_ids(Reading(reader=Reader.PERSON, procedures=(procedure,) if body else ()))


def _do(step: Step) -> Do:
    return Do(
        text=step.text, lines=step.cited_lines, commands=step.commands, expected=step.expected
    )
