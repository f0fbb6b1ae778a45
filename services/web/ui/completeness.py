"""Checks that others make and a workflow or a page does not, computed when it is opened."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from services.contracts.completeness import CompletenessChecks
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError
from services.tickets.path_ids import TicketId
from services.tickets.service import TicketService
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.templates import render, render_refusal


def create_completeness_pages(
    tickets: TicketService, backend: KnowledgeBackend, completing: CompletenessChecks
) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}/completeness")
    @needs(Need.READ)
    def of_ticket(ticket_id: TicketId) -> HTMLResponse:
        """Compare with pages of the same kind, and with past tickets of the same alert."""
        try:
            ticket = tickets.queries.ticket(ticket_id)
            completeness = completing.of_ticket(ticket_id)
        except FlowXpertError as error:
            return render_refusal(error)
        return render(
            "completeness/page.html",
            back=(f"/tickets/{ticket_id}", ticket.title),
            found=completeness,
            this="this workflow",
            past="Past tickets of this alert",
        )

    @router.get("/knowledge/readings/{text_hash}/completeness")
    @needs(Need.READ)
    def of_reading(text_hash: str) -> HTMLResponse:
        """Compare with pages of the same kind, and with past tickets that this page answered."""
        try:
            page = backend.readings().get(text_hash)
            completeness = completing.of_page(page)
        except FlowXpertError as error:
            return render_refusal(error)
        title = page.documents[0] if page.documents else "A page that is gone"
        return render(
            "completeness/page.html",
            back=(f"/knowledge/readings/{text_hash}", title),
            found=completeness,
            this="this page",
            past="Past tickets that this page answered",
        )

    return router
