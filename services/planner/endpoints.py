"""Routes of the planner."""

from collections.abc import AsyncIterator, Generator, Iterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from services.contracts.composing import (
    ComposeRequest,
    Composition,
    CompositionProposal,
    Compositions,
    EditInWords,
    WordedEdit,
)
from services.contracts.planner import Candidate, Planner, PlanRequest, PlanResponse
from services.contracts.proposals import ProposalDetail, Proposals, ProposedPage
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, NotFoundError
from services.kit.http.openapi import refusals


def create_router(service: Planner) -> APIRouter:
    """Create the planner's routes over the contract."""
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
        """Stream the candidates, one per line of JSON (NDJSON), each as soon as it is written.

        Those that need no model come at once. Hanging up cancels what the model still writes.
        """
        lines = _json_lines(service.stream(request))
        return StreamingResponse(lines, media_type="application/x-ndjson")

    return router


def create_composing_router(service: Compositions) -> APIRouter:
    """Create the routes for composing and editing in words; the gateway serves them too."""
    router = APIRouter(prefix="/v1", tags=["composing"])

    @router.post("/compositions", responses=refusals(ConflictError))
    @needs(Need.OPERATE)
    def compose_procedure(wanted: ComposeRequest) -> Composition:
        """Draft a procedure over the catalogue's tools from a sentence; nothing is stored.

        With a draft the sentence changes it, or answers are taken to its questions.
        """
        return service.compose(wanted)

    @router.post("/compositions/pages")
    @needs(Need.OPERATE)
    def write_page(wanted: CompositionProposal) -> ProposedPage:
        """Write the page of a complete draft; nothing is stored."""
        return service.page(wanted)

    @router.post("/edits-in-words", responses=refusals(NotFoundError, ConflictError))
    @needs(Need.OPERATE)
    def edit_in_words(wanted: EditInWords) -> WordedEdit:
        """Return the operations that a sentence means for a reading, and what they would change."""
        return service.edit_in_words(wanted)

    return router


def create_proposing_router(composing: Compositions, proposals: Proposals) -> APIRouter:
    """Create the route that only the gateway serves, because it knows the caller."""
    router = APIRouter(prefix="/v1", tags=["composing"])

    @router.post("/compositions/proposals")
    @needs(Need.RUN)
    def propose_composition(wanted: CompositionProposal) -> ProposalDetail:
        """Make a proposed page of a complete draft; somebody else accepts it."""
        return proposals.propose(composing.page(wanted))

    return router


async def _json_lines(candidates: Iterator[Candidate]) -> AsyncIterator[str]:
    """Yield candidates as lines of JSON; the generation ends with the connection."""
    try:
        async for candidate in iterate_in_threadpool(candidates):
            yield f"{candidate.model_dump_json()}\n"
    finally:
        if isinstance(candidates, Generator):
            candidates.close()
