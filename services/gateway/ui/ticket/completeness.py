"""What others check that a ticket's workflow does not: a page of its own, computed when opened."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from services.contracts.completeness import Completing
from services.gateway.ports import Tickets
from services.gateway.ui.templates import refused, render
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError


def create_completeness_page(tickets: Tickets, completing: Completing) -> APIRouter:
    """The page, over what it shows."""
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}/completeness")
    @needs(Need.READ)
    def completeness_page(ticket_id: str) -> HTMLResponse:
        """By pages of the same kind, and by past tickets of the same alert."""
        try:
            ticket = tickets.ticket(ticket_id)
            found = completing.of_ticket(ticket_id)
        except FlowXpertError as error:
            return refused(error)
        return render("ticket/completeness.html", ticket=ticket, found=found)

    return router
