"""Lookup of a checklist's boxes: by nesting, closed section, code and commands."""

import re
from collections.abc import Iterator, Mapping, Sequence

from services.knowledge.page.block import BlockKind, Place
from services.runbook.checklist.build import commands_by_block
from services.runbook.checklist.shown import boxes_of, closed_sections, page_of
from services.workflow.commands import split_at_gaps
from services.workflow.model import Step, Workflow


def nesting(workflow: Workflow) -> Mapping[str, str]:
    """Return the innermost box around each nested box, both by the ids of their steps."""
    boxes = boxes_of(workflow)
    outer_by_step: dict[str, str] = {}
    for place, step in _placed_boxes(workflow):
        outer_box = next((boxes[b.key] for b in reversed(place.parents) if b.key in boxes), None)
        if outer_box is not None:
            outer_by_step[step.id] = outer_box.id
    return outer_by_step


def closed_boxes(workflow: Workflow) -> frozenset[str]:
    """Return the ids of the boxes in sections that the ticket does not need."""
    if workflow.page is None or not workflow.page.open:
        return frozenset()
    closed = closed_sections(workflow, page_of(workflow))
    return frozenset(
        step.id
        for place, step in _placed_boxes(workflow)
        if any(heading.key in closed for heading in place.headings)
    )


def code_by_box(workflow: Workflow) -> Mapping[str, str]:
    """Return the code that belongs to each box, as the page has it, by the id of its step."""
    box_at = {
        line: step.id
        for step in boxes_of(workflow).values()
        for first, last in step.cited_lines
        for line in range(first, last + 1)
    }
    code: dict[str, list[str]] = {}
    for place in _places(workflow):
        box = box_at.get(place.block.start_line)
        if box is not None and place.block.kind is BlockKind.CODE:
            code.setdefault(box, []).append(place.block.verbatim)
    return {box: "\n".join(parts) for box, parts in code.items()}


def has_block(workflow: Workflow, key: str) -> bool:
    """Return True if the page has a block of this key, be it a box or not."""
    return any(place.block.key == key for place in _places(workflow))


def _placed_boxes(workflow: Workflow) -> Iterator[tuple[Place, Step]]:
    """Yield the boxes with the places of their blocks, in the order of the page."""
    boxes = boxes_of(workflow)
    for place in _places(workflow):
        step = boxes.get(place.block.key)
        if step is not None:
            yield place, step


def _places(workflow: Workflow) -> Iterator[Place]:
    if workflow.page is not None:
        yield from page_of(workflow).places()


def box_with_commands(workflow: Workflow, commands: Sequence[str]) -> Step | None:
    """Return the one box with exactly these commands, as on its page or with values filled in.

    None if no box has them, or several have.
    """
    if not commands:
        return None
    boxes = boxes_of(workflow)
    matches = [
        boxes[key]
        for key, own in commands_by_block(page_of(workflow), set(boxes)).items()
        if len(own) == len(commands) and all(map(fills, own, commands))
    ]
    return matches[0] if len(matches) == 1 else None


def fills(template: str, command: str) -> bool:
    """Return True if the command is the template, with its placeholders filled or as they are."""
    parts = [re.escape(p) if isinstance(p, str) else r".+?" for p in split_at_gaps(template)]
    return re.fullmatch("".join(parts), command) is not None
