import pytest

from services.language.verbs import (
    base_of_gerund,
    base_of_participle,
    base_of_third,
    begins_with_verb,
    may_be_instruction,
    third_person,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Promote the standby",
        "Detach volume 3",
        "Manually restart the broker",
        "Then enter the code",
        "Check logs of the broker",
        "Re-seat the tray",
        "Quux the broker",
        "Log in to the broker",
    ],
)
def test_what_begins_with_a_base_form_tells_to_do_something(sentence):
    assert begins_with_verb(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The broker restarts",
        "Logs are rotated daily",
        "Access is denied",
        "Access to that pump will be cut off",
        "Output from the pump should be clean",
        "Source and destination of the flow",
        "Resource limits of the pump",
        "Sample output of the broker",
        "Restarting the broker helps",
        "Usually the broker restarts",
        "Power supply of the broker",
        "ALTER the table",
        "",
        "Under the hood",
    ],
)
def test_other_sentences_do_not(sentence):
    assert not begins_with_verb(sentence)


def test_forms_lead_back_to_their_verb():
    assert base_of_gerund("increasing") == "increase"
    assert base_of_gerund("setting") == "set"
    assert base_of_gerund("string") == ""
    assert base_of_third("replies") == "reply"
    assert base_of_third("ready") == ""
    assert base_of_participle("stopped") == "stop"
    assert base_of_participle("chosen") == "choose"
    assert third_person("have") == "has"


@pytest.mark.parametrize(
    "sentence", ["Show passwords.", "Run, then report", "- Reply with 10", "Re-check it", "Curl it"]
)
def test_what_may_tell_somebody_is_seen(sentence):
    assert may_be_instruction(sentence)


@pytest.mark.parametrize("sentence", ["Neighbour 10.0.0.1 is idle.", "%BGP-5: down", "", "..."])
def test_what_a_log_says_tells_nobody(sentence):
    assert not may_be_instruction(sentence)
