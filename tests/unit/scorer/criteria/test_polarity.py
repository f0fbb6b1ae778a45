import pytest

from services.scorer.criteria.polarity import polarity


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
