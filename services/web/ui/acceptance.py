"""Pages of the acceptance rate: by week, writer and document, with a bar for each."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.adoption import MOST_WEEKS, TakenQuery
from services.kit.access.needs import Need, needs
from services.tickets.adoption.service import AdoptionService
from services.web.ui.templates import render


def create_acceptance_page(adoption: AdoptionService) -> APIRouter:
    """Build the router of the acceptance rate."""
    router = APIRouter(include_in_schema=False)

    @router.get("/acceptance")
    @needs(Need.READ)
    def acceptance_page(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12) -> HTMLResponse:
        """Show the acceptance of workflows by week, writer and document."""
        return render("acceptance/page.html", report=adoption.acceptance.report(weeks), weeks=weeks)

    @router.get("/acceptance/tickets")
    @needs(Need.READ)
    def taken_tickets_page(query: Annotated[TakenQuery, Query()]) -> HTMLResponse:
        """Show the tickets that one number of the report counts."""
        return render(
            "acceptance/tickets.html", query=query, tickets=adoption.acceptance.tickets(query)
        )

    return router
