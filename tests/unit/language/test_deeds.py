import pytest

from services.language.deeds import (
    begins_with_condition,
    first_stem,
    is_check_verb,
    is_inspection,
    is_repair_verb,
    reports_deed,
)


@pytest.mark.parametrize(
    ("step", "does"),
    [
        ("Creating a volume", (True, False)),
        ("Remove the pod", (True, False)),
        ("Repair the table", (True, False)),
        ("Check the fan", (False, True)),
        ("", (False, False)),
    ],
)
def test_the_first_verb_tells_what_a_step_does(step, does):
    stem = first_stem(step)
    assert (
        is_repair_verb(stem),
        is_check_verb(stem),
    ) == does


def test_a_step_that_only_finds_out_changes_nothing():
    assert is_inspection("2) Then, re-check the link")
    assert not is_inspection("Restart it and check")


def test_a_step_may_begin_with_its_condition():
    assert begins_with_condition("Only if it is red, replace it")
    assert not begins_with_condition("Replace it if it is red")


@pytest.mark.parametrize(
    ("question", "report", "is_reported"),
    [
        ("Has the device been restarted?", "Already power-cycled it, no change.", True),
        ("Has the switch been restarted?", "We rebooted the switch twice.", True),
        ("Was the switch reset?", "The switch could not be reloaded.", True),
        ("Was the change undone?", "The change was rolled back at noon.", True),
        ("Has the cable been replaced?", "We rebooted the switch twice.", False),
        ("Has the firmware been updated?", "The routing table was updated by a peer.", False),
        ("Has the switch been restarted?", "The switch restarts every minute.", False),
        ("Restart the switch?", "We rebooted the switch.", False),
    ],
)
def test_what_was_done_is_told_by_any_verb_of_its_kind(question, report, is_reported):
    assert reports_deed(question, report) is is_reported
