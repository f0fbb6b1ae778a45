"""Kind of a page by the form of its steps, by which its worked example is chosen."""

from enum import StrEnum

from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of

_MOST = 0.5
_FEWEST_SECTIONS = 4


class PageKind(StrEnum):
    """Form in which a page says most of its steps."""

    TASKS = "tasks"
    """Sections that are each done on their own."""
    NUMBERED = "numbered"
    """Numbered items."""
    LISTED = "listed"
    """Items without numbers, as causes and options often are."""
    SECTIONS = "sections"
    """Paragraphs and code in several sections."""
    PROSE = "prose"
    """Paragraphs in few sections."""


def kind_of(page: Page) -> PageKind:
    """Return the kind of the page."""
    boxes = find_boxes(page)
    if tasks_of(page, boxes):
        return PageKind.TASKS
    items = [box for box in boxes if box.block.kind is BlockKind.ITEM]
    numbered = sum(bool(box.block.number) for box in items)
    if numbered >= _MOST * len(boxes) > 0:
        return PageKind.NUMBERED
    if len(items) >= _MOST * len(boxes) > 0:
        return PageKind.LISTED
    sections = {box.place.headings[-1].key for box in boxes if box.place.headings}
    return PageKind.SECTIONS if len(sections) >= _FEWEST_SECTIONS else PageKind.PROSE
