"""Conditions that a page states and a program leaves out."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.document.markdown import Section, parse
from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole
from services.procedure.model import LineRange, Procedure
from services.procedure.program.cited_lines import lines_of

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_CONDITION = re.compile(
    r"(?:^\s*(?:[-*+>]\s+|\d{1,3}[.)]\s+|\*\*)*|[.:;]\s+)(?:if|unless|otherwise|in case)\b",
    re.IGNORECASE,
)
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


def untold(procedures: Sequence[Procedure], text: str) -> Iterator[LineRange]:
    """Lines of instructing sections, code left out, that state a condition no node cites."""
    told = {line for procedure in procedures for line in lines_of(procedure)}
    told |= set(_background(parse(text).root))
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        in_code ^= _FENCE.match(line) is not None
        if not in_code and number not in told and _CONDITION.search(line):
            yield number, number


def background(text: str) -> set[int]:
    """Lines that tell what the page is about: its head and the sections that tell no steps."""
    root = parse(text).root
    titled = root.children[:1] if not root.blocks else []
    if not any(section.children for section in titled):
        return set(_background(root))
    head = [block for section in titled for block in section.blocks]
    lines = {line for block in head for line in range(block.start_line, block.end_line + 1)}
    return lines | {section.start_line for section in titled} | set(_background(root))


def _background(section: Section) -> Iterator[int]:
    if role_of_heading(section.title) in _BACKGROUND:
        yield from range(section.start_line, section.end_line + 1)
        return
    for child in section.children:
        yield from _background(child)
