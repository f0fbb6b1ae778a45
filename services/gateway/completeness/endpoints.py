"""Completeness over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Path

from services.contracts.completeness import Completeness, Completing
from services.gateway.completeness.service import NothingShownError
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS
from services.gateway.ticket.queries import TicketNotFoundError
from services.kit.access.needs import Need, needs
from services.kit.errors import UnavailableError
from services.kit.http.openapi import refusals

TicketId = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]


def create_completeness_router(completing: Completing) -> APIRouter:
    """The route over the service."""
    router = APIRouter(prefix="/v1")

    @router.get(
        "/tickets/{ticket_id}/completeness",
        responses=refusals(TicketNotFoundError, NothingShownError, UnavailableError),
    )
    @needs(Need.READ)
    def get_completeness(ticket_id: TicketId) -> Completeness:
        """What most other pages, or past tickets, of the same kind check and this one does not."""
        return completing.of_ticket(ticket_id)

    return router
