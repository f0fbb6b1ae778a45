"""Where a section's text changes its role without a heading: labels and numbered instructions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage
from services.knowledge.document.roles import role_of_label
from services.knowledge.model import SectionRole
from services.language.verbs import begins_with_verb

_DESCRIBING = frozenset({SectionRole.MEANING, SectionRole.IMPACT, SectionRole.SYMPTOM})
_LABEL = re.compile(r"^[-*+_#>:\s]*([A-Za-z][A-Za-z #\d/&'-]{2,40}?)[*_]*\s*:[*_]*\s*(.*)$")
_CAPITALS = re.compile(r"^[*_]*([A-Z][A-Z /&'-]{3,40})[*_]*()$")
_STEP = re.compile(r"^[*_]*step\s+\d{1,2}\b", re.IGNORECASE)


@dataclass(frozen=True)
class Cut:
    """Lines of a block; without a role they go on with what stands before them."""

    start_line: int
    end_line: int
    label: str = ""
    role: SectionRole | None = None


def cuts(page: MarkdownPage, block: Block, role: SectionRole | None) -> list[Cut]:
    """The block in pieces; `role` is what its section's text has been so far.

    A label is `Cause:` at the start of a line, a line in capitals, a term of a definition list. A
    numbered list of things to do counts as a procedure where the section promises a description.
    """
    whole = Cut(block.start_line, block.end_line)
    if block.kind is BlockKind.PARAGRAPH:
        return list(_of_paragraph(page, block, role))
    if block.kind is BlockKind.LIST and not block.ordered:
        return _of_labelled_items(block) or [whole]
    if role in _DESCRIBING and block.kind is BlockKind.LIST and _tells_to_do(block):
        return [Cut(block.start_line, block.end_line, role=SectionRole.PROCEDURE)]
    return [whole]


def _of_paragraph(page: MarkdownPage, block: Block, role: SectionRole | None) -> Iterator[Cut]:
    open_cut = Cut(block.start_line, block.start_line)
    if role in _DESCRIBING and _STEP.match(page.text(block.start_line, block.start_line)):
        open_cut = Cut(block.start_line, block.start_line, role=SectionRole.PROCEDURE)
    for line in range(block.start_line, block.end_line + 1):
        found = _label(page.text(line, line))
        if found is None:
            open_cut = Cut(open_cut.start_line, line, open_cut.label, open_cut.role)
            continue
        if line > block.start_line and open_cut.end_line >= open_cut.start_line:
            yield open_cut
        label, labelled, rest = found
        begin = line if rest or line == block.end_line else line + 1
        open_cut = Cut(begin, max(begin, line), label, labelled)
    yield open_cut


def _label(line: str) -> tuple[str, SectionRole, str] | None:
    match = _LABEL.match(line) or _CAPITALS.match(line)
    role = role_of_label(match.group(1)) if match else None
    return (match.group(1).strip(), role, match.group(2)) if match and role else None


def _of_labelled_items(block: Block) -> list[Cut]:
    """One cut per item when each begins with a label."""
    found = [
        Cut(item.start_line, item.end_line, head.strip(), role_of_label(head) if colon else None)
        for item in block.items
        for head, colon, _ in [item.text.partition(":")]
    ]
    return found if found and all(cut.role for cut in found) else []


def _tells_to_do(block: Block) -> bool:
    told = [item for item in block.items if begins_with_verb(item.text) or item.code]
    return len(told) > 1 and 3 * len(told) >= len(block.items)
