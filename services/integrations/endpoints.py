"""Webhooks: deliveries of ticket systems, answered once their tickets are stored."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from services.contracts.gateway import (
    Accepted,
)
from services.integrations.sources.bodies import DeliveryTooLargeError, NotJsonError
from services.integrations.sources.delivery_reader import (
    DeliveryReader,
    ProvenDelivery,
    UnknownSourceError,
)
from services.integrations.sources.proof import WebhookRequest, WrongSignatureError
from services.integrations.sources.sns import TYPE_HEADER, SubscriptionRefusedError
from services.kit.access.caller import Caller, CallerKind, acting_as, current_caller
from services.kit.access.needs import Need, needs, require
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError
from services.kit.http.openapi import refusals
from services.tickets.intake.idempotency import DeliveryKey, IdempotencyKeyReusedError
from services.tickets.service import TicketService


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


def create_delivery_router(service: TicketService, reader: DeliveryReader) -> APIRouter:
    """Build the router of webhooks; a delivery that its source signed needs no key."""
    router = APIRouter()

    @router.post(
        "/workflow",
        status_code=202,
        response_model=Accepted,
        responses=_ANSWERS,
        openapi_extra=_JSON_BODY,
    )
    @needs(Need.OPERATE)
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


async def _accept(
    request: Request,
    service: TicketService,
    reader: DeliveryReader,
    source: str | None,
    *,
    wait: float,
    key: str | None,
) -> Response:
    deliverer, proven = current_caller(), None
    unproven = source if deliverer.kind is CallerKind.NOBODY else None
    if unproven is not None:
        reader.check_headers(request.headers, unproven)
    received = WebhookRequest(await request.body(), request.headers)
    if unproven is not None:
        proven = await run_in_threadpool(reader.authenticate, received, source)
        # A source is let in for this one delivery: `operate` is all that it has.
        deliverer = Caller(
            f"source {unproven}",
            CallerKind.SOURCE,
            f"source:{unproven}",
            frozenset({Scope.OPERATE}),
        )
    if TYPE_HEADER not in request.headers:  # SNS declares its JSON as text
        _check_media_type(request.headers.get("content-type", ""))
    if wait:  # the answer tells what came of the ticket
        require(deliverer, Scope.READ)
    with acting_as(deliverer):
        if proven is None:
            proven = await run_in_threadpool(reader.authenticate, received, source)
        accepted = await run_in_threadpool(_take_in, service, reader, proven, key)
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


def _take_in(
    service: TicketService, reader: DeliveryReader, proven: ProvenDelivery, key: str | None
) -> Accepted:
    delivery = reader.receive(proven)
    if key is None:
        return service.accept(delivery, None)
    source = proven.source.name if proven.source else ""
    return service.accept(delivery, DeliveryKey.of_request(key, source, proven.request.raw))


def _check_media_type(content_type: str) -> None:
    """Require JSON, which a form on another site's page cannot send without a preflight."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedMediaTypeError(
            f"expected `Content-Type: application/json`, got {media_type[:60]!a}"
        )
