"""Where the boxes of a checklist stand: in one another, in closed sections, over their code."""

from collections.abc import Iterator, Mapping

from services.knowledge.page.block import BlockKind, Place
from services.procedure.checklist.shown import boxes_of, closed_in, page_of
from services.workflow.model import Step, Workflow


def nesting(workflow: Workflow) -> Mapping[str, str]:
    """Return the innermost box around each nested box, both by the ids of their steps."""
    boxes = boxes_of(workflow)
    around: dict[str, str] = {}
    for place, step in _placed(workflow):
        outer = next((boxes[b.key] for b in reversed(place.parents) if b.key in boxes), None)
        if outer is not None:
            around[step.id] = outer.id
    return around


def closed_boxes(workflow: Workflow) -> frozenset[str]:
    """Return the ids of the boxes in sections that the ticket does not ask for."""
    if workflow.page is None or not workflow.page.open:
        return frozenset()
    closed = closed_in(workflow, page_of(workflow))
    return frozenset(
        step.id
        for place, step in _placed(workflow)
        if any(heading.key in closed for heading in place.headings)
    )


def code_by_box(workflow: Workflow) -> Mapping[str, str]:
    """Return the code that belongs to each box, by the id of its step, as the page has it."""
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
    """Return whether the page has a block of this key, be it a box or not."""
    return any(place.block.key == key for place in _places(workflow))


def _placed(workflow: Workflow) -> Iterator[tuple[Place, Step]]:
    """Yield the boxes with where their blocks stand, in the order of the page."""
    boxes = boxes_of(workflow)
    for place in _places(workflow):
        step = boxes.get(place.block.key)
        if step is not None:
            yield place, step


def _places(workflow: Workflow) -> Iterator[Place]:
    if workflow.page is not None:
        yield from page_of(workflow).places()
