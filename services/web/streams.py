"""Progress as server-sent events, read from the stored events, so that no reader misses any."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from services.kit.access.access import Access
from services.kit.access.needs import Need, check_need, needs
from services.kit.errors import FlowXpertError
from services.kit.http.openapi import refusals
from services.tickets.path_ids import TicketId
from services.tickets.service import TicketService
from services.tickets.ticket.event_kinds import BEGINNINGS, ENDS
from services.tickets.ticket.queries import TicketNotFoundError

PING_S = 15
"""Seconds between comments that keep proxies from closing a quiet stream."""

_RECHECK_EVERY_S = 2.0
"""Longest time for which a stream goes on after its key was revoked."""
After = Annotated[int, Query(ge=0, lt=2**63, description="Id of an event that is known.")]
LastEventId = Annotated[str, Header(alias="Last-Event-ID", max_length=40)]


def create_stream_router(tickets: TicketService) -> APIRouter:
    """Build the router of event streams."""
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
        ticket_id: TicketId,
        after: After = 0,
        last_event_id: LastEventId = "",
        *,
        follow: Annotated[bool, Query(description="Go on when its walk is over.")] = False,
    ) -> Response:
        """Stream the events of a ticket, from its beginning or later, until its walk is over.

        `Last-Event-ID` says where a reader was, and `after` where one begins. With `follow` the
        stream goes on with what people do.

        Each event's `event` is its kind and its `data` a `ProgressEvent`. A reader that comes back
        after the end gets 204, which tells a browser not to reconnect.
        """
        ticket = await run_in_threadpool(tickets.queries.ticket, ticket_id)
        seen = await _resume_after(tickets, max(after, _parse_event_id(last_event_id)))
        if ticket.status.is_final and not follow:
            fresh = await run_in_threadpool(tickets.event_feed.after, seen, ticket_id=ticket_id)
            if not fresh:
                return Response(status_code=204)
        permission = _ReadPermission(request)
        over = None if follow else ticket.status.is_final
        events = _stream(tickets, seen, permission, ticket_id=ticket_id, over=over)
        return EventSourceResponse(events, ping=PING_S)

    @router.get("/v1/events", response_class=EventSourceResponse)
    @needs(Need.READ)
    async def all_events(request: Request, last_event_id: LastEventId = "") -> Response:
        """Stream the events of all tickets from now on, or after `Last-Event-ID`.

        The stream ends only if the caller may not read any more.
        """
        seen = await _resume_after(
            tickets, _parse_event_id(last_event_id) if last_event_id else None
        )
        events = _stream(tickets, seen, _ReadPermission(request))
        return EventSourceResponse(events, ping=PING_S)

    return router


class _ReadPermission:
    """Permission of a stream's reader, checked again at intervals.

    It ends when the process is stopping.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._checked_at = monotonic()

    async def is_valid(self) -> bool:
        if self._request.app.state.stopping.is_set():
            return False
        if monotonic() - self._checked_at < _RECHECK_EVERY_S:
            return True
        self._checked_at = monotonic()
        access: Access = self._request.app.state.access
        try:
            caller = await run_in_threadpool(access.caller, self._request.scope, Need.READ)
            check_need(caller, Need.READ)
        except FlowXpertError:
            return False
        return True


async def _stream(
    tickets: TicketService,
    seen: int,
    permission: _ReadPermission,
    *,
    ticket_id: str | None = None,
    over: bool | None = None,
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events of a ticket until its walk is over, or those of all tickets.

    With None for `over` it goes on until the reader leaves.
    """
    while await permission.is_valid():
        for event in await run_in_threadpool(tickets.event_feed.after, seen, ticket_id=ticket_id):
            seen = event.id
            if over is not None:
                over = event.kind in ENDS or (over and event.kind not in BEGINNINGS)
            yield ServerSentEvent(event.model_dump_json(), event=event.kind, id=str(event.id))
        if over:
            return
        await asyncio.sleep(tickets.settings.event_poll_s)


async def _resume_after(tickets: TicketService, seen: int | None) -> int:
    """Return the id to go on after: `seen`, or the latest if `seen` is None or not reached yet."""
    if seen == 0:
        return 0
    latest = await run_in_threadpool(tickets.event_feed.latest)
    return latest if seen is None else min(seen, latest)


def _parse_event_id(last_event_id: str) -> int:
    """Return the id to go on after; anything that is no id of ours means the beginning."""
    is_event_id = last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 19
    return int(last_event_id) if is_event_id else 0
