"""What others check that a workflow or a page does not, computed when it is opened."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from services.contracts.completeness import Completing
from services.gateway.ports import Tickets
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.templates import refused, render
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError


def create_completeness_pages(tickets: Tickets, known: Known, completing: Completing) -> APIRouter:
    """The pages, over what they show."""
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}/completeness")
    @needs(Need.READ)
    def of_ticket(ticket_id: str) -> HTMLResponse:
        """By pages of the same kind, and by past tickets of the same alert."""
        try:
            ticket = tickets.ticket(ticket_id)
            found = completing.of_ticket(ticket_id)
        except FlowXpertError as error:
            return refused(error)
        return render(
            "completeness/page.html",
            back=(f"/tickets/{ticket_id}", ticket.title),
            found=found,
            this="this workflow",
            past="Past tickets of this alert",
        )

    @router.get("/knowledge/readings/{text_hash}/completeness")
    @needs(Need.READ)
    def of_reading(text_hash: str) -> HTMLResponse:
        """By pages of the same kind, and by past tickets that this one answered."""
        try:
            page = known.readings().get(text_hash)
            found = completing.of_page(page)
        except FlowXpertError as error:
            return refused(error)
        title = page.documents[0] if page.documents else "A page that is gone"
        return render(
            "completeness/page.html",
            back=(f"/knowledge/readings/{text_hash}", title),
            found=found,
            this="this page",
            past="Past tickets that this page answered",
        )

    return router
