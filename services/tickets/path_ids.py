"""Path parameters that name a ticket or a workflow by its id, or by the beginning of it."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from services.tickets.tables import ID
from services.tickets.ticket.addresses import Id
from services.tickets.ticket.queries import Queries


async def complete_ticket_id(request: Request, ticket_id: Id) -> str:
    """Return the id of the ticket that a path names; raises `AmbiguousIdError`."""
    return await _complete(ticket_id, lambda queries: queries.ticket_id(ticket_id), request)


async def complete_workflow_id(request: Request, workflow_id: Id) -> str:
    """Return the id of the workflow that a path names; raises `AmbiguousIdError`."""
    return await _complete(workflow_id, lambda queries: queries.workflow_id(workflow_id), request)


async def _complete(id_: str, look_up: Callable[[Queries], str], request: Request) -> str:
    """Return the whole id; of one that is whole already, no query is made."""
    if len(id_) == ID.length:
        return id_
    return await run_in_threadpool(look_up, request.app.state.queries)


TicketId = Annotated[str, Depends(complete_ticket_id)]
WorkflowId = Annotated[str, Depends(complete_workflow_id)]
