import pytest

from evaluation.measures.approval_cost import approval_costs, box_taps
from evaluation.measures.boxes import JudgedBlock
from evaluation.measures.logic import LogicCase
from services.knowledge.embedding.embedders import HashingEmbedder
from tests.unit.evaluation.drawings import DOC, chart, cited
from tests.unit.evaluation.measures.test_logic import GOLD, LINES

START, NO, YES = LINES


def cost(*lines: str) -> float:
    case = LogicCase(DOC, GOLD, cited(chart(*lines)))
    return approval_costs([case], HashingEmbedder(512))["median"]


@pytest.mark.parametrize(
    ("lines", "operations"),
    [
        (LINES, 0),
        ((*LINES, "D --> F[polish the handles]"), 1),  # a step that the drawing does not have
        ((START, "B -->|no| D[verify temperature]", YES), 1),  # one is missing
        (("A[read fan speeds] --> B{is tray seated?}", "B -->|no| C[push tray inwards] --> E",
          "B -->|yes| E[replace rotor] --> D[verify temperature]"), 1),  # one lost its condition
    ],
)  # fmt: skip
def test_what_differs_is_counted(lines, operations):
    assert cost(*lines) == operations


def test_without_a_workflow_nothing_is_counted():
    assert approval_costs([LogicCase(DOC, GOLD, None)], HashingEmbedder(512)) == {}


@pytest.mark.parametrize(
    ("sections", "taps"),
    [
        ([["++", "--"]], 0),
        ([["+-", "b"]], 1),  # one box too much
        ([["sss", "+"]], 1),  # a list without boxes
        ([["bbb", "b", "bb"], ["+"]], 1),  # a section that is none
        ([["bbb", "b", "b+"]], 2),  # but for one block
    ],
)
def test_a_tap_sets_a_block_a_list_or_a_section(sections, taps):
    """`+` is a box, `-` none, both rightly; `b` is a box too much, `s` one that is missing."""
    drawn = [
        [[JudgedBlock(sign in "+b", sign in "+s") for sign in blocks] for blocks in lists]
        for lists in sections
    ]
    assert box_taps(drawn) == taps
