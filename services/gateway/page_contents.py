"""The checklist of a document as ingestion tells of it."""

from services.contracts.ingestion import DocumentContents
from services.knowledge.page.parsing import parse_page
from services.procedure.checklist.build import LONGEST_PAGE, build_checklist
from services.workflow.model import ShownPage, Workflow


def checklist_of_contents(contents: DocumentContents) -> Workflow | None:
    """Return the boxes of a document, the whole page open; None of one that is a book."""
    text = "\n".join(contents.lines)
    if len(text) > LONGEST_PAGE:
        return None
    document = contents.document
    shown = ShownPage(
        document_id=document.id, title=document.title, text=text, withheld=contents.withheld
    )
    page = parse_page(text, withheld=shown.withheld)
    return build_checklist(page, shown, planner="", corrections=contents.boxes)
