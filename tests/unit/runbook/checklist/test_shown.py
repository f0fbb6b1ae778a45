"""Sections that stand closed, and boxes in a line each."""

import pytest

from services.runbook.checklist.sections import open_share
from services.runbook.checklist.shown import box_lines, closed_sections, headings_of, page_of
from tests.checklists import checklist_of

PAGE = """# Loops

Take care.

## Rules

Wear gloves.

## North

### Look

1. Look north.

## South

### Look

1. Look south.
   - Listen.
"""


def closed_of(*headings: str) -> list[str]:
    workflow = checklist_of(PAGE, headings=headings)
    page = page_of(workflow)
    closed = closed_sections(workflow, page)
    return [block.text for block in page.blocks if block.key in closed]


@pytest.mark.parametrize(
    ("headings", "closed"),
    [
        ((), []),
        (("North",), ["South"]),
        (("North", "South"), []),
        (("Rules",), ["North", "South"]),
        (("Loops",), []),
    ],
)
def test_closed_are_the_sisters_with_boxes_of_those_that_are_asked_for(headings, closed):
    assert closed_of(*headings) == closed


def test_the_share_that_stands_open_counts_lines():
    workflow = checklist_of(PAGE, headings=("North",))
    page = page_of(workflow)
    assert open_share(page, ()) == 1.0
    assert open_share(page, closed_sections(workflow, page)) == pytest.approx(7 / 11)


def test_boxes_have_the_pages_numbers_and_their_depth():
    lines = box_lines(checklist_of(PAGE))
    assert lines == [(0, "1. Look north"), (0, "1. Look south"), (1, "- Listen")]
    assert box_lines(checklist_of(PAGE, headings=("North",))) == [(0, "1. Look north")]


def test_headings_that_all_boxes_have_are_not_named():
    assert set(headings_of(checklist_of(PAGE)).values()) == {"North › Look", "South › Look"}
    assert set(headings_of(checklist_of("# A\n\n- x\n- y\n")).values()) == {""}
