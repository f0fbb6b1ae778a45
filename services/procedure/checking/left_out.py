"""Conditions that a page states and a program leaves out."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole
from services.knowledge.page.block import BlockKind, Page, plain
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.word_lines import word_lines
from services.procedure.model import LineRange, Procedure
from services.procedure.program.cited_lines import lines_of

_CONDITION = re.compile(r"(?:^|[.:;]\s+)(?:if|unless|otherwise|in case)\b", re.IGNORECASE)
_BACKGROUND = frozenset(
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
"""Sections whose sentences tell nobody to do anything."""
_WITHOUT_WORDS = frozenset({BlockKind.FRONT_MATTER, BlockKind.COMMENT, BlockKind.RULE})


def untold(procedures: Sequence[Procedure], text: str) -> Iterator[LineRange]:
    """Lines of instructing sections, code left out, that state a condition no node cites."""
    page = parse_page(text)
    told = {line for procedure in procedures for line in lines_of(procedure)}
    told |= set(_background(page))
    for place in page.places():
        for number, words in word_lines(place.block):
            if number not in told and _CONDITION.search(plain(words)):
                told.add(number)
                yield number, number


def background(text: str) -> set[int]:
    """Lines that tell what the page is about: its head and the sections that tell no steps."""
    page = parse_page(text)
    found = set(_background(page))
    before, *sections = page.sections()
    if all(block.kind in _WITHOUT_WORDS for block in before.blocks):
        head = [s.start_line for s in sections if s.start_line <= sections[0].end_line][:2]
        if len(head) > 1:
            found.update(range(head[0], head[1]))
    return found


def _background(page: Page) -> Iterator[int]:
    for section in page.sections():
        if section.heading and role_of_heading(section.heading.text) in _BACKGROUND:
            yield from range(section.start_line, section.end_line + 1)
