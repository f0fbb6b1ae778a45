from services.language.pieces import cut_anywhere, statements, with_spaces

TEXT = "Check it; then stop. (Now) e.g. here!"


def test_what_is_looked_up_is_parted_at_semicolons():
    assert statements(TEXT) == ["Check it;", "then stop.", "(Now) e.g. here!"]


def test_what_must_fit_is_cut_anywhere():
    assert cut_anywhere(TEXT) == ["Check it;", "then stop.", "(Now) e.g.", "here!"]


def test_what_is_screened_keeps_its_spaces():
    assert with_spaces('Say "a."  Do b。c') == ['Say "a."  ', "Do b。", "c"]
    assert "".join(with_spaces(TEXT)) == TEXT
    assert with_spaces("") == []
