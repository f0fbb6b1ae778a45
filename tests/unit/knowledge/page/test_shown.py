"""Blocks against GitHub's own renderer: nothing of a page is lost, made by chance or real."""

import os
import random
import re
from itertools import chain
from pathlib import Path

import pytest

from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.parsing import parse_page
from tests.unit.knowledge.page.made_pages import made_page, made_soup
from tests.unit.knowledge.page.shown import (
    Shown,
    as_plain_markdown,
    shown_by_blocks,
    shown_by_renderer,
)

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[5] / "shared" / "data"))
CORPUS = DATA / "corpus"
MADE = 400
SOUPS = 2_000
_UNMATCHED_TICKS = re.compile(r"(?<!`)``(?!`)")

needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason=f"no pages at {CORPUS}: set FLOWXPERT_DATA"
)


def lines_not_in_one_block(page: Page) -> list[int]:
    blocks_by_line = [0] * (len(page.lines) + 1)
    for block in page.blocks:
        for line in range(block.start_line, block.end_line + 1):
            blocks_by_line[line] += 1
    lines = enumerate(page.lines, start=1)
    return [n for n, line in lines if line.strip() and blocks_by_line[n] != 1]


def lines_of_no_form(page: Page) -> int:
    others = [block for block in page.blocks if block.kind is BlockKind.OTHER]
    return sum(block.end_line - block.start_line + 1 for block in others)


def difference(text: str, page: Page) -> str:
    """Return where the blocks show something else than the renderer, or an empty text."""
    blocks, renderer = shown_by_blocks(page), shown_by_renderer(text)
    if blocks.words != renderer.words:
        return f"words: {first_difference(blocks.words, renderer.words)}"
    # A pair of backticks without its end makes cmark leave later spans of the paragraph as text.
    is_code_comparable = all(
        len(_UNMATCHED_TICKS.findall(paragraph)) % 2 == 0
        for paragraph in as_plain_markdown(text).split("\n\n")
    )
    if is_code_comparable and blocks.code != renderer.code:
        return f"code: {first_difference(blocks.code, renderer.code)}"
    missing = links_missing(blocks, renderer)
    return f"link: {missing!r}" if missing else ""


def first_difference(blocks: list[str], renderer: list[str]) -> str:
    pairs = zip(chain(blocks, [None]), chain(renderer, [None]), strict=False)
    at = next(n for n, (ours, theirs) in enumerate(pairs) if ours != theirs)
    return f"blocks {blocks[max(0, at - 3) : at + 6]}, renderer {renderer[max(0, at - 3) : at + 6]}"


def links_missing(blocks: Shown, renderer: Shown) -> str:
    """Return the first link of the renderer that the blocks do not have in its place.

    The blocks may have more: addresses within square brackets, which the renderer leaves as text.
    """
    rest = iter(blocks.links)  # `in` goes on from the link before.
    return next((link for link in renderer.links if link not in rest), "")


def check(texts: dict[str, str]) -> None:
    total = other = 0
    differences = {}
    for name, text in texts.items():
        page = parse_page(text)
        assert not lines_not_in_one_block(page), name
        total += sum(bool(line.strip()) for line in page.lines)
        other += lines_of_no_form(page)
        if differs := difference(text, page):
            differences[name] = differs
    assert not differences
    assert other <= total / 100


@pytest.mark.parametrize("seed", range(8))
def test_made_pages_show_all_that_the_renderer_shows(seed: int) -> None:
    chance = random.Random(seed)
    check({f"{seed}.{n}": made_page(chance) for n in range(MADE // 8)})


@pytest.mark.parametrize("seed", range(4))
def test_each_line_of_any_soup_belongs_to_one_block(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(SOUPS // 4):
        text = made_soup(chance)
        assert not lines_not_in_one_block(parse_page(text)), text


@needs_corpus
def test_every_eighth_page_shows_all_that_the_renderer_shows() -> None:
    pages = sorted(CORPUS.rglob("*.md"))[::8]
    check({str(path): path.read_text(errors="replace") for path in pages})


def test_a_lost_word_is_noticed() -> None:
    page = parse_page("one two\n\n1. three `x`\n")
    assert difference("one two\n\n1. three `x`\n", page) == ""
    assert difference("one two four\n\n1. three `x`\n", page).startswith("words")
    assert difference("one two\n\n2. three `x`\n", page).startswith("words")
    assert difference("one two\n\n1. three x\n", page).startswith("code")
    assert difference("one [two](a)\n\n1. three `x`\n", page).startswith("link")
