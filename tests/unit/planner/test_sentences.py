import pytest

from services.planner.sentences import (
    Condition,
    clauses,
    condition,
    is_check,
    is_imperative,
    is_otherwise,
    joined,
    jump,
    lead,
    question,
    sentences,
    shorten,
)


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert sentences("Use a spare, e.g. Ethernet48. Then wait.") == [
        "Use a spare, e.g. Ethernet48.",
        "Then wait.",
    ]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Step 3: Reseat the optic.", "Reseat the optic"),
        ("2) reseat the optic", "Reseat the optic"),
        ("(`leaf#`) Reseat the optic.", "(`leaf#`) Reseat the optic"),
        ("(leaf#) Reseat the optic:", "Reseat the optic"),
        ("You should reseat the optic. It may help.", "Reseat the optic"),
        ("Disruptive: reload the line card.", "Reload the line card"),
        ("Please note the serial number.", "Note the serial number"),
        ("bgp_scan runs too often", "bgp_scan runs too often"),
    ],
)
def test_a_step_is_said_without_what_stands_before_it(text: str, step: str) -> None:
    assert lead(text) == step


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Raise the limit (see the capacity plan) so that routes fit", "Raise the limit"),
        ("The ACL drops the packets; look at the log", "The ACL drops the packets"),
        ("One two three four five six of the eight", "One two three four five six"),
    ],
)
def test_shortening_keeps_the_main_clause(text: str, short: str) -> None:
    assert shorten(text, words=8) == short


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("The remote AS number is wrong", "Remote AS number is wrong?"),
        ("Check whether the fan turns.", "Fan turns?"),
        ("Is the port shut down?", "Is the port shut down?"),
        ("there is no light on the fibre", "No light on the fibre?"),
        ("Root cause: a dirty connector", "Dirty connector?"),
    ],
)
def test_a_statement_becomes_a_question(text: str, asked: str) -> None:
    assert question(text) == asked


def test_a_condition_has_an_action_and_what_to_do_otherwise() -> None:
    found = condition("If the LED is dark, then swap the module.", "Otherwise, clean the optic.")
    assert found is not None
    assert (found.condition, found.action, found.alternative) == (
        "the LED is dark",
        "Swap the module",
        "Clean the optic",
    )


def test_an_alternative_may_stand_in_the_same_sentence() -> None:
    found = condition("If the LED is dark, swap the module; otherwise clean the optic.")
    assert found is not None
    assert (found.action, found.alternative) == ("Swap the module", "Clean the optic")


def test_a_question_with_its_answers_is_a_condition() -> None:
    found = condition("Is the far end up? If yes, reset the port; if no, call the site.")
    assert found is not None
    assert (found.condition, found.action, found.alternative) == (
        "Is the far end up?",
        "Reset the port",
        "Call the site",
    )


def test_a_thousands_separator_does_not_end_a_condition() -> None:
    found = condition("If the rate is above 10,000 packets, shut the port.")
    assert found is not None
    assert found.condition == "the rate is above 10,000 packets"


@pytest.mark.parametrize("text", ["If so, wait.", "If this is the case, wait.", "Wait an hour."])
def test_what_points_back_is_no_condition(text: str) -> None:
    assert condition(text) is None


def test_clauses_that_go_on_to_another_check_are_cut() -> None:
    assert clauses(
        "Confirm that the port is up, then check the counters and verify the light."
    ) == [
        "Confirm that the port is up",
        "Check the counters",
        "Verify the light",
    ]


def test_instructions_are_told_from_descriptions() -> None:
    assert is_imperative("Next, reseat the tray")
    assert not is_imperative("The tray is loose")
    assert is_check("Verify that the tray is locked")
    assert not is_check("Lock the tray")
    assert is_otherwise("If not, call the site.")
    assert not is_otherwise("If it does not boot from there either, escalate.")


def test_a_long_step_keeps_what_it_is_not_to_be_done_for():
    told = (
        "Restart the supervisor of the chassis that reported the fault in the alarm list unless it"
        " is the active one"
    )
    assert shorten(told, words=12).endswith("unless it is the active one")


@pytest.mark.parametrize(
    "text",
    [
        "Restart it and, if it fails, go to step 5",
        "Kill it, unless it is a backup, in which case leave it and go to step 5",
        "If not, go to step 5",
    ],
)
def test_a_jump_in_some_case_only_is_none(text: str) -> None:
    assert jump(text) is None


def test_a_jump_may_name_the_step_and_follow_what_is_done() -> None:
    assert jump("When done, continue with step 4.") == ("", 4)
    assert jump('Restart it, then go to "Step 5: Open the port".') == ("Restart it", 5)


def test_a_check_and_its_answers_are_one_condition() -> None:
    (said,) = joined(sentences("Verify that the port is up. If not, go to step 4."))
    assert condition(said) == Condition("Port is up?", "", "Go to step 4")


def test_a_word_that_only_begins_like_an_answer_is_none() -> None:
    told = condition("Is it up? If yes, replace the disk, no reboot needed.")
    assert told == Condition("Is it up?", "Replace the disk, no reboot needed")


def test_a_condition_may_lead_to_a_jump_without_a_comma() -> None:
    assert condition("If it is up go to step 3") == Condition("it is up", "Go to step 3")
