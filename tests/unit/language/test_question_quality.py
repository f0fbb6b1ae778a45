import pytest

from services.language.question_quality import (
    is_complete_name,
    is_complete_statement,
    is_for_a_person,
    is_negated,
    is_well_formed,
    names_something,
)

WELL_FORMED = (
    "Is the feed pump running?",
    "Are the feed pumps running?",
    "Is the valve open or stuck?",
    "Does the gauge show more than 4 bar?",
    "Do the gauges show more than 4 bar?",
    "Has the boiler been drained since Monday?",
    "Have the filters been changed this month?",
    "Did the burner fail because of wet fuel?",
    "Can the panel reach the sensor in hall 3?",
    "Are you using the old burner?",
    "Is there a leak under the second tank?",
    "Does a spare nozzle exist for the burner?",
    "Does the rotor grind loudly?",
    "Which pump is it?",
    "Which line feeds the tank?",
    "How many valves are open?",
    "Is the controller on version 2.4 or higher?",
    "Do any of the boilers in hall 2 report low pressure?",
)
ILL_FORMED = (
    "Is the feed pump running",
    "Feed pump running?",
    "Is it running?",
    "Are they open?",
    "Is this the one?",
    "Does the pumps keep failing?",
    "Are the main tank of the hall that leaks cleaned after it is filled?",
    "Have the level of the tank been read?",
    "Is this points to another tank?",
    "Are several pumps indeed fed by the same line by running?",
    "Do the below readings differ?",
    "Does the panel show the following errors?",
    "Do any of these apply?",
    "Does the {pump} deliver enough for {hall}?",
    "Is **the valve** open?",
    "Does [PANEL] Valve [name] leak?",
    "Is the valve open, turn the wheel?",
    "Do you hear a hiss, close the main valve?",
    "Is the panel lit, you can use?",
    'Do you see err="?',
    "Is the log at https://hall.example/log full?",
    "Is the valve (and its seat worn?",
    "Is the issue resolved?",
    "Does this alert fire?",
    "Is the problem confirmed?",
    "Is the fault still there?",
    "Is the pump running when?",
    "Is there at least one pump and it is old?",
    "Are all pumps on and that the lines between them are open?",
    "Does the pump have oil and still fails to start?",
    "Does Hall cooling after the night shift go down?",
    "Is Another reason that the hall is cold because of the draught?",
)


@pytest.mark.parametrize("text", WELL_FORMED)
def test_a_whole_question_in_good_order_is_well_formed(text):
    assert is_well_formed(text)
    assert not is_for_a_person(text)


@pytest.mark.parametrize("text", ILL_FORMED)
def test_what_is_cut_points_elsewhere_or_does_not_agree_is_not(text):
    assert not is_well_formed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Are you comfortable with losing today's readings?",
        "Do you want to keep the old filters?",
        "Would you like to drain the tank?",
        "Is it necessary to save the labels?",
        "Is a drain required?",
        "Are new filters needed?",
        "Should the boiler be drained?",
        "Must the hall be closed?",
        "Do you need to restart the burner?",
        "Does the tank have to be empty?",
        "Is it acceptable that the hall is cold for an hour?",
        "Do you accept the risk of a flood?",
        "Is there a risk of fire?",
        "Do you have permission to open the main valve?",
        "Have you got the approval of the foreman?",
        "Are you allowed to enter hall 4?",
        "Do you prefer the spare burner?",
        "Are you sure that the tank is empty?",
        "Do you suspect a leak?",
        "Do you think that the valve is worn?",
        "Is the bypass intentional?",
        "Is the drain urgent?",
        "Which of the ways is to be taken?",
        "Is it worth the effort?",
        "Is it safe to open the lid?",
        "Have you decided to replace the pump?",
        "Do you plan to move the tank?",
        "Is the noise tolerable?",
        "this needs to be told to the foreman",
        "you want to keep the old filters",
        "a drain is recommended",
    ],
)
def test_consent_permission_risk_wishes_and_duties_are_for_a_person(text):
    assert is_for_a_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "Is the required filter in place?",
        "Does the lock of hall 2 accept the new card?",
        "Is the preferred pump down?",
        "Is the desired pressure reached?",
        "Is the optional heater on?",
        "Does the account of the panel have permission to write to the log?",
        "Is the order waiting for its approval stamp?",
    ],
)
def test_a_fact_that_has_such_a_word_in_it_stays_a_fact(text):
    assert not is_for_a_person(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is the error gone?", False),
        ("Does the problem persist?", False),
        ("Is the alarm of the boiler gone?", True),
        ("None", False),
    ],
)
def test_a_question_names_what_it_is_about(text, expected):
    assert names_something(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is the valve not open?", True),
        ("Does no spare exist?", True),
        ("Isn't the valve open?", True),
        ("Can the panel reach the sensor?", False),
        ("Is the knot tied?", False),
    ],
)
def test_what_is_denied_is_seen(text, expected):
    assert is_negated(text) is expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("the valves does not close", True),
        ("the level of the second tank has not changed", True),
        ("no spare nozzle exists", True),
        ("the panel shows E17", True),
        ("it shows E17", False),
        ("due to a worn seat", False),
        ("worn seat", False),
        ("if the panel shows E17", False),
        ("and the panel shows E17", False),
        ("the panel shows the following errors", False),
        ("the panel shows E17, turn the wheel", False),
        ("close the main valve", False),
        ("is the valve open?", False),
        ("the panel shows `E17`", False),
        ("the problem persists", False),
        ("all pumps are on and that the lines are open", False),
        ("Expected line of the panel shows E17", False),
        ("the burner may fail due to wet fuel", False),
        ("Confirming the leak was caused by this valve", False),
        ("", False),
    ],
)
def test_a_clause_is_a_statement_that_stands_alone(clause, expected):
    assert is_complete_statement(clause) is expected


def test_a_name_is_whole_words_without_markup_or_wishes():
    assert is_complete_name("Burner went out in the night")
    assert is_complete_name("thin", least=1)
    assert not is_complete_name("thin")
    assert not is_complete_name("Burner of {hall} went out")
    assert not is_complete_name("Drain needed")
    assert not is_complete_name("Other problem")
    assert not is_complete_name("Removing the old burner")
    assert not is_complete_name("Error identification")
    assert not is_complete_name("Check the burner")
