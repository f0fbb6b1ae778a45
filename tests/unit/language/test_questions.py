import pytest

from services.language.questions import (
    as_question,
    is_question,
    is_statement,
    statement_to_check,
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("the broker is running", "Is the broker running?"),
        ("there are dead fans", "Are there dead fans?"),
        ("you see an error", "Do you see an error?"),
        ("the fan that is dead has a label", "Does the fan that is dead have a label?"),
        ("the field remains empty", "Does the field remain empty?"),
        ("broker logs contain errors", "Do broker logs contain errors?"),
        ("the script failed", "Did the script fail?"),
        ("the broker isn't ready", "Is the broker not ready?"),
        ("the queue has been drained", "Has the queue been drained?"),
        ("check whether the disk is full", "Is the disk full?"),
        ("you're using an old fan", "Are you using an old fan?"),
        ("not found", "Is it not found?"),
        ("Is the disk full?", "Is the disk full?"),
        ("disk trouble", "Is this the case: disk trouble?"),
        ("unable to reach the pump", "Are you unable to reach the pump?"),
        ("using an old fan", "Are you using an old fan?"),
        ("restarting the fan did not help", "Did restarting the fan not help?"),
        ("the pump has truly stopped", "Has the pump truly stopped?"),
        (
            "the pump stopped because its fuse is blown",
            "Did the pump stop because its fuse is blown?",
        ),
        ("a bad valve blocked the pump", "Did a bad valve block the pump?"),
        (
            "Once the valve has been closed, oil it",
            "Is this the case: Once the valve has been closed, oil it?",
        ),
        ("loud, it will stop", "Is this the case: loud, it will stop?"),
    ],
)
def test_a_statement_becomes_a_question_with_its_subject(statement, expected):
    assert as_question(statement) == expected


def test_checks_questions_and_statements_are_told_apart():
    assert statement_to_check("Verify that the fan turns")
    assert not statement_to_check("Verify the fan")
    assert is_question("Does the fan turn")
    assert not is_question("The fan turns")
    assert is_statement("The fan is dead")
    assert not is_statement("Dead fan")
