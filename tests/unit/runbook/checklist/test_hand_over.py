"""Boxes that tell their reader to give the work to somebody else."""

import pytest

from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.shown import boxes_of, hand_over_boxes, hands_over, options_in
from tests.checklists import checklist_of


def tells(text):
    (place,) = candidates(parse_page(f"- {text}\n"))
    return hands_over([place.block])


@pytest.mark.parametrize(
    "text",
    [
        "Escalate to the storage team.",
        "If the drive is still tripped, page the on-call engineer.",
        "Collect the logs and open a ticket with the vendor.",
        "Otherwise, hand over to the network team.",
        "If nothing helps: escalate.",
        "You should contact the vendor's support.",
        "Unless the pump runs, page the plant team.",
        "**Escalation**: raise it to the plant team.",
    ],
)
def test_a_box_that_says_so_is_recognised(text):
    assert tells(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do not escalate before the logs are saved.",
        "Before you escalate, save the logs.",
        "Check whether the page loads.",
        "Raise the limit to 5.",
        "Get help on the commands with `pumpctl help`.",
        "Run `escalate` on loop 2.",
    ],
)
def test_what_only_speaks_of_it_is_none(text):
    assert not tells(text)


def test_an_option_says_it_for_its_either_or():
    text = (
        "# Pump\n\n1. Do one of these:\n   - Vent the loop, or\n   - Escalate to the plant team.\n"
    )
    page = parse_page(text)
    keys = {place.block.text: place.block.key for place in candidates(page)}
    lead = keys["Do one of these:"]
    assert hand_over_boxes(page, {lead}) == {lead}
    assert [option.text for option in options_in(page, {lead})[lead]] == [
        "Vent the loop, or",
        "Escalate to the plant team.",
    ]
    assert not options_in(page, set(keys.values())), "each is a box of its own"


def test_a_paragraph_of_an_item_says_it_for_its_box():
    text = "# Pump\n\n1. Look at the drive.\n\n   If it is dead, page the plant team.\n"
    workflow = checklist_of(text)
    (box,) = boxes_of(workflow)
    assert hand_over_boxes(parse_page(text), {box}) == {box}
