"""HTTP routes for questions about tickets."""

from fastapi import APIRouter

from services.contracts.clarification import Clarification, ClarificationAnswer
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals
from services.tickets.clarify.answer_handler import (
    AnswerHandler,
    ClarificationAnsweredError,
    ClarificationNotFoundError,
    NoSuchChoiceError,
    TicketHandedOverError,
)
from services.tickets.path_ids import TicketId
from services.tickets.ticket.addresses import Id
from services.tickets.ticket.queries import TicketNotFoundError


def create_clarify_router(answer_handler: AnswerHandler) -> APIRouter:
    """Create the routes for questions and answers."""
    router = APIRouter(prefix="/v1/tickets/{ticket_id}/clarifications")

    @router.get("", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def list_clarifications(ticket_id: TicketId) -> list[Clarification]:
        """List the questions and answers of a ticket, in order; only the last may be open."""
        return answer_handler.of_ticket(ticket_id)

    @router.post("/dismissals", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def dismiss_clarification(ticket_id: TicketId) -> list[Clarification]:
        """Go on without an answer: the open question is closed and nothing more is asked."""
        return answer_handler.dismiss(ticket_id)

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
        ticket_id: TicketId, clarification_id: Id, answer: ClarificationAnswer
    ) -> Clarification:
        """Answer a question: by the number of a choice, in own words, or as not known.

        The ticket is walked again with what was learned; until then its first workflow stays. The
        same answer again changes nothing.
        """
        return answer_handler.answer(ticket_id, clarification_id, answer)

    return router
