"""A page as it is shown where nobody has read it: its boxes as a workflow."""

from services.contracts.planner import SERVED_BY
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.build import build_checklist
from services.workflow.model import ShownPage, Workflow


def shown_page(text: str, document_id: str) -> Workflow:
    """Return the checklist of a page."""
    shown = ShownPage(document_id=document_id, title=document_id, text=text)
    return build_checklist(parse_page(text), shown, planner=SERVED_BY, corrections={})
