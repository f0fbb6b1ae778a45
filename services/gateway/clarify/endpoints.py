"""Questions about tickets over HTTP."""

from fastapi import APIRouter

from services.contracts.clarification import Clarification, ClarificationAnswer
from services.gateway.clarify.answering import (
    Answering,
    ClarificationAnsweredError,
    ClarificationNotFoundError,
    NoSuchChoiceError,
    TicketHandedOverError,
)
from services.gateway.ticket.addresses import Id
from services.gateway.ticket.queries import TicketNotFoundError
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals


def create_clarify_router(answering: Answering) -> APIRouter:
    """The routes, over what takes the answers."""
    router = APIRouter(prefix="/v1/tickets/{ticket_id}/clarifications")

    @router.get("", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def list_clarifications(ticket_id: Id) -> list[Clarification]:
        """What was asked about a ticket and answered, in order; only the last may be open."""
        return answering.of_ticket(ticket_id)

    @router.post("/dismissals", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def dismiss_clarification(ticket_id: Id) -> list[Clarification]:
        """Go on without an answer: the open question is closed and nothing more is asked."""
        return answering.dismiss(ticket_id)

    @router.post(
        "/{clarification_id}/answers",
        responses=refusals(
            ClarificationNotFoundError,
            ClarificationAnsweredError,
            NoSuchChoiceError,
            TicketHandedOverError,
        ),
    )
    @needs(Need.OPERATE)
    def answer_clarification(
        ticket_id: Id, clarification_id: Id, answer: ClarificationAnswer
    ) -> Clarification:
        """Answer a question by the number of a choice, in own words, or that it is not known.

        The ticket is walked again with what was learned; until then its first workflow stays. The
        same answer again changes nothing.
        """
        return answering.answer(ticket_id, clarification_id, answer)

    return router
