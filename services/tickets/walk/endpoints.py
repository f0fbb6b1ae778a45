"""HTTP routes to try again: failed tickets, renewals and dead letters."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.contracts.adoption import NewerReading
from services.contracts.dead_letters import DeadLetters, RetriedLetters, RetryLetters
from services.contracts.gateway import TicketDetail
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals
from services.tickets.path_ids import TicketId
from services.tickets.ticket.queries import Queries, TicketNotFoundError
from services.tickets.walk.dead_letters import DeadLetterOffice
from services.tickets.walk.walk_retry import TicketNotFailedError, WalkRetry
from services.tickets.walk.workflow_refresh import NotRenewableError, WorkflowRefresh


def create_retry_router(
    walk_retry: WalkRetry,
    workflow_refresh: WorkflowRefresh,
    queries: Queries,
    office: DeadLetterOffice,
) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/v1")

    @router.post(
        "/tickets/{ticket_id}/retry",
        status_code=202,
        responses=refusals(TicketNotFoundError, TicketNotFailedError),
    )
    @needs(Need.OPERATE)
    def retry_ticket(ticket_id: TicketId) -> TicketDetail:
        """Walk a failed ticket again; two requests at once begin one walk."""
        walk_retry.retry_ticket(ticket_id)
        return queries.ticket(ticket_id)

    @router.get("/tickets/{ticket_id}/renewal", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def list_newer_readings(ticket_id: TicketId) -> list[NewerReading]:
        """List what people did to the pages of the ticket's workflow since it was made."""
        return list(workflow_refresh.newer(ticket_id))

    @router.post(
        "/tickets/{ticket_id}/renewal",
        status_code=202,
        responses=refusals(TicketNotFoundError, NotRenewableError),
    )
    @needs(Need.OPERATE)
    def renew_ticket(ticket_id: TicketId) -> TicketDetail:
        """Walk a ticket again with its pages' readings as they are now.

        Marks and words stay with the steps that say the same, and the rest is listed.
        """
        workflow_refresh.renew(ticket_id)
        return queries.ticket(ticket_id)

    @router.get("/dead-letters")
    @needs(Need.ADMIN)
    def list_dead_letters(
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> DeadLetters:
        """List tasks that failed too often, with the reason; longest waiting first.

        They are of all services that share the gateway's database.
        """
        return office.letters(limit=limit)

    @router.post("/dead-letters/retry", status_code=202)
    @needs(Need.ADMIN)
    def retry_dead_letters(wanted: RetryLetters) -> RetriedLetters:
        """Put tasks back to work, by their keys or all; a ticket whose walk is among them too."""
        return office.retry(wanted)

    return router
