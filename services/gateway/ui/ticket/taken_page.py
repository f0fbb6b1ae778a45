"""The page that an engineer took, one of the closest."""

from services.contracts.gateway import StoredWorkflow, TicketDetail


def page_taken_by(ticket: TicketDetail, stored: StoredWorkflow | None) -> str:
    """Return who took the page that a workflow follows; empty where nobody did."""
    asked = ticket.page_question
    origin = stored.workflow.provenance if stored else None
    if asked is None or origin is None or not asked.answer:
        return ""
    documents = dict(zip(asked.choices, asked.decisions, strict=False))
    return asked.answered_by if documents.get(asked.answer) in origin.document_ids else ""
