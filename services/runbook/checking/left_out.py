"""Conditions that a page states and a program leaves out."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole
from services.knowledge.page.block import BlockKind, Page, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines
from services.runbook.model import LineRange, Procedure
from services.runbook.program import lines_of

_CONDITION = re.compile(r"(?:^|[.:;]\s+)(?:if|unless|otherwise|in case)\b", re.IGNORECASE)
BACKGROUND_ROLES = frozenset(
    {
        SectionRole.MEANING,
        SectionRole.IMPACT,
        SectionRole.CASE,
        SectionRole.EXPECTED,
        SectionRole.PREVENTION,
        SectionRole.REFERENCE,
        SectionRole.PARAMETER,
    }
)
"""Roles of sections whose sentences instruct nobody."""
_WITHOUT_WORDS = frozenset({BlockKind.FRONT_MATTER, BlockKind.COMMENT, BlockKind.RULE})


def uncited_conditions(procedures: Sequence[Procedure], text: str) -> Iterator[LineRange]:
    """Yield the lines of instructing sections that state a condition no node cites, code aside."""
    page = parse_page(text)
    cited = {line for procedure in procedures for line in lines_of(procedure)}
    cited |= set(_background(page))
    for place in page.places():
        for number, words in word_lines(place.block):
            if number not in cited and _CONDITION.search(plain(words)):
                cited.add(number)
                yield number, number


def background_lines(text: str) -> set[int]:
    """Return the lines of the page's head and of the sections without steps."""
    page = parse_page(text)
    lines = set(_background(page))
    before, *sections = page.sections()
    if all(block.kind in _WITHOUT_WORDS for block in before.blocks):
        head = [s.start_line for s in sections if s.start_line <= sections[0].end_line][:2]
        if len(head) > 1:
            lines.update(range(head[0], head[1]))
    return lines


def _background(page: Page) -> Iterator[int]:
    for section in page.sections():
        if section.heading and role_of_heading(section.heading.text) in BACKGROUND_ROLES:
            yield from range(section.start_line, section.end_line + 1)
