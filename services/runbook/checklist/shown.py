"""The page of a checklist with its boxes, as each of its output forms needs them."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from services.knowledge.page.alternatives import alternatives
from services.knowledge.page.block import Block, BlockKind, Page, codes
from services.knowledge.page.parsing import parse_page
from services.language.clauses import parse_condition
from services.language.cues import is_escalation, otherwise_action
from services.language.sentences import sentences, without_prefix
from services.runbook.checklist.sections import closed_headings
from services.workflow.model import LinkedPage, Step, StepKind, Workflow

AS_IT_IS = "Your team's page as it is. Nobody has checked its decisions."
LEFT_OUT = "left out of what models see"

_LEADS_TO = "Pages that it leads to"


def leads_to_words(links: Sequence[LinkedPage]) -> str:
    """Return the heading above the linked pages, in the order of a checklist."""
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

    An item that is a box of its own is no option.
    """
    by_lead = {}
    for lead, items in alternatives(page):
        options = tuple(item for item in items if item.key not in boxes)
        if lead.key in boxes and len(options) > 1:
            by_lead[lead.key] = options
    return by_lead


def hand_over_boxes(page: Page, boxes: Collection[str]) -> frozenset[str]:
    """Return the keys of the boxes whose words or options tell to hand the work over."""
    options = options_in(page, boxes)
    keys: set[str] = set()
    for block in (place.block for place in page.places() if place.block.key in boxes):
        paragraphs = [
            child
            for child in block.children
            if child.kind is BlockKind.PARAGRAPH
            and child.key not in boxes
            and not child.is_withheld
        ]
        if hands_over((block, *paragraphs, *options.get(block.key, ()))):
            keys.add(block.key)
    return frozenset(keys)


def closed_sections(workflow: Workflow, page: Page) -> frozenset[str]:
    """Return the keys of the headings whose sections the ticket does not need."""
    open_keys = workflow.page.open if workflow.page else ()
    return closed_headings(page, open_keys, boxes_of(workflow))


def steps_without_block(workflow: Workflow, page: Page) -> list[Step]:
    """Return the steps that have no block on the page, such as those that somebody added."""
    keys = {place.block.key for place in page.places()}
    return [step for step in workflow.of_kind(StepKind.PROCESS) if step.node not in keys]


def headings_of(workflow: Workflow) -> dict[str, str]:
    """Return the headings above the boxes, by the ids of their steps.

    Only headings are named that not all of the page's boxes share.

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
    """A box on one line."""

    depth: int
    """The number of boxes around it."""
    words: str
    """The first instruction, behind the page's own number or a dash."""


def box_lines(workflow: Workflow) -> list[BoxLine]:
    """Return the boxes that stand open, in the page's order.

    Raises:
        ValueError: The workflow shows no page.
    """
    page, boxes = page_of(workflow), boxes_of(workflow)
    closed = closed_sections(workflow, page)
    lines: list[BoxLine] = []
    for place in page.places():
        step = boxes.get(place.block.key)
        if step and not any(heading.key in closed for heading in place.headings):
            depth = sum(parent.key in boxes for parent in place.parents)
            number = place.block.number if place.block.kind is BlockKind.ITEM else ""
            lines.append(BoxLine(depth, f"{number or '-'} {step.text}"))
    return [*lines, *(BoxLine(0, f"- {step.text}") for step in steps_without_block(workflow, page))]


def page_tick(block: Block) -> str:
    """Return the tick that the page itself has at an item of a task list."""
    if block.is_checked is None:
        return ""
    return "☑ " if block.is_checked else "☐ "


_NEXT_CLAUSE = re.compile(r"(?:\s|[,;:]\s)(?:and|or|then|but)\s+(?:then\s+)?|[;:]\s+|\s[—–]\s")


def hands_over(blocks: Iterable[Block]) -> bool:
    """Return True if any block tells to escalate, page, or open a case with somebody.

    Also if that is said under a condition, or after another instruction.
    """
    for sentence in (each for b in blocks for each in sentences(b.text, codes(b.words))):
        conditional = parse_condition(sentence)
        parts = (
            (conditional.action, conditional.alternative)
            if conditional
            else (otherwise_action(sentence) or sentence,)
        )
        clauses = (each.strip() for part in parts for each in _NEXT_CLAUSE.split(part))
        if any(is_escalation(without_prefix(clause)) for clause in clauses):
            return True
    return False


class Margin:
    """The text before the lines of a block, with the margins of the blocks around it."""

    def __init__(self, first: str = "", rest: str = "") -> None:
        """Create a margin: `first` before the first line, `rest` before each further one."""
        self._first = first
        self.rest = rest
        self.is_fresh = True
        """True until a line is written."""

    def take(self) -> str:
        """Return the text before the next line."""
        margin = self._first if self.is_fresh else self.rest
        self.is_fresh = False
        return margin

    def gap(self) -> list[str]:
        """Return the empty line below the lines above; none if there are no such lines."""
        return [] if self.is_fresh else [self.rest.rstrip()]

    def continued(self) -> "Margin":
        """Return the same margin for what follows directly below its last line."""
        return Margin(self.rest, self.rest)

    def nested(self, marker: str, room: str | None = None) -> "Margin":
        """Return the margin of blocks nested behind a marker, which starts on the next line."""
        hang = " " * len(marker) if room is None else room
        return Margin(self.take() + marker, self.rest + hang)
