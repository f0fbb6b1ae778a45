"""The list of tickets."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.ticket import TicketStatus
from services.gateway.endpoints import MAX_ID_CHARACTERS, Service
from services.gateway.queries import TicketFilter
from services.gateway.ui.templates import render

router = APIRouter(include_in_schema=False)


@router.get("/")
def tickets_page(
    service: Service,
    status: Annotated[str, Query(max_length=20)] = "",
    text: Annotated[str, Query(max_length=200)] = "",
    cursor: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
) -> HTMLResponse:
    """The list of tickets; a status that does not exist shows all."""
    chosen = TicketStatus(status) if status in set(TicketStatus) else None
    page = service.tickets(
        TicketFilter(status=chosen, text=text), cursor=cursor or None, limit=None
    )
    counts = service.queries.counts()
    return render(
        "tickets/list.html", page=page, counts=counts, chosen=chosen, text=text, cursor=cursor
    )
