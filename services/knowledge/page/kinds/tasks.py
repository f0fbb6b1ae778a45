"""Tasks of a page: sections that are each done on their own, if the form shows it clearly."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.knowledge.document.roles import STEP_ROLES, role_of_heading, without_numbering
from services.knowledge.model import SectionRole
from services.knowledge.page.block import Block, BlockKind, Page, Section, links
from services.knowledge.page.box_signs import word_count
from services.knowledge.page.boxes import Box
from services.language.names import is_identifier

_FEWEST = 3
"""Minimum of sections; two are as often two phases of one task."""
_NEARLY_ALL = 0.75
"""Share of the page's boxes that its tasks must contain: the rest introduces or closes."""
_SHORT = 3
"""Word limit; a heading of fewer words names a phase ("Diagnosis", "Behebung"), not a task."""
_MOST_SHORT = 0.35
_MANY = 8
_MOST_SHORT_OF_MANY = 0.8
"""Limit for many sections: one task hardly has so many phases that a fifth have long names."""
_HALF = 0.5
_MOST = 0.6
_NUMBER_IN_FRONT = re.compile(r"\W*(?:\w{1,9}\s+)?\d{1,3}(?:\s*[.):–—-]|\s|$)")
"""`2.`, `Step 2:`, `第 2 `."""
_QUESTION_MARKS = ("?", "？", "؟")
_SETS = re.compile(r"(?:^|[\s;(])(?:export\s+)?\$?([A-Za-z_]\w{2,})\s*=(?!=)", re.MULTILINE)
_USES = re.compile(r"\$\{?([A-Za-z_]\w{2,})")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}")
_FIRST_NUMBER = re.compile(r"\d+")
_OF_THE_WHOLE_PAGE = frozenset({SectionRole.NOTE, SectionRole.REFERENCE, SectionRole.PARAMETER})
_CLOSING = frozenset({SectionRole.VERIFICATION, SectionRole.ESCALATION})
"""Roles that, beside a section of another role, close what that one began."""


def tasks_of(page: Page, boxes: Sequence[Box]) -> list[Section]:
    """Return the sections that are tasks of their own; none if the page has one task.

    Content outside these sections belongs to all of them. In doubt a page has one task, and its
    sections are phases that are all needed.
    """
    sections = [section for section in page.sections() if section.heading]
    keys = frozenset(box.block.key for box in boxes)
    below, title = sections, sections[:1]
    while below:
        parts = [part for part in _parts(below, keys) if part.acts and not part.is_of_whole_page]
        if len(parts) != 1:
            boxes_in_parts = sum(part.boxes for part in parts)
            is_several = boxes_in_parts >= _NEARLY_ALL * len(boxes) and _are_tasks(parts, page)
            return [part.section for part in parts] if is_several else []
        only = parts[0].sections
        is_title = only[:1] == title or only[0].level == 1
        below = only[1:] if is_title or not _is_short(only[0]) else []
    return []


@dataclass(frozen=True)
class _Part:
    """A section with all sections below it."""

    sections: list[Section]
    """Sections, its own first."""
    blocks: list[Block]
    boxes: int

    @property
    def section(self) -> Section:
        return self.sections[0]

    @property
    def title(self) -> str:
        return self.section.path[-1]

    @property
    def acts(self) -> bool:
        """True if somebody could work by it alone."""
        return self.boxes > 1 or any(b.number or b.kind is BlockKind.CODE for b in self.blocks)

    @property
    def is_of_whole_page(self) -> bool:
        return role_of_heading(self.title) in _OF_THE_WHOLE_PAGE


def _parts(sections: Sequence[Section], boxes: Collection[str]) -> Iterator[_Part]:
    """Yield the uppermost sections, each with those below it."""
    groups: list[list[Section]] = []
    for section in sections:
        if groups and section.start_line <= groups[-1][0].end_line:
            groups[-1].append(section)
        else:
            groups.append([section])
    for group in groups:
        blocks = [block for each in group for top in each.blocks for block in top.walk()]
        yield _Part(group, blocks, sum(block.key in boxes for block in blocks))


def _are_tasks(parts: Sequence[_Part], page: Page) -> bool:
    """Return True unless something shows that the sections are phases of one task."""
    if len(parts) < _FEWEST:
        return False
    short = sum(_is_short(part.section) for part in parts) / len(parts)
    if short > (_MOST_SHORT if len(parts) < _MANY else _MOST_SHORT_OF_MANY):
        return False
    if _follow_one_another(parts) or _are_phases(parts) or _refer(parts, page):
        return False
    return _are_of_a_kind(parts)


def _are_of_a_kind(parts: Sequence[_Part]) -> bool:
    """Return True if most headings name variants of one subject, or all are alert names.

    Tasks do different things to the same: "Add a member", "Remove a member". Phases of one task
    are named for what is done in each.
    """
    words = [_heading_words(part.title) for part in parts]
    alike = sum(
        is_identifier(part.title) or any(own & w for w in words[:n] + words[n + 1 :])
        for n, (part, own) in enumerate(zip(parts, words, strict=True))
    )
    return alike >= _MOST * len(parts)


def _heading_words(title: str) -> set[str]:
    """Return the significant words, by length; pairs of letters in scripts without spaces."""
    words = set(_LONG_WORD.findall(title.casefold()))
    return words | {a + b for run in _UNSPACED.findall(title) for a, b in pairwise(run)}


def _follow_one_another(parts: Sequence[_Part]) -> bool:
    """Return True if headings or lists share a numbering, or one sets what another uses."""
    numbered = sum(bool(_NUMBER_IN_FRONT.match(part.title)) for part in parts)
    return numbered >= _HALF * len(parts) or any(map(_goes_on, parts)) or _share_settings(parts)


def _goes_on(part: _Part) -> bool:
    """Return True if its first list continues the numbers of another section."""
    number = next((block.number for block in part.blocks if block.number), "")
    first = _FIRST_NUMBER.match(number)
    return first is not None and int(first[0]) > 1


def _share_settings(parts: Sequence[_Part]) -> bool:
    before: set[str] = set()
    for part in parts:
        code = "\n".join(b.verbatim for b in part.blocks if b.kind is BlockKind.CODE)
        own = set(_SETS.findall(code))
        if before.intersection(_USES.findall(code)) - own:
            return True
        before |= own
    return False


def _are_phases(parts: Sequence[_Part]) -> bool:
    """Return True if headings name phases, or ask one question after another."""
    roles = {role for part in parts if (role := role_of_heading(part.title)) in STEP_ROLES}
    if len(roles) > 1 and roles & _CLOSING:
        return True
    phases = sum(_is_short(p.section) and role_of_heading(p.title) in STEP_ROLES for p in parts)
    questions = sum(part.title.endswith(_QUESTION_MARKS) for part in parts)
    return phases > 0 or questions >= _HALF * len(parts)


def _refer(parts: Sequence[_Part], page: Page) -> bool:
    """Return True if many of the sections link to the next."""
    following = pairwise(parts)
    sent = sum(
        any(
            page.anchors.get(link.target.removeprefix("#")) == _key(later)
            for block in part.blocks
            for link in links(block.words)
            if link.target.startswith("#")
        )
        for part, later in following
    )
    return sent >= _HALF * (len(parts) - 1)


def _key(part: _Part) -> str:
    return part.section.heading.key if part.section.heading else ""


def _is_short(section: Section) -> bool:
    title = section.path[-1]
    return word_count(without_numbering(title)) < _SHORT and not is_identifier(title)
