from services.knowledge.page.block import plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines


def lines_of(text: str) -> list[tuple[int, str]]:
    page = parse_page(text)
    return [(n, plain(words)) for place in page.places() for n, words in word_lines(place.block)]


def test_words_stand_on_the_lines_on_which_the_page_has_them():
    text = "# Pumps\n\n1. Stop **the\n   old** pump\n   - and `tag` it\n\n> [!NOTE]\n> It hums.\n"

    assert lines_of(text) == [
        (1, "Pumps"),
        (3, "Stop the"),
        (4, "old pump"),
        (5, "and tag it"),
        (8, "It hums."),
    ]


def test_a_cell_stands_on_the_line_of_its_row():
    text = "| Lamp | Do |\n|---|---|\n| red | *Stop* |\n\n<table><tr><td>a<td>b</table>\n"
    header = [(1, "Lamp"), (1, "Do")]

    assert lines_of(text) == [*header, (3, "red"), (3, "Stop"), (5, "a"), (5, "b")]


def test_a_break_of_html_ends_no_line():
    assert lines_of("Open<br>the lid\nand look\n") == [(1, "Open the lid"), (2, "and look")]
