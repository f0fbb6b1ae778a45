import time

import pytest

from services.runbook.carry_over import carry_over_procedures
from services.runbook.model import Procedure

OLD = """# Fans

Something about fans.

## Fan stands still

If the tray is hot:

1. Run the check.
2. Seat the fan.

## Fan is loud

1. Clean the fan.
""".rstrip("\n")

STILL = Procedure.model_validate(
    {
        "title": "Fan stands still",
        "at": [[5, 10]],
        "steps": [
            {
                "choice": "exclusive",
                "arms": [
                    {
                        "when": "Is the tray hot?",
                        "at": [[7, 7]],
                        "steps": [{"do": "Run", "at": [[9, 9]]}, {"do": "Seat", "at": [[10, 10]]}],
                    }
                ],
            }
        ],
    }
)
LOUD = Procedure.model_validate(
    {"title": "Fan is loud", "at": [[12, 14]], "steps": [{"do": "Clean", "at": [[14, 14]]}]}
)


def carried(new, procedure=STILL):
    return carry_over_procedures([procedure], OLD, new)[0]


def lines(procedure):
    (choice,) = procedure.body
    (arm,) = choice.arms
    return [*arm.lines, *(line for node in arm.body for line in node.lines)]


def test_the_same_text_keeps_everything():
    assert carry_over_procedures([STILL, LOUD], OLD, OLD) == (STILL, LOUD)


def test_lines_are_shifted_when_something_is_put_before():
    new = OLD.replace("Something about fans.", "Something\nabout\nfans.")
    moved = carried(new)
    assert lines(moved) == [(9, 9), (11, 11), (12, 12)]
    assert moved.lines == ((7, 12),)


def test_a_remark_beside_the_steps_changes_nothing():
    for remark in ("", "The check takes a while.", "**Time**: the check takes a while."):
        assert carried(OLD.replace("2. Seat", f"   {remark}\n2. Seat")) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2. Seat the fan.", "2. Replace the fan."),
        ("If the tray is hot:", "If the tray is cold:"),
        ("## Fan stands still", "## Fan turns backwards"),
        ("# Fans", "# Fans of the old kind"),
        ("## Fan stands still\n", "## Fan stands still\n\n### On Mondays\n"),
        ("If the tray is hot:\n\n", ""),
        ("2. Seat the fan.\n", ""),
        ("1. Run the check.\n2. Seat the fan.", "2. Seat the fan.\n1. Run the check."),
        ("2. Seat the fan.", "2. Drain the node.\n2. Seat the fan."),
        ("2. Seat the fan.", "2. Seat the fan.\n3. Report it."),
        ("2. Seat the fan.", "If it is Monday, leave it.\n2. Seat the fan."),
        ("2. Seat the fan.", "```\nrm -rf /\n```\n2. Seat the fan."),
        ("2. Seat the fan.", "Drain the node first.\n2. Seat the fan."),
        ("1. Run the check.\n2. Seat the fan.", "```\n1. Run the check.\n2. Seat the fan.\n```"),
        ("2. Seat the fan.", "> **Warning:** it bites.\n\n2. Seat the fan."),
        ("2. Seat the fan.", "<ul><li>the node is to be drained</li></ul>\n\n2. Seat the fan."),
    ],
)
def test_a_change_of_what_it_rests_on_ends_it_and_leaves_others(before, after):
    assert before in OLD
    new = OLD.replace(before, after, 1)
    assert carried(new) is None
    is_shared = before == "# Fans"
    assert (carried(new, LOUD) is None) == is_shared


def test_nothing_is_carried_into_another_text():
    assert carry_over_procedures([STILL, LOUD], OLD, "# Other\n\nText\n") == (None, None)
    assert carry_over_procedures([STILL], OLD, "") == (None,)


def test_long_texts_take_bounded_time():
    old = "\n".join([OLD, *(f"line {n % 7}" for n in range(20_000))])
    new = "\n".join(["intro", old, *(f"line {n % 5}" for n in range(20_000))])
    started = time.thread_time()
    carry_over_procedures([STILL], old, new)
    assert time.thread_time() - started < 7
