"""Passages of a document: each section's own text, with its role for the incident.

A section is cut where its role changes without a heading: at labels and numbered steps.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage, Section
from services.knowledge.document.roles import role_of_heading, role_of_label
from services.knowledge.model import Passage, SectionRole, Span
from services.language.verbs import begins_with_verb

REMEDIES = frozenset({SectionRole.REMEDY, SectionRole.PROCEDURE})
"""Roles that a verification follows; before them it diagnoses."""

_INHERITED = frozenset(SectionRole) - {SectionRole.MEANING}
"""Roles of a section that those below inherit, unless their heading says otherwise."""

_STEPS_INSIDE = frozenset({SectionRole.CHECK, SectionRole.REMEDY, SectionRole.PROCEDURE})
"""Roles below which headings such as `Overview` or `Prerequisites` introduce steps."""

_DESCRIBING = frozenset({SectionRole.MEANING, SectionRole.IMPACT, SectionRole.SYMPTOM})
_LABEL = re.compile(r"^[-*+_#>:\s]*([A-Za-z][A-Za-z #\d/&'-]{2,40}?)[*_]*\s*:[*_]*\s*(.*)$")
_CAPITALS = re.compile(r"^[*_]*([A-Z][A-Z /&'-]{3,40})[*_]*()$")
_STEP = re.compile(r"^[*_]*step\s+\d{1,2}\b", re.IGNORECASE)

RoleByMeaning = Callable[[Sequence[str]], Sequence[SectionRole | None]]


@dataclass
class SectionPart:
    """Piece of a section that plays one role."""

    section: Section
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    role: SectionRole | None
    has_steps: bool


def passages(
    page: MarkdownPage, document_id: str, title: str, role_by_meaning: RoleByMeaning
) -> list[Passage]:
    """Return the passages in document order, every block in exactly one.

    A heading's role is recognised by its wording, else inherited from above, else recognised by
    meaning, and where all fail, decided by whether steps stand under it.
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
    """Yield the section's blocks, cut where their role changes without a heading."""
    path = section.heading_path
    if not path or path[0].casefold() != title.casefold():
        path = (title, *path)
    part: SectionPart | None = None
    # The only heading of the highest level names the page.
    is_title = section.level == 1 and len([s for s in page.sections if s.level == 1]) == 1
    role = SectionRole.MEANING if section.level == 0 else None
    if section.level and not is_title:
        role = role_of_heading(section.title)
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


def _hand_down(parts: list[SectionPart]) -> None:
    roles: dict[tuple[str, ...], SectionRole | None] = {}
    several_titles = len({p.section.heading_path[:1] for p in parts if p.section.level}) > 1
    for part in parts:
        above = _role_above(part, roles, several_titles=several_titles)
        introduces = part.role in {SectionRole.MEANING, SectionRole.NOTE, SectionRole.PARAMETER}
        if above in _INHERITED and (part.role is None or (above in _STEPS_INSIDE and introduces)):
            part.role = above
        roles.setdefault(part.section.heading_path, part.role)


def _role_above(
    part: SectionPart, roles: dict[tuple[str, ...], SectionRole | None], *, several_titles: bool
) -> SectionRole | None:
    path = part.section.heading_path
    for depth in range(len(path) - 1, 0, -1):
        above = path[:depth]
        # A section without text of its own has the role of its wording; the page's title has none.
        is_worded = len(above) > 1 or several_titles
        role = roles.get(above)
        if above not in roles and is_worded:
            role = role_of_heading(above[-1])
        if role:
            return role
    return None


def _ask_meaning(parts: list[SectionPart], role_by_meaning: RoleByMeaning) -> None:
    unknown = [part for part in parts if part.role is None]
    # The page's own heading names the incident; what stands right under it describes it.
    for part in [part for part in unknown if part.section.level == 1]:
        part.role = SectionRole.PROCEDURE if part.has_steps else SectionRole.MEANING
    unknown = [part for part in unknown if part.role is None]
    roles = role_by_meaning([part.heading_path[-1] for part in unknown]) if unknown else ()
    for part, role in zip(unknown, roles, strict=True):
        part.role = role or (SectionRole.PROCEDURE if part.has_steps else SectionRole.NOTE)


def _place_verification(parts: list[SectionPart]) -> None:
    """Make verification before any remedy a check."""
    for index, part in enumerate(parts):
        if part.role is SectionRole.VERIFICATION and not any(
            before.role in REMEDIES for before in parts[:index]
        ):
            part.role = SectionRole.CHECK


@dataclass(frozen=True)
class Cut:
    """Lines of a block; without a role they continue what precedes them."""

    start_line: int
    end_line: int
    label: str = ""
    role: SectionRole | None = None


def cuts(page: MarkdownPage, block: Block, role: SectionRole | None) -> list[Cut]:
    """Cut a block into pieces; `role` is what its section's text has been so far.

    A label is `Cause:` at the start of a line, a line in capitals, or a term of a definition list.
    A numbered list of actions counts as a procedure where the section promises a description.
    """
    whole = Cut(block.start_line, block.end_line)
    if block.kind is BlockKind.PARAGRAPH:
        return list(_of_paragraph(page, block, role))
    if block.kind is BlockKind.LIST and not block.ordered:
        return _of_labelled_items(block) or [whole]
    if role in _DESCRIBING and block.kind is BlockKind.LIST:
        actions = [item for item in block.items if begins_with_verb(item.text) or item.code]
        if len(actions) > 1 and 3 * len(actions) >= len(block.items):
            return [Cut(block.start_line, block.end_line, role=SectionRole.PROCEDURE)]
    return [whole]


def _of_paragraph(page: MarkdownPage, block: Block, role: SectionRole | None) -> Iterator[Cut]:
    open_cut = Cut(block.start_line, block.start_line)
    if role in _DESCRIBING and _STEP.match(page.text(block.start_line, block.start_line)):
        open_cut = Cut(block.start_line, block.start_line, role=SectionRole.PROCEDURE)
    for line in range(block.start_line, block.end_line + 1):
        text = page.text(line, line)
        match = _LABEL.match(text) or _CAPITALS.match(text)
        labelled = role_of_label(match.group(1)) if match else None
        if match is None or labelled is None:
            open_cut = Cut(open_cut.start_line, line, open_cut.label, open_cut.role)
            continue
        if line > block.start_line and open_cut.end_line >= open_cut.start_line:
            yield open_cut
        begin = line if match.group(2) or line == block.end_line else line + 1
        open_cut = Cut(begin, max(begin, line), match.group(1).strip(), labelled)
    yield open_cut


def _of_labelled_items(block: Block) -> list[Cut]:
    """Return one cut per item if each begins with a label."""
    pieces = [
        Cut(item.start_line, item.end_line, head.strip(), role_of_label(head) if colon else None)
        for item in block.items
        for head, colon, _ in [item.text.partition(":")]
    ]
    return pieces if pieces and all(cut.role for cut in pieces) else []
