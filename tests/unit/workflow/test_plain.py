import pytest

from services.workflow.plain import plain


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("**Stop** the `web` pod", "Stop the web pod"),
        ("Read<br/>the<BR>log", "Read the log"),
        ("see [the page](https://example.org/a_b) first", "see the page first"),
        ("see [the page][1]", "see the page"),
        ("<b>Now</b> &amp; <span class='x'>then</span>", "Now & then"),
        ("ping <host> &lt;twice&gt;", "ping <host> <twice>"),
        ("follow <https://example.org>", "follow https://example.org"),
        ("_look_ at *this* and snake_case_name", "look at this and snake_case_name"),
        ("## Heading", "Heading"),
        ("- item", "item"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("  two\n lines ", "two lines"),
        ("~~old~~ new", "old new"),
        ("", ""),
    ],
)
def test_markup_goes_and_words_stay(label: str, words: str) -> None:
    assert plain(label) == words
