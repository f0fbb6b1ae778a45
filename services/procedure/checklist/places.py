"""Which boxes of a checklist are nested in one another, and which stand in closed sections."""

from collections.abc import Iterator, Mapping

from services.knowledge.page.block import BlockKind, Place
from services.knowledge.page.parsing import parse_page
from services.workflow.model import Step, Workflow


def nesting(workflow: Workflow) -> Mapping[str, str]:
    """Return the innermost box around each nested box, both by the ids of their steps."""
    box_of_block: dict[str, str] = {}
    around: dict[str, str] = {}
    for place, step in _boxes(workflow):
        box_of_block[place.block.key] = step.id
        boxes = [box_of_block[each.key] for each in place.parents if each.key in box_of_block]
        if boxes:
            around[step.id] = boxes[-1]
    return around


def closed_boxes(workflow: Workflow) -> frozenset[str]:
    """Return the ids of the boxes in sections that the ticket does not ask for.

    A section is closed where one beside it, under the same heading, stands open or holds one that
    does. A page of one task has no closed sections.
    """
    if workflow.page is None or not workflow.page.open:
        return frozenset()
    open_ = frozenset(workflow.page.open)
    headings = [each for each in _places(workflow) if each.block.kind is BlockKind.HEADING]
    opened = [each for each in headings if each.block.key in open_]
    leading = {heading.key for each in opened for heading in (each.block, *each.headings)}
    beside = {_level(each) for each in headings if each.block.key in leading}
    closed = {
        each.block.key
        for each in headings
        if each.block.key not in leading and _level(each) in beside
    }
    found: set[str] = set()
    for place, step in _boxes(workflow):
        above = {heading.key for heading in place.headings}
        if above & closed and not above & open_:
            found.add(step.id)
    return frozenset(found)


def code_by_box(workflow: Workflow) -> Mapping[str, str]:
    """Return the code that belongs to each box, by the id of its step, as the page has it."""
    box_at = {
        line: step.id
        for step in workflow.steps
        if step.block
        for first, last in step.cited_lines
        for line in range(first, last + 1)
    }
    code: dict[str, list[str]] = {}
    for place in _places(workflow) if box_at else ():
        box = box_at.get(place.block.start_line)
        if box is not None and place.block.kind is BlockKind.CODE:
            code.setdefault(box, []).append(place.block.verbatim)
    return {box: "\n".join(parts) for box, parts in code.items()}


def has_block(workflow: Workflow, key: str) -> bool:
    """Return whether the page has a block of this key, be it a box or not."""
    return any(place.block.key == key for place in _places(workflow))


def _boxes(workflow: Workflow) -> Iterator[tuple[Place, Step]]:
    """Yield the steps that are boxes with where their blocks stand, in the order of the page."""
    by_key = {step.node: step for step in workflow.steps if step.block}
    for place in _places(workflow):
        step = by_key.get(place.block.key)
        if step is not None:
            yield place, step


def _places(workflow: Workflow) -> Iterator[Place]:
    shown = workflow.page
    if shown is not None:
        yield from parse_page(shown.text, withheld=shown.withheld).places()


def _level(place: Place) -> tuple[str, int]:
    """Return what a heading shares with those beside it: the heading above and its level."""
    return (place.headings[-1].key if place.headings else ""), place.block.level
