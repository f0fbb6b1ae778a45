"""Planner over HTTP."""

from collections.abc import AsyncIterator, Generator, Iterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from services.contracts.planner import Candidate, Planner, PlanRequest, PlanResponse
from services.kit.access.needs import Need, needs


def create_router(service: Planner) -> APIRouter:
    """The routes, as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["planner"])

    @router.post("/plans")
    @needs(Need.OPERATE)
    def plan_workflows(request: PlanRequest) -> PlanResponse:
        """Write candidate workflows for a ticket from what is known about it.

        The planner's own favourite comes first; the list is empty when the context holds no
        procedure. Each step cites the lines it comes from.
        """
        return service.plan(request)

    @router.post("/plans/stream", response_class=StreamingResponse)
    @needs(Need.OPERATE)
    def stream_workflows(request: PlanRequest) -> StreamingResponse:
        """The same, one candidate a line of JSON (NDJSON), each as soon as it is written.

        Those that need no model come at once. Hanging up cancels what the model still writes.
        """
        lines = _closing(service.stream(request))
        return StreamingResponse(lines, media_type="application/x-ndjson")

    return router


async def _closing(candidates: Iterator[Candidate]) -> AsyncIterator[str]:
    """Candidates as lines; the writing ends with the connection."""
    try:
        async for candidate in iterate_in_threadpool(candidates):
            yield f"{candidate.model_dump_json()}\n"
    finally:
        if isinstance(candidates, Generator):
            candidates.close()
