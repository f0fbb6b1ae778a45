from services.language.names import is_alert_name, is_identifier, split_name, words_of


def test_names_are_told_from_words():
    assert is_alert_name("FanNotTurning")
    assert not is_alert_name("Fan")
    assert is_identifier("max_speed")
    assert not is_identifier("speed")
    assert words_of("FanNotTurning max-speed") == ("fan", "not", "turning", "max", "speed")


def test_a_name_written_together_is_split_into_words():
    assert split_name("NodeFilesystemSpaceFillingUp") == "Node Filesystem Space Filling Up"
