from services.language.names import is_alert_name, is_identifier, words_of
from services.language.states import answer_of, names_fault, negates, polarity


def test_a_state_is_fine_or_faulty():
    assert polarity("the broker is ready") > 0
    assert polarity("the broker is not ready") < 0
    assert polarity("the broker is unreachable") < 0
    assert names_fault("the disk is full")
    assert not names_fault("the disk turns")
    assert negates("it is not so")
    assert not negates("it is so")


def test_answers_in_other_words_are_neither_yes_nor_no():
    assert (answer_of("Yes"), answer_of("otherwise"), answer_of("two fans")) == (1.0, -1.0, 0.0)


def test_names_are_told_from_words():
    assert is_alert_name("FanNotTurning")
    assert not is_alert_name("Fan")
    assert is_identifier("max_speed")
    assert not is_identifier("speed")
    assert words_of("FanNotTurning max-speed") == ("fan", "not", "turning", "max", "speed")
