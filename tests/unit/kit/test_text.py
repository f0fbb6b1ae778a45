import pytest

from services.kit.text import clean_text


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
        ("a\r\nb", "a\nb"),
        ("nul\0bell\x07", "nul bell "),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("lone \ud800 half", "lone   half"),
        ("grüße 漢字 🚨", "grüße 漢字 🚨"),
    ],
)
def test_only_what_no_store_takes_is_removed(given, kept):
    assert clean_text(given) == kept
