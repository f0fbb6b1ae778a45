import pytest

from services.language.answers import answer_of, compared_answer, is_both


def test_answers_in_other_words_are_neither_yes_nor_no():
    assert (answer_of("Yes"), answer_of("otherwise"), answer_of("two fans")) == (1.0, -1.0, 0.0)


def test_an_answer_may_say_both():
    assert is_both("yes or no")
    assert not is_both("yes")
    assert not is_both("two fans")


@pytest.mark.parametrize(
    ("question", "label", "answer"),
    [
        ("Is it ready?", "Yes", True),
        ("Is it not ready?", "No", True),
        ("Is it missing?", "failed", True),
        ("Is it ready?", "Otherwise", False),
        ("How many?", "Two fans.", "two fans"),
    ],
)
def test_an_answer_is_compared_with_its_question(question, label, answer):
    assert compared_answer(question, label) == answer
