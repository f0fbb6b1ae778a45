"""Checklists made of the text of a page, for tests."""

from services.knowledge.page.block import BlockKind
from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.procedure.checklist.build import build_checklist
from services.workflow.model import ShownPage

PAGE = "runbooks/page.md"


def checklist_of(text, *, document_id=PAGE, title="Page", headings=(), corrections=None):
    """The checklist of a page whose items are its boxes, whatever a fit would say.

    `headings` are the words of those whose sections stand open.
    """
    page = parse_page(text)
    items = {p.block.key: p.block.kind is BlockKind.ITEM for p in candidates(page)}
    shown = ShownPage(
        document_id=document_id,
        title=title,
        text=text,
        open=tuple(
            block.key
            for block in page.blocks
            if block.kind is BlockKind.HEADING and block.text in headings
        ),
    )
    return build_checklist(
        page, shown, planner="extractive", corrections=items | (corrections or {})
    )
