"""Pages put together by chance: nothing of them is lost in text or Markdown."""

import random
import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt

from services.knowledge.page.block import plain
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.markdown import to_checklist_markdown
from services.runbook.checklist.shown import boxes_of
from services.runbook.checklist.text import to_checklist_text
from tests.checklists import checklist_of

READER = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])
PIECES = (
    "# Heading {n}",
    "## Part {n} of `it`",
    "**Bold {n}**",
    "Look at {n}:",
    "Words {n} over\ntwo lines [here](http://x.example/{n}) and ![seen](a{n}.png) <host>",
    "- item {n}",
    "- [x] ticked {n}\n- [ ] open {n}",
    "{n}. numbered {n}\n{n}. again {n}",
    "{n}) other sign {n}",
    "- outer {n}\n  - inner {n}\n\n    more of inner\n  - next {n}\n\n- last {n}",
    "1. code below {n}\n\n   ```console\n   $ show {n}\n   up {n}\n   ```",
    "```\nverbatim {n}\n\n- no item\n# no heading\n```",
    "> [!NOTE]\n> Mind {n}\n>\n> - a {n}\n> - b {n}",
    "> said {n}\n> > twice {n}",
    "| a{n} | b |\n|---|---|\n| `c` | d {n} |\n| e |",
    "---",
    "<details>\nraw {n}\n</details>",
    "<!-- aside {n} -->",
    "* star {n}\n\n+ plus {n}",
    "\\# escaped {n}, 1\\. so, *stress {n}* and ~~gone {n}~~ \\`tick",
)


def page_of_chance(seed: int) -> str:
    chance = random.Random(seed)
    pieces = [chance.choice(PIECES).replace("{n}", str(n)) for n in range(1, 16)]
    return chance.choice(("\n\n", "\n\n", "\n")).join(pieces) + "\n"


def words_of(page: str) -> Iterator[str]:
    for place in parse_page(page).places():
        block = place.block
        cells = [plain(cell) for row in (block.header, *block.rows) for cell in row]
        yield from re.findall(r"\w+", " ".join((block.text, block.verbatim, *cells)))


def rendered(markdown: str) -> tuple[str, int]:
    """What a reader sees of it, and how many tasks."""
    seen: list[str] = []
    tasks = 0
    for token in READER.parse(markdown):
        if token.type == "inline":
            tasks += token.content.startswith("[ ] ")
            seen += [child.content or " " for child in token.children or ()]
        seen += ["\n", "" if token.type == "inline" else token.content]
    return "".join(seen), tasks


@pytest.mark.parametrize("seed", range(120))
def test_all_words_are_in_each_form_in_their_order_with_a_box_at_each_step(seed):
    page = page_of_chance(seed)
    workflow = checklist_of(page, title="By chance")
    text = to_checklist_text(workflow)
    seen, tasks = rendered(to_checklist_markdown(workflow))
    for form in (text, seen):
        words = iter(re.findall(r"\w+", form))
        for word in words_of(page):
            assert word in words, word
    boxes = len(boxes_of(workflow))
    assert tasks == boxes
    assert text.count("[ ] ") >= boxes
