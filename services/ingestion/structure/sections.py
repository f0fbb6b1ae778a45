"""A document as passages: each section's own text, and the role it plays for the incident."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.ingestion.structure.cuts import cuts
from services.knowledge.document.markdown import BlockKind, MarkdownPage, Section
from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import Passage, SectionRole, Span

MEND = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE})
"""What a verification follows; before them it diagnoses."""

_HANDED_DOWN = frozenset(SectionRole) - {SectionRole.MEANING}
"""Roles of a section that those below it have too, unless their heading says otherwise."""

_STEPS_INSIDE = frozenset({SectionRole.CHECK, SectionRole.REMEDY, SectionRole.PROCEDURE})
"""Below these, headings such as `Overview` or `Prerequisites` introduce steps."""

RoleByMeaning = Callable[[Sequence[str]], Sequence[SectionRole | None]]


@dataclass
class SectionPart:
    """A piece of a section that plays one role."""

    section: Section
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    role: SectionRole | None
    has_steps: bool


def passages(
    page: MarkdownPage, document_id: str, title: str, role_by_meaning: RoleByMeaning
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


def _parts(page: MarkdownPage, section: Section, title: str) -> Iterator[SectionPart]:
    """The section's blocks, cut where their role changes without a heading."""
    path = section.heading_path
    if not path or path[0].casefold() != title.casefold():
        path = (title, *path)
    part: SectionPart | None = None
    role = _own_role(page, section)
    for block in section.blocks:
        has_steps = block.kind is BlockKind.CODE or block.ordered
        for cut in cuts(page, block, part.role if part else role):
            if part and cut.role is None:
                part.end_line = cut.end_line
                part.has_steps |= has_steps
                continue
            if part:
                yield part
            heading_path = (*path, cut.label) if cut.label else path
            kind = cut.role or role
            part = SectionPart(section, heading_path, cut.start_line, cut.end_line, kind, has_steps)
    if part:
        yield part


def _own_role(page: MarkdownPage, section: Section) -> SectionRole | None:
    if section.level == 0:
        return SectionRole.MEANING
    return None if _is_title(page, section) else role_of_heading(section.title)


def _is_title(page: MarkdownPage, section: Section) -> bool:
    """Whether the heading names the page: the only one of the highest level, above others."""
    return section.level == 1 and len([s for s in page.sections if s.level == 1]) == 1


def _hand_down(parts: list[SectionPart]) -> None:
    roles: dict[tuple[str, ...], SectionRole | None] = {}
    several_titles = len({p.section.heading_path[:1] for p in parts if p.section.level}) > 1
    for part in parts:
        above = _role_above(part, roles, several_titles=several_titles)
        introduces = part.role in {SectionRole.MEANING, SectionRole.NOTE, SectionRole.PARAMETER}
        if above in _HANDED_DOWN and (part.role is None or (above in _STEPS_INSIDE and introduces)):
            part.role = above
        roles.setdefault(part.section.heading_path, part.role)


def _role_above(
    part: SectionPart, roles: dict[tuple[str, ...], SectionRole | None], *, several_titles: bool
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


def _ask_meaning(parts: list[SectionPart], role_by_meaning: RoleByMeaning) -> None:
    unknown = [part for part in parts if part.role is None]
    # The page's own heading names the incident; what stands right under it describes it.
    for part in [part for part in unknown if part.section.level == 1]:
        part.role = SectionRole.PROCEDURE if part.has_steps else SectionRole.MEANING
    unknown = [part for part in unknown if part.role is None]
    found = role_by_meaning([part.heading_path[-1] for part in unknown]) if unknown else ()
    for part, role in zip(unknown, found, strict=True):
        part.role = role or (SectionRole.PROCEDURE if part.has_steps else SectionRole.NOTE)


def _place_verification(parts: list[SectionPart]) -> None:
    """Verification before any remedy is diagnosis."""
    for index, part in enumerate(parts):
        if part.role is SectionRole.VERIFICATION and not any(
            before.role in MEND for before in parts[:index]
        ):
            part.role = SectionRole.CHECK
