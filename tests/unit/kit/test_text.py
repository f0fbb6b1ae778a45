import pytest

from services.kit.text import clean_text, ellipsize, squeeze


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
        ("a\r\nb", "a\nb"),
        ("nul\0bell\x07", "nul bell "),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("lone \ud800 half", "lone   half"),
        ("grüße 漢字 🚨", "grüße 漢字 🚨"),
    ],
)
def test_only_what_no_store_takes_is_removed(raw, kept):
    assert clean_text(raw) == kept


@pytest.mark.parametrize(
    ("most", "cut"), [(8, "too  far"), (7, "too  f…"), (5, "too…"), (4, "too…")]
)
def test_a_cut_text_ends_with_an_ellipsis(most, cut):
    assert ellipsize("too  far", most) == cut


def test_each_run_of_white_space_is_one_space():
    assert squeeze(" one\n\ttwo  three ") == "one two three"
