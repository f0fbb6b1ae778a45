import pytest

from services.language import cues
from services.language.cues import JumpClause, parse_jump


@pytest.mark.parametrize(
    "text",
    [
        "the issue persists",
        "that does not help",
        "the problem is still not resolved",
        "restarting the broker doesn't work",
        "none of these steps helped",
        "the alert continues to fire",
    ],
)
def test_what_did_not_help_is_an_outcome(text):
    assert cues.is_outcome(text)
    assert not cues.is_success(text)


@pytest.mark.parametrize("text", ["the fan is dead", "the broker does not start", "it is full"])
def test_a_state_is_no_outcome(text):
    assert not cues.is_outcome(text)


@pytest.mark.parametrize(
    ("cue", "text", "other"),
    [
        (cues.is_success, "the issue is resolved", "the issue is known"),
        (cues.is_closing, "Close the ticket", "Close the valve"),
        (cues.is_closing, "No further action is required", "No fan is required"),
        (cues.is_closing, "Stop here", "Stop the pump"),
        (cues.is_out_of_scope, "This page does not apply", "This pump does not turn"),
        (cues.is_escalation, "Contact the vendor's support", "Contact lenses are lost"),
        (cues.is_escalation, "Open a support case", "Open the valve"),
        (cues.is_continue, "continue with the next step", "continue with the pump"),
    ],
)
def test_a_cue_is_told_from_what_looks_like_it(cue, text, other):
    assert cue(text)
    assert not cue(other)


def test_alternatives_give_what_they_lead_to():
    assert cues.otherwise_action("Otherwise, start it") == "start it"
    assert cues.otherwise_action("If not, start it") == "start it"
    assert cues.otherwise_action("If not start the pump by hand") == "start the pump by hand"
    assert cues.otherwise_action("If not set in the file, start it") == ""
    assert cues.otherwise_action("If it turns, start it") == ""


@pytest.mark.parametrize(
    ("sentence", "jump"),
    [
        ("Go to step 4", JumpClause("", number=4)),
        ("Stop the pump and go back to step 2.", JumpClause("Stop the pump", number=2)),
        ("Continue with 'Replace the supply'", JumpClause("", title="Replace the supply")),
        ("Skip ahead to Mitigation", JumpClause("", title="Mitigation")),
    ],
)
def test_a_jump_tells_where_it_leads(sentence, jump):
    assert parse_jump(sentence) == jump


def test_other_sentences_lead_nowhere():
    assert parse_jump("The pump has 4 steps") is None
