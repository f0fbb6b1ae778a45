import pytest

from services.language import cues


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
    ("cue", "said", "other"),
    [
        (cues.is_success, "the issue is resolved", "the issue is known"),
        (cues.closes, "Close the ticket", "Close the valve"),
        (cues.closes, "No further action is required", "No fan is required"),
        (cues.closes, "Stop here", "Stop the pump"),
        (cues.excludes, "This page does not apply", "This pump does not turn"),
        (cues.escalates, "Contact the vendor's support", "Contact lenses are lost"),
        (cues.escalates, "Open a support case", "Open the valve"),
        (cues.goes_on, "continue with the next step", "continue with the pump"),
    ],
)
def test_a_cue_is_told_from_what_looks_like_it(cue, said, other):
    assert cue(said)
    assert not cue(other)


def test_answers_and_alternatives_give_what_they_lead_to():
    assert cues.answered("If yes, stop it") == (True, "stop it")
    assert cues.answered("No: start it") == (False, "start it")
    assert cues.answered("Nobody knows") is None
    assert cues.otherwise("Otherwise, start it") == "start it"
    assert cues.otherwise("If not, start it") == "start it"
    assert cues.otherwise("If not start the pump by hand") == "start the pump by hand"
    assert cues.otherwise("If not set in the file, start it") == ""
    assert cues.otherwise("If it turns, start it") == ""
    assert cues.limits("This page only applies to old pumps") == "old pumps"
    assert cues.limits("This page tells of pumps") == ""
    assert cues.possibility("The cause may be that the fan is dead") == "the fan is dead"
