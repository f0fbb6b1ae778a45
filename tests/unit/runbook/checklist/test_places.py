"""Where boxes stand: in one another, in sections that are closed, over their code."""

import pytest

from services.runbook.checklist.places import closed_boxes, code_by_box, has_block, nesting
from tests.checklists import checklist_of

TASKS = """# Storage

- Tell the team.

## Before you begin

- Take a snapshot.

## Disk full

- Look at the disks.

### Logs

- Rotate the logs.

### Dumps

- Delete the dumps.

## Disk failed

- Order a disk.
"""


def texts(workflow, ids):
    return {workflow.by_id[id_].text.rstrip(".") for id_ in ids}


@pytest.mark.parametrize(
    ("headings", "closed"),
    [
        ((), set()),
        (
            ("Disk full",),
            {"Take a snapshot", "Order a disk"},
        ),
        (("Before you begin", "Disk full"), {"Order a disk"}),
        (("Logs",), {"Delete the dumps"}),
        (("Logs", "Disk full", "Before you begin"), {"Delete the dumps", "Order a disk"}),
    ],
)
def test_sections_beside_an_open_one_are_closed(headings, closed):
    workflow = checklist_of(TASKS, headings=headings)
    assert texts(workflow, closed_boxes(workflow)) == closed


def test_a_box_is_nested_in_the_innermost_box_around_it():
    workflow = checklist_of("1. If it is full:\n   - Look.\n     - Closely.\n   - Mend.\n2. End.\n")
    assert nesting(workflow) == {"s2": "s1", "s3": "s2", "s4": "s1"}


def test_what_is_no_box_is_passed_over():
    text = "1. It may be full.\n   - Look.\n     - Closely.\n"
    keys = [step.node for step in checklist_of(text).steps[:3]]
    workflow = checklist_of(text, corrections={keys[1]: False})
    assert nesting(workflow) == {"s2": "s1"}


def test_code_is_of_the_box_that_cites_it_and_stands_as_the_page_has_it():
    workflow = checklist_of("- Look:\n\n  ```\n  df -h <disk>\n  ```\n\n- Mend.\n")
    assert code_by_box(workflow) == {"s1": "df -h <disk>"}


def test_blocks_are_known_by_their_keys():
    workflow = checklist_of("# Head\n\n- Look.\n")
    assert has_block(workflow, workflow.steps[0].node)
    assert not has_block(workflow, "0000-1.1")


def test_a_workflow_without_a_page_has_no_places():
    workflow = checklist_of("- Look.\n").model_copy(update={"page": None})
    assert (nesting(workflow), closed_boxes(workflow), code_by_box(workflow)) == ({}, set(), {})
