"""The gateway's HTTP routes: webhooks in, tickets and workflows out."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from services.contracts.gateway import (
    Accepted,
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
from services.gateway.adoption.assignment import HeldByAnotherError
from services.gateway.formats import FORMATS, JSON, accepted_format
from services.gateway.intake.idempotency import IdempotencyKeyReusedError
from services.gateway.service import GatewayService
from services.gateway.sources.bodies import DeliveryTooLargeError, NotJsonError
from services.gateway.sources.delivery_reader import DeliveryReader, UnknownSourceError
from services.gateway.sources.proof import WebhookRequest, WrongSignatureError
from services.gateway.sources.sns import TYPE_HEADER, SubscriptionRefusedError
from services.gateway.ticket.addresses import Id
from services.gateway.ticket.listing.pages import InvalidCursorError
from services.gateway.ticket.queries import TicketNotFoundError, WorkflowNotFoundError
from services.kit.access.caller import Caller, CallerKind, acting_as, current_caller
from services.kit.access.credentials import MissingCredentialError
from services.kit.access.needs import Need, needs, require
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.http.openapi import refusals


class UnsupportedMediaTypeError(InvalidInputError):
    """The body is not declared as JSON."""

    status_code = 415


Wait = Annotated[float, Query(ge=0, allow_inf_nan=False, description="Seconds to wait.")]
Key = Annotated[str | None, Header(alias="Idempotency-Key")]

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": Accepted, "description": "Waited for, and every walk is over."},
    **refusals(
        NotJsonError,
        IdempotencyKeyReusedError,
        DeliveryTooLargeError,
        UnsupportedMediaTypeError,
        WrongSignatureError,
        SubscriptionRefusedError,
    ),
}
_EXAMPLES = {
    "ticket": {
        "title": "Fan 2 of spine-01 failed",
        "description": "The tray reports no speed.",
        "id": "42",
        "severity": "critical",
    },
    "alertmanager": {
        "version": "4",
        "groupKey": "{}",
        "status": "firing",
        "alerts": [
            {
                "status": "firing",
                "labels": {"alertname": "FanFailed", "severity": "critical"},
                "annotations": {"summary": "Fan 2 of spine-01 failed"},
                "startsAt": "2026-01-01T00:00:00Z",
                "fingerprint": "5e6f7081a2b3c4d5",
            }
        ],
    },
}
_JSON_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object"},
                "examples": {name: {"value": body} for name, body in _EXAMPLES.items()},
            }
        },
    }
}


def create_delivery_router(service: GatewayService, reader: DeliveryReader) -> APIRouter:
    """Build the router of webhooks; a delivery that its source signed needs no key."""
    router = APIRouter()

    @router.post(
        "/workflow",
        status_code=202,
        response_model=Accepted,
        responses=_ANSWERS,
        openapi_extra=_JSON_BODY,
    )
    @needs(Need.SIGNED)
    async def post_workflow(
        request: Request, wait: Wait = 0, idempotency_key: Key = None
    ) -> Response:
        """Take in an alert or a ticket; its source is recognised by the body's shape.

        The answer comes as soon as the ticket is stored. With `wait` it comes when the walk is
        over, with the workflow in it, or after so many seconds. The same delivery again gives the
        same ticket.
        """
        return await _accept(request, service, reader, None, wait=wait, key=idempotency_key)

    @router.post(
        "/workflow/{source}",
        status_code=202,
        response_model=Accepted,
        responses=_ANSWERS | refusals(UnknownSourceError),
        openapi_extra=_JSON_BODY,
    )
    @needs(Need.SIGNED)
    async def post_workflow_of_source(
        request: Request, source: str, wait: Wait = 0, idempotency_key: Key = None
    ) -> Response:
        """Take in an alert or a ticket of this source, as `POST /workflow` does."""
        return await _accept(request, service, reader, source, wait=wait, key=idempotency_key)

    return router


def create_ticket_router(service: GatewayService) -> APIRouter:
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
    def get_ticket(ticket_id: Id) -> TicketDetail:
        """Return a ticket with its status and candidates.

        A refused ticket has the reason, and the documents that came closest.
        """
        return service.ticket(ticket_id)

    @router.post("/v1/tickets/{ticket_id}/resolution", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def resolve_ticket(ticket_id: Id) -> TicketDetail:
        """Mark the fault as over if its source does not say so; repeating it changes nothing."""
        return service.resolve(ticket_id)

    @router.delete("/v1/tickets/{ticket_id}/resolution", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def reopen_ticket(ticket_id: Id) -> TicketDetail:
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
        workflow_id: Id,
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
    def get_candidates(workflow_id: Id) -> list[CandidateSummary]:
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
    @needs(Need.OPERATE)
    def put_run(ticket_id: Id, run_id: Id, note: RunNote) -> None:
        """Store how a run of the ticket's workflow ended, once."""
        tickets.note_run(ticket_id, note.model_copy(update={"run_id": run_id}))

    @router.put(
        "/v1/tickets/{ticket_id}/searches/{search_id}",
        status_code=204,
        responses=refusals(TicketNotFoundError),
    )
    @needs(Need.OPERATE)
    def put_search(ticket_id: Id, search_id: Id, note: SearchNote) -> None:
        """Store the outcome of a search for the ticket's cause, once."""
        tickets.note_search(ticket_id, note.model_copy(update={"search_id": search_id}))

    return router


