import pytest

from services.language.pronouns import asked_about, named


@pytest.mark.parametrize(
    ("asks", "condition", "subject"),
    [
        (
            "Check whether the port to the peer is up",
            "If it is down, reseat it",
            "the port to the peer",
        ),
        ("Check that the servers answer in the VRF", "If they do not answer, go on", "the servers"),
        ("Check whether the peer answers: `ping`", "If it answers, go on", "the peer"),
        ("See whether the log has a line", "If it is full, rotate it", ""),
        ("Check whether the peer answers", "If it is down, go on", ""),
        ("Look at the counter", "If it grows, go on", ""),
    ],
)
def test_it_is_what_the_sentence_before_asks_about(asks, condition, subject):
    assert asked_about(asks, condition) == subject


def test_the_subject_takes_the_place_of_the_pronoun():
    assert named("If they do not answer, go on", "the servers") == (
        "If the servers do not answer, go on"
    )
