import pytest

from services.language.sentences import (
    cut_anywhere,
    is_lead_in,
    parse_instruction,
    sentences,
    statements,
    with_spaces,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Stop the pump. Open the valve.", ["Stop the pump.", "Open the valve."]),
        ("Use a tool, e.g. Acme's. Then wait.", ["Use a tool, e.g. Acme's.", "Then wait."]),
        ("2.1 Stop the pump 2.2 Open the valve", ["2.1 Stop the pump", "2.2 Open the valve"]),
        (
            "Version 2.1 Replaces version 3.4 Entirely",
            ["Version 2.1 Replaces version 3.4 Entirely"],
        ),
        (
            "Stop it (as root. Not as admin), then wait. Go.",
            ["Stop it (as root. Not as admin), then wait.", "Go."],
        ),
        ("Stop it. (As root. Mind the gap.) Go.", ["Stop it.", "(As root. Mind the gap.)", "Go."]),
        (
            'Look for "Pump is dry. Fill it up." Then stop.',
            ['Look for "Pump is dry. Fill it up."', "Then stop."],
        ),
        ("...", []),
        ("", []),
    ],
)
def test_a_paragraph_is_cut_into_sentences(text, parts):
    assert sentences(text) == parts


def test_no_sentence_ends_in_code():
    text = "Ask dig pump.example. SRV for it. Then stop."
    assert sentences(text, ["dig pump.example. SRV"]) == [
        "Ask dig pump.example. SRV for it.",
        "Then stop.",
    ]


@pytest.mark.parametrize(
    ("sentence", "imperative"),
    [
        ("Please restart the pump.", "Restart the pump"),
        ("You should also drain the node", "Drain the node"),
        ("(host1#) Drain the node", "Drain the node"),
        ("It may be necessary to reset the pump.", "Reset the pump if necessary"),
        ("We can always start another pump.", "Start another pump"),
        ("On the node, run: pumpctl start", "On the node, run: pumpctl start"),
        ("To list the pumps, run the following command:", "List the pumps"),
        ("Users must restart the pump.", "Restart the pump"),
        ("Users can restart the pump from anywhere.", ""),
        ("The following command will drain the tank:", "Drain the tank"),
        ("This command will drain the tank.", ""),
        ("When people open the page, press Stop, they will see a lamp", ""),
        ('In the hall, people see a sign, "To stop it, press the knob."', ""),
        ("Network or proxy trouble near the pump", ""),
        ("Run the following command to list the pumps:", "List the pumps"),
        ("To list the pumps, open the console", "To list the pumps, open the console"),
        ("In the console, press Stop.", "In the console, press Stop"),
        ("After the test, all pumps, valves and fans stop.", ""),
        ("The pump is restarted by the controller.", ""),
        ("Keep in mind that the pump is old.", ""),
        ("See the manual for more information.", ""),
        ("See the manual to find the part number.", "See the manual to find the part number"),
    ],
)
def test_an_instruction_is_told_in_an_imperative(sentence, imperative):
    assert parse_instruction(sentence) == imperative


@pytest.mark.parametrize(
    ("sentence", "is_bare"),
    [("Do the following:", True), ("Run these commands", True), ("Run the backup tool", False)],
)
def test_a_sentence_that_only_leads_to_what_follows_is_recognised(sentence, is_bare):
    assert is_lead_in(sentence) is is_bare


def test_what_only_says_where_to_read_on_is_no_instruction():
    assert parse_instruction("For a full documentation, refer to the manual") == ""
    assert parse_instruction("To learn more, see the manual") == ""


@pytest.mark.parametrize(
    ("sentence", "imperative"),
    [
        ("On the master node, run:", "On the master node, run"),
        ("On the host run the following command:", "On the host run the following command"),
        ("Then run:", "Run"),
        ("Commands to run:", ""),
        ("The pods that run:", ""),
        ("At night the scheduler will execute the following steps:", ""),
        ("On the master node it may run", ""),
    ],
)
def test_what_stands_below_is_run_wherever_it_says(sentence, imperative):
    assert parse_instruction(sentence) == imperative


TEXT = "Check it; then stop. (Now) e.g. here!"


def test_what_is_looked_up_is_parted_at_semicolons():
    assert statements(TEXT) == ["Check it;", "then stop.", "(Now) e.g. here!"]


def test_what_must_fit_is_cut_anywhere():
    assert cut_anywhere(TEXT) == ["Check it;", "then stop.", "(Now) e.g.", "here!"]


def test_what_is_screened_keeps_its_spaces():
    assert with_spaces('Say "a."  Do b。c') == ['Say "a."  ', "Do b。", "c"]
    assert "".join(with_spaces(TEXT)) == TEXT
    assert with_spaces("") == []
