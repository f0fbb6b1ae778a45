"""A document as passages: each section's own text, and the role it plays for the incident."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.imperative import begins_with_verb
from services.knowledge.markdown import Block, BlockKind, Page, Section
from services.knowledge.model import Passage, SectionRole, Span
from services.knowledge.roles import role_of_heading, role_of_label

MEND = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE})
"""What a verification follows; before them it diagnoses."""

_HANDED_DOWN = frozenset(SectionRole) - {SectionRole.MEANING}
"""Roles of a section that those below it have too, unless their heading says otherwise."""

_STEPS_INSIDE = frozenset({SectionRole.CHECK, SectionRole.REMEDY, SectionRole.PROCEDURE})
"""Below these, headings such as `Overview` or `Prerequisites` introduce steps."""

_DESCRIBING = frozenset({SectionRole.MEANING, SectionRole.IMPACT, SectionRole.SYMPTOM})

_LABEL = re.compile(r"^[*_#>\s]*([A-Za-z][A-Za-z /&'-]{2,40}?)[*_]*\s*(:)[*_]*\s*(.*)$")
_CAPITALS = re.compile(r"^[*_]*([A-Z][A-Z /&'-]{3,40})[*_]*$")

RoleByMeaning = Callable[[Sequence[str]], Sequence[SectionRole | None]]


@dataclass
class Part:
    """A piece of a section that plays one role."""

    section: Section
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    role: SectionRole | None
    has_steps: bool


def passages(
    page: Page, document_id: str, title: str, role_by_meaning: RoleByMeaning
) -> list[Passage]:
    """Passages in document order, every block in exactly one.

    A heading's role is told by its wording, else handed down from above, else told by meaning, and
    where all fail, by whether steps stand under it.
    """
    parts = [part for section in page.sections for part in _parts(page, section, title)]
    _hand_down(parts)
    _ask_meaning(parts, role_by_meaning)
    _place_verification(parts)
    return [
        Passage(
            span=Span(document_id=document_id, start_line=part.start_line, end_line=part.end_line),
            role=part.role or SectionRole.NOTE,
            heading_path=part.heading_path,
            text=page.text(part.start_line, part.end_line),
        )
        for part in parts
    ]


def _parts(page: Page, section: Section, title: str) -> Iterator[Part]:
    """The section's blocks, cut where a paragraph begins with a label such as `Cause:`."""
    path = section.heading_path
    if not path or path[0].casefold() != title.casefold():
        path = (title, *path)
    label, role = "", _own_role(page, section)
    run: list[Block] = []
    for block in section.blocks:
        found = _label(page, block) or _instructions(block, role)
        if found and run:
            yield _part(section, path, label, role, run)
            run = []
        if found:
            label, role = found
        run.append(block)
    if run:
        yield _part(section, path, label, role, run)


def _part(
    section: Section,
    path: tuple[str, ...],
    label: str,
    role: SectionRole | None,
    run: Sequence[Block],
) -> Part:
    has_steps = any(block.kind is BlockKind.LIST and block.ordered for block in run) or any(
        block.kind is BlockKind.CODE for block in run
    )
    heading_path = (*path, label) if label else path
    return Part(section, heading_path, run[0].start_line, run[-1].end_line, role, has_steps)


def _own_role(page: Page, section: Section) -> SectionRole | None:
    if section.level == 0:
        return SectionRole.MEANING
    return None if _is_title(page, section) else role_of_heading(section.title)


def _is_title(page: Page, section: Section) -> bool:
    """Whether the heading names the page: the only one of the highest level, above others."""
    return section.level == 1 and len([s for s in page.sections if s.level == 1]) == 1


def _instructions(block: Block, role: SectionRole | None) -> tuple[str, SectionRole] | None:
    """A numbered list of things to do below a heading that promises a description."""
    if role not in _DESCRIBING or block.kind is not BlockKind.LIST or not block.ordered:
        return None
    told = [item for item in block.items if begins_with_verb(item.text) or item.code]
    enough = len(told) > 1 and 3 * len(told) >= len(block.items)
    return ("", SectionRole.PROCEDURE) if enough else None


def _label(page: Page, block: Block) -> tuple[str, SectionRole] | None:
    """The label a paragraph begins with, where its wording has a role."""
    if block.kind is not BlockKind.PARAGRAPH:
        return None
    line = page.text(block.start_line, block.start_line)
    match = _LABEL.match(line) or _CAPITALS.match(line)
    if match is None:
        return None
    role = role_of_label(match.group(1))
    return (match.group(1).strip(), role) if role else None


def _hand_down(parts: list[Part]) -> None:
    roles: dict[tuple[str, ...], SectionRole | None] = {}
    several_titles = len({p.section.heading_path[:1] for p in parts if p.section.level}) > 1
    for part in parts:
        above = _role_above(part, roles, several_titles=several_titles)
        introduces = part.role in {SectionRole.MEANING, SectionRole.NOTE, SectionRole.PARAMETER}
        if above in _HANDED_DOWN and (part.role is None or (above in _STEPS_INSIDE and introduces)):
            part.role = above
        roles.setdefault(part.section.heading_path, part.role)


def _role_above(
    part: Part, roles: dict[tuple[str, ...], SectionRole | None], *, several_titles: bool
) -> SectionRole | None:
    path = part.section.heading_path
    for depth in range(len(path) - 1, 0, -1):
        above = path[:depth]
        role = roles[above] if above in roles else _wording(above, several_titles=several_titles)
        if role:
            return role
    return None


def _wording(path: tuple[str, ...], *, several_titles: bool) -> SectionRole | None:
    """The role of a section without text of its own; the page's title has none."""
    return role_of_heading(path[-1]) if len(path) > 1 or several_titles else None


def _ask_meaning(parts: list[Part], role_by_meaning: RoleByMeaning) -> None:
    unknown = [part for part in parts if part.role is None]
    # The page's own heading names the incident; what stands right under it describes it.
    for part in [part for part in unknown if part.section.level == 1]:
        part.role = SectionRole.PROCEDURE if part.has_steps else SectionRole.MEANING
    unknown = [part for part in unknown if part.role is None]
    found = role_by_meaning([part.heading_path[-1] for part in unknown]) if unknown else ()
    for part, role in zip(unknown, found, strict=True):
        part.role = role or (SectionRole.PROCEDURE if part.has_steps else SectionRole.NOTE)


def _place_verification(parts: list[Part]) -> None:
    """Verification before any remedy is diagnosis."""
    for index, part in enumerate(parts):
        if part.role is SectionRole.VERIFICATION and not any(
            before.role in MEND for before in parts[:index]
        ):
            part.role = SectionRole.CHECK
