"""Completeness over HTTP."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path

from services.contracts.completeness import Completeness, Completing
from services.contracts.readings import Readings
from services.gateway.completeness.service import NothingShownError
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS
from services.gateway.ticket.queries import TicketNotFoundError
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.http.openapi import refusals

TicketId = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]
TextHash = Annotated[str, Path(max_length=64)]


def create_completeness_router(
    completing: Completing, readings: Callable[[], Readings]
) -> APIRouter:
    """The routes over the service, and over the readings as whoever asks may see them."""
    router = APIRouter(prefix="/v1")

    @router.get(
        "/tickets/{ticket_id}/completeness",
        responses=refusals(TicketNotFoundError, NothingShownError, UnavailableError),
    )
    @needs(Need.READ)
    def get_completeness(ticket_id: TicketId) -> Completeness:
        """What most other pages, or past tickets, of the same kind check and this one does not."""
        return completing.of_ticket(ticket_id)

    @router.get(
        "/readings/{text_hash}/completeness",
        responses=refusals(NotFoundError, UnavailableError),
    )
    @needs(Need.READ)
    def get_completeness_of_page(text_hash: TextHash) -> Completeness:
        """What most other pages of the kind check and this one does not, likewise."""
        return completing.of_page(readings().get(text_hash))

    return router
