"""Progress as server-sent events, from what is stored: late or reconnecting readers miss none."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from services.contracts.gateway import ProgressEvent
from services.gateway.service import GatewayService
from services.gateway.ticket.addresses import Id
from services.gateway.ticket.event_kinds import BEGINNINGS, ENDS
from services.gateway.ticket.queries import TicketNotFoundError
from services.kit.access.access import Access
from services.kit.access.needs import Need, check_need, needs
from services.kit.errors import FlowXpertError
from services.kit.http.openapi import refusals

PING_S = 15
"""A comment this often keeps proxies from closing a quiet stream."""

_ASKED_EVERY_S = 2.0
"""A key that was revoked reads no longer than so."""
After = Annotated[int, Query(ge=0, lt=2**63, description="Id of an event that is known.")]
LastEventId = Annotated[str, Header(alias="Last-Event-ID", max_length=40)]


def create_stream_router(service: GatewayService) -> APIRouter:
    """What happens, as it happens."""
    router = APIRouter()

    @router.get(
        "/v1/tickets/{ticket_id}/events",
        response_class=EventSourceResponse,
        responses={
            204: {"description": "Over, and the reader has it all."},
            **refusals(TicketNotFoundError),
        },
    )
    @needs(Need.READ)
    async def ticket_events(
        request: Request,
        ticket_id: Id,
        after: After = 0,
        last_event_id: LastEventId = "",
        *,
        follow: Annotated[bool, Query(description="Go on when its walk is over.")] = False,
    ) -> Response:
        """What happened to a ticket, from its beginning or later, until it is over.

        `Last-Event-ID` says where a reader was, and `after` where one begins. With `follow` it goes
        on with what people do.

        Each event's `event` is its kind and its `data` a `ProgressEvent`. A reader that comes back
        after the end gets 204, which tells a browser not to come again.
        """
        ticket = await run_in_threadpool(service.ticket, ticket_id)
        seen = await _known(service, max(after, _number(last_event_id)))
        if ticket.status.is_final and not follow:
            fresh = await run_in_threadpool(service.events_after, seen, ticket_id=ticket_id)
            if not fresh:
                return Response(status_code=204)
        allowed = _Allowed(request)
        over = None if follow else ticket.status.is_final
        return EventSourceResponse(_of_ticket(service, ticket_id, seen, over, allowed), ping=PING_S)

    @router.get("/v1/events", response_class=EventSourceResponse)
    @needs(Need.READ)
    async def all_events(request: Request, last_event_id: LastEventId = "") -> Response:
        """What happens to any ticket from now on, or after `Last-Event-ID`.

        It ends only where the caller may not read any more.
        """
        seen = await _known(service, _number(last_event_id) if last_event_id else None)
        return EventSourceResponse(_of_all(service, seen, _Allowed(request)), ping=PING_S)

    return router


class _Allowed:
    """Whether whoever opened a stream may still read; asked every so often.

    Nobody may once the process is stopping.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._asked = monotonic()

    async def now(self) -> bool:
        if self._request.app.state.stopping.is_set():
            return False
        if monotonic() - self._asked < _ASKED_EVERY_S:
            return True
        self._asked = monotonic()
        access: Access = self._request.app.state.access
        try:
            caller = await run_in_threadpool(access.caller, self._request.scope, Need.READ)
            check_need(caller, Need.READ)
        except FlowXpertError:
            return False
        return True


async def _of_ticket(
    service: GatewayService, ticket_id: str, seen: int, over: bool | None, allowed: _Allowed
) -> AsyncIterator[ServerSentEvent]:
    """Until the walk is over; with None for `over` until the reader goes."""
    while await allowed.now():
        for event in await run_in_threadpool(service.events_after, seen, ticket_id=ticket_id):
            seen = event.id
            if over is not None:
                over = event.kind in ENDS or (over and event.kind not in BEGINNINGS)
            yield _sent(event)
        if over:
            return
        await asyncio.sleep(service.settings.event_poll_s)


async def _of_all(
    service: GatewayService, seen: int, allowed: _Allowed
) -> AsyncIterator[ServerSentEvent]:
    while await allowed.now():
        for event in await run_in_threadpool(service.events_after, seen):
            seen = event.id
            yield _sent(event)
        await asyncio.sleep(service.settings.event_poll_s)


def _sent(event: ProgressEvent) -> ServerSentEvent:
    return ServerSentEvent(event.model_dump_json(), event=event.kind, id=str(event.id))


async def _known(service: GatewayService, seen: int | None) -> int:
    """Where to go on: after `seen`, or after the latest, also where `seen` has not been yet."""
    if seen == 0:
        return 0
    latest = await run_in_threadpool(service.latest_event)
    return latest if seen is None else min(seen, latest)


def _number(last_event_id: str) -> int:
    """The id to go on after; what is no id of ours means the beginning."""
    known = last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 19
    return int(last_event_id) if known else 0
