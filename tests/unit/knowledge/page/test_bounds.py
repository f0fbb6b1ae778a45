"""Pages that are too long, too deep or broken: all is shown, in bounded time."""

import sys
import time

import pytest

from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page

_MANY = 20_000
_SECONDS = 60
"""Many times what each takes; a parser that goes by the square needs many minutes."""


def items_nested(depth: int) -> str:
    return "\n".join(f"{'  ' * level}- item {level}" for level in range(depth))


def test_sixty_nested_items_and_what_follows_are_shown() -> None:
    page = parse_page(items_nested(60) + "\n\n# After\n")
    items = [place.block for place in page.places() if place.block.kind is BlockKind.ITEM]
    assert [item.text for item in items] == [f"item {level}" for level in range(60)]
    assert page.blocks[-1].text == "After"


@pytest.mark.parametrize(
    "text",
    [
        items_nested(500),
        "".join(f"{'> ' * level}line {level}\n\n" for level in range(300)),
        "> - " * 1000 + "deep",
        "<div><ul><li>" * 2000 + "deep",
        "\n\n".join("> " * level + "<div><ul><li><details>x" for level in range(80)),
        "*a **b " * 1000 + "deep",
    ],
)
def test_no_depth_ends_the_process_or_swallows_what_follows(text: str) -> None:
    page = parse_page(text + "\n\n\n# After\n")
    assert page.blocks[-1].text == "After"
    shown = " ".join(f"{place.block.text} {place.block.verbatim}" for place in page.places())
    assert all(word in shown for word in set(text.split()) if word.isalnum())
    assert max(len(place.parents) for place in page.places()) < sys.getrecursionlimit() / 4


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\n".join(f"{n}. item `x` {n}" for n in range(_MANY)), id="items"),
        pytest.param("word **bold** [a](b) " * 250_000, id="one line of 5 MB"),
        pytest.param("<p>word<li>" * 450_000, id="one line of HTML"),
        pytest.param("[" * 5_000_000, id="brackets"),
        pytest.param(("[" * 999 + "\n\n") * 500, id="lines of brackets"),
        pytest.param("word\n" + ": is\n" * _MANY, id="definitions of one word"),
        pytest.param(":::note\n" * _MANY, id="containers without end"),
        pytest.param("{note}\n{info}\n" * 8_000, id="panels in one another"),
        pytest.param("<!--\n" * _MANY, id="comments without end"),
        pytest.param("<div>" + "<a " * 60_000, id="tags without end"),
        pytest.param("https://a.example/" + ")" * 19_000, id="an address in brackets"),
        pytest.param("|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n" + "|x" * 20_000, id="table"),
    ],
)
def test_long_pages_are_read_in_bounded_time(text: str) -> None:
    began = time.process_time()
    page = parse_page(text)
    assert time.process_time() - began < _SECONDS
    assert page.blocks[0].start_line == 1
    assert page.blocks[-1].end_line == len(text.rstrip("\n").split("\n"))


def test_a_long_line_is_shown_whole() -> None:
    text = "word **bold** " * 10_000
    assert parse_page(text).blocks[0].text == text.strip()


def test_a_fence_that_never_ends_keeps_its_lines() -> None:
    page = parse_page("# A\n\n```sh\nls\n\n# B\n")
    assert page.blocks[1].verbatim == "ls\n\n# B"


def test_scripts_of_all_directions_and_letters_without_width() -> None:
    page = parse_page(
        "# العنوان\n\n1. تحقق من `pod`\n\n\u200b\n\n- a\u200bb\n\t- tab\n  \t- mixed\n"
    )
    assert [block.kind for block in page.blocks] == ["heading", "list", "paragraph", "list"]
    assert page.blocks[1].children[0].text == "تحقق من pod"
    assert page.blocks[3].children[0].text == "a\u200bb"


def test_letters_that_are_no_text_are_read() -> None:
    assert parse_page("a \ud800 b\n\n\x00 c\n").blocks[0].text == "a \ud800 b"
    assert parse_page("").blocks == ()
    assert parse_page(" \n\t\n").blocks == ()
