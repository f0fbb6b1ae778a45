"""HTTP routes of tickets, their workflows, notes of runs, and who works on them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query, Response

from services.contracts.gateway import (
    CandidateSummary,
    RunNote,
    SearchNote,
    SourceLines,
    StoredWorkflow,
    Taking,
    TicketDetail,
    TicketPage,
    TicketQuery,
    Tickets,
)
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError
from services.kit.http.openapi import refusals
from services.tickets.adoption.assignment import HeldByAnotherError
from services.tickets.formats import FORMATS, JSON, accepted_format
from services.tickets.path_ids import TicketId, WorkflowId
from services.tickets.service import TicketService
from services.tickets.ticket.addresses import Id
from services.tickets.ticket.listing.pages import InvalidCursorError
from services.tickets.ticket.queries import TicketNotFoundError, WorkflowNotFoundError


def create_ticket_router(service: TicketService) -> APIRouter:
    """Build the router of tickets, their workflows, and the lines that these cite."""
    router = APIRouter()

    @router.get("/v1/tickets", responses=refusals(InvalidCursorError))
    @needs(Need.READ)
    def list_tickets(query: Annotated[TicketQuery, Query()]) -> TicketPage:
        """List the tickets that match all filters, the newest first unless `sort` says otherwise.

        A filter may be given several times, such as `severity=critical&severity=high`: a ticket
        needs one of the values. An empty value, as in `service=`, matches tickets that name none.
        """
        return service.tickets(query)

    @router.get("/v1/tickets/{ticket_id}", responses=refusals(TicketNotFoundError))
    @needs(Need.READ)
    def get_ticket(ticket_id: TicketId) -> TicketDetail:
        """Return a ticket with its status and candidates.

        A refused ticket has the reason, and the documents that came closest.
        """
        return service.queries.ticket(ticket_id)

    @router.post("/v1/tickets/{ticket_id}/resolution", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def resolve_ticket(ticket_id: TicketId) -> TicketDetail:
        """Mark the fault as over if its source does not say so; repeating it changes nothing."""
        return service.resolve(ticket_id)

    @router.delete("/v1/tickets/{ticket_id}/resolution", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def reopen_ticket(ticket_id: TicketId) -> TicketDetail:
        """Take back that the fault is over; repeating it changes nothing.

        The ticket is open again, and its case is removed from the archive. Ticket systems that the
        platform writes back to are told; a source that says it is over says it again.
        """
        return service.reopen(ticket_id)

    @router.get(
        "/v1/workflows/{workflow_id}",
        response_model=StoredWorkflow,
        responses={
            200: {"content": {form.media_type: {} for form in FORMATS.values()}},
            **refusals(WorkflowNotFoundError),
        },
    )
    @needs(Need.READ)
    def get_workflow(
        workflow_id: WorkflowId,
        form: Annotated[
            Literal["json", "mermaid", "text", "code", "markdown", "svg"] | None,
            Query(alias="format"),
        ] = None,
        accept: Annotated[str, Header()] = "",
    ) -> Response:
        """Return a workflow in the format of `format`, else in the one that `Accept` prefers."""
        name = form or accepted_format(accept)
        headers = {"vary": "accept"}
        if name == JSON:
            body = service.queries.workflow_json(workflow_id)
            return Response(body, media_type="application/json", headers=headers)
        chosen = FORMATS[name]
        if name == "svg":  # opened by itself it is a document, and may do nothing but be drawn
            headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'"
        body = chosen.write(service.queries.workflow(workflow_id).workflow)
        return Response(body, media_type=f"{chosen.media_type}; charset=utf-8", headers=headers)

    @router.get("/v1/workflows/{workflow_id}/candidates", responses=refusals(WorkflowNotFoundError))
    @needs(Need.READ)
    def get_candidates(workflow_id: WorkflowId) -> list[CandidateSummary]:
        """List all candidates of the ticket that this workflow belongs to, best first."""
        return list(service.queries.candidates(workflow_id))

    @router.get("/v1/sources/{document_id:path}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_source(
        document_id: Annotated[str, Path(max_length=1024)],
        lines: Annotated[str, Query(max_length=40, description="Such as 7 or 3-9.")],
        context: Annotated[int | None, Query(ge=0, le=200)] = None,
    ) -> SourceLines:
        """Return the cited lines of a document, with some lines around them."""
        return service.source_lines(document_id, lines, context)

    return router


def create_run_note_router(tickets: Tickets) -> APIRouter:
    """Build the router by which the executor reports its runs and searches."""
    router = APIRouter()

    @router.put(
        "/v1/tickets/{ticket_id}/runs/{run_id}",
        status_code=204,
        responses=refusals(TicketNotFoundError),
    )
    @needs(Need.PLATFORM)
    def put_run(ticket_id: TicketId, run_id: Id, note: RunNote) -> None:
        """Store how a run of the ticket's workflow ended, once."""
        tickets.note_run(ticket_id, note.model_copy(update={"run_id": run_id}))

    @router.put(
        "/v1/tickets/{ticket_id}/searches/{search_id}",
        status_code=204,
        responses=refusals(TicketNotFoundError),
    )
    @needs(Need.PLATFORM)
    def put_search(ticket_id: TicketId, search_id: Id, note: SearchNote) -> None:
        """Store the outcome of a search for the ticket's cause, once."""
        tickets.note_search(ticket_id, note.model_copy(update={"search_id": search_id}))

    return router


def create_holder_router(service: TicketService) -> APIRouter:
    """Build the router by which callers take tickets and give them back."""
    router = APIRouter()

    @router.put(
        "/v1/tickets/{ticket_id}/holder",
        responses=refusals(TicketNotFoundError, HeldByAnotherError),
    )
    @needs(Need.OPERATE)
    def put_holder(ticket_id: TicketId, taking: Taking) -> TicketDetail:
        """Assign a ticket to the caller; `from` names its present holder, to take it over."""
        return service.assign_to_caller(ticket_id, taking)

    @router.delete(
        "/v1/tickets/{ticket_id}/holder",
        responses=refusals(TicketNotFoundError, HeldByAnotherError),
    )
    @needs(Need.OPERATE)
    def delete_holder(ticket_id: TicketId) -> TicketDetail:
        """Unassign a ticket from the caller, who holds it."""
        return service.unassign(ticket_id)

    return router
