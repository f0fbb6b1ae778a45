import pytest

from services.language.states import names_fault, negates, polarity


def test_a_state_is_fine_or_faulty():
    assert polarity("the broker is ready") > 0
    assert polarity("the broker is not ready") < 0
    assert polarity("the broker is unreachable") < 0
    assert names_fault("the disk is full")
    assert not names_fault("the disk turns")
    assert negates("it is not so")
    assert not negates("it is so")


@pytest.mark.parametrize(
    "text", ["Service has ready endpoints?", "Is the link up?", "No errors?", "passed?"]
)
def test_what_should_be_so_is_fine(text):
    assert polarity(text) > 0


@pytest.mark.parametrize("text", ["Certificate expired?", "Is the session failing?", "Disk full?"])
def test_what_should_not_be_so_is_faulty(text):
    assert polarity(text) < 0


def test_the_last_words_decide():
    assert polarity("The installation failed - passed?") > polarity("Passed, then it failed")