def create_holder_router(service: GatewayService) -> APIRouter:
    """Build the router by which callers take tickets and give them back."""
    router = APIRouter()

    @router.put(
        "/v1/tickets/{ticket_id}/holder",
        responses=refusals(TicketNotFoundError, HeldByAnotherError),
    )
    @needs(Need.OPERATE)
    def put_holder(ticket_id: Id, taking: Taking) -> TicketDetail:
        """Assign a ticket to the caller; `from` names its present holder, to take it over."""
        return service.assign_to_caller(ticket_id, taking)

    @router.delete(
        "/v1/tickets/{ticket_id}/holder",
        responses=refusals(TicketNotFoundError, HeldByAnotherError),
    )
    @needs(Need.OPERATE)
    def delete_holder(ticket_id: Id) -> TicketDetail:
        """Unassign a ticket from the caller, who holds it."""
        return service.unassign(ticket_id)

    return router


async def _accept(
    request: Request,
    service: GatewayService,
    reader: DeliveryReader,
    source: str | None,
    *,
    wait: float,
    key: str | None,
) -> Response:
    received, proven = WebhookRequest(await request.body(), request.headers), None
    deliverer = current_caller()
    if deliverer.kind is CallerKind.NOBODY:
        if not reader.has_secret(source):
            raise MissingCredentialError(
                "no key that is taken, and no signature: send a key with `operate`, or what the "
                "source signs its deliveries with"
            )
        proven = await run_in_threadpool(reader.authenticate, received, source)
        # A source is let in for this one delivery: `operate` is all that it has.
        deliverer = Caller(
            f"source {source}",
            CallerKind.SOURCE,
            f"source:{source}",
            frozenset({Scope.OPERATE}),
        )
    if TYPE_HEADER not in request.headers:  # SNS declares its JSON as text
        _check_media_type(request.headers.get("content-type", ""))
    if wait:  # the answer tells what came of the ticket
        require(deliverer, Scope.READ)
    with acting_as(deliverer):
        if proven is None:
            proven = await run_in_threadpool(reader.authenticate, received, source)
        accepted = await run_in_threadpool(service.accept, proven, key=key)
    final = False
    if wait and accepted.tickets:
        ids = [ticket.id for ticket in accepted.tickets]
        final = await service.are_over(ids, wait, request.app.state.stopping)
    if wait or key is not None:  # the answer under a key is as old as its first request
        accepted = await run_in_threadpool(service.with_results, accepted, workflows=bool(wait))
    headers = {"location": accepted.status_url} if accepted.status_url else None
    body = accepted.model_dump(mode="json", exclude_none=True)
    for each in (body, *body["tickets"]):  # that there is no verdict yet is told, not left out
        each.setdefault("verdict", None)
    return JSONResponse(body, status_code=200 if final else 202, headers=headers)


def _check_media_type(content_type: str) -> None:
    """Require JSON, which a form on another site's page cannot send without a preflight."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedMediaTypeError(
            f"expected `Content-Type: application/json`, got {media_type[:60]!a}"
        )
