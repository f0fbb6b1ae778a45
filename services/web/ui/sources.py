"""Page of a document's text around some of its lines."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError
from services.tickets.service import TicketService
from services.web.ui.templates import render, render_refusal


def create_source_page(tickets: TicketService) -> APIRouter:
    """Build the router of the page that shows cited lines."""
    router = APIRouter(include_in_schema=False)

    @router.get("/sources/{document_id:path}")
    @needs(Need.READ)
    def source_page(
        document_id: str, lines: Annotated[str, Query(max_length=40)] = "1"
    ) -> HTMLResponse:
        """Show the text of a document around some of its lines."""
        try:
            source = tickets.source_lines(document_id, lines, None)
        except FlowXpertError as error:
            return render_refusal(error)
        return render("sources/source.html", source=source)

    return router
