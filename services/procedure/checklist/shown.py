"""The page of a checklist with its boxes, as each form of it needs them."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from services.knowledge.page.alternatives import alternatives
from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.parsing import parse_page
from services.procedure.checklist.handing_over import hands_over
from services.procedure.checklist.sections import closed_headings
from services.workflow.model import LinkedPage, Step, StepKind, Workflow

AS_IT_IS = "Your team's page as it is. Nobody has checked its decisions."
LEFT_OUT = "left out of what models see"

_LEADS_TO = "Pages that it leads to"


def leads_to_words(links: Sequence[LinkedPage]) -> str:
    """Return what stands above the pages that one leads to, in the order of a checklist."""
    is_near = any(link.nearness > 0 for link in links)
    return f"{_LEADS_TO}, nearest to this ticket first" if is_near else _LEADS_TO


def page_of(workflow: Workflow) -> Page:
    """Return the page that a checklist shows.

    Raises:
        ValueError: The workflow shows none.
    """
    if workflow.page is None:
        raise ValueError("expected a checklist, got a workflow without a page")
    return parse_page(workflow.page.text, withheld=workflow.page.withheld)


def boxes_of(workflow: Workflow) -> dict[str, Step]:
    """Return the steps of a checklist by the keys of their blocks."""
    return {step.node: step for step in workflow.of_kind(StepKind.PROCESS) if step.node}


def options_in(page: Page, boxes: Collection[str]) -> dict[str, tuple[Block, ...]]:
    """Return the options of each either/or whose lead is a box, by the key of the lead.

    An item that is a box of its own is none of them.
    """
    found = {}
    for lead, items in alternatives(page):
        own = tuple(item for item in items if item.key not in boxes)
        if lead.key in boxes and len(own) > 1:
            found[lead.key] = own
    return found


def handing_over(page: Page, boxes: Collection[str]) -> frozenset[str]:
    """Return the keys of the boxes whose words, or whose options, say to hand the work over."""
    options = options_in(page, boxes)
    return frozenset(
        block.key
        for block in (place.block for place in page.places())
        if block.key in boxes
        and hands_over((block, *_paragraphs(block, boxes), *options.get(block.key, ())))
    )


def _paragraphs(block: Block, boxes: Collection[str]) -> Iterator[Block]:
    """Yield the paragraphs of an item that are no boxes of their own."""
    for child in block.children:
        if child.kind is BlockKind.PARAGRAPH and child.key not in boxes and not child.is_withheld:
            yield child


def closed_in(workflow: Workflow, page: Page) -> frozenset[str]:
    """Return the keys of the headings whose sections the ticket does not ask for."""
    asked_for = workflow.page.open if workflow.page else ()
    return closed_headings(page, asked_for, boxes_of(workflow))


def without_place(workflow: Workflow, page: Page) -> list[Step]:
    """Return the steps that no block of the page stands for, as those that somebody added."""
    keys = {place.block.key for place in page.places()}
    return [step for step in workflow.of_kind(StepKind.PROCESS) if step.node not in keys]


def headings_of(workflow: Workflow) -> dict[str, str]:
    """Return the headings that the boxes stand below, by the ids of their steps.

    Of the headings above a box those are named that not all of the page's boxes have.

    Raises:
        ValueError: The workflow shows no page.
    """
    boxes = boxes_of(workflow)
    places = [place for place in page_of(workflow).places() if place.block.key in boxes]
    paths = [place.heading_path for place in places]
    shared = 0
    shortest = min(map(len, paths), default=0)
    while shared < shortest and len({path[shared] for path in paths}) == 1:
        shared += 1
    return {
        boxes[place.block.key].id: " › ".join(path[shared:])
        for place, path in zip(places, paths, strict=True)
    }


class BoxLine(NamedTuple):
    """A box in a line."""

    depth: int
    """Boxes around it."""
    words: str
    """Its first instruction behind the page's own number, or a dash."""


def box_lines(workflow: Workflow) -> list[BoxLine]:
    """Return the boxes that stand open, in the page's order.

    Raises:
        ValueError: The workflow shows no page.
    """
    page, boxes = page_of(workflow), boxes_of(workflow)
    closed = closed_in(workflow, page)
    lines: list[BoxLine] = []
    for place in page.places():
        step = boxes.get(place.block.key)
        if step and not any(heading.key in closed for heading in place.headings):
            depth = sum(parent.key in boxes for parent in place.parents)
            lines.append(BoxLine(depth, f"{_sign(place.block)} {step.text}"))
    return [*lines, *(BoxLine(0, f"- {step.text}") for step in without_place(workflow, page))]


def _sign(block: Block) -> str:
    return block.number if block.kind is BlockKind.ITEM and block.number else "-"
