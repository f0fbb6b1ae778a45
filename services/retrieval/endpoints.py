"""HTTP routes of retrieval."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.contracts.retrieval import (
    NodeQuery,
    NodeSummary,
    NodeSurroundings,
    PageReading,
    PeersQuery,
    Retrieval,
    RetrievedContext,
    RetrieveRequest,
    SourceText,
)
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError, NotFoundError, UnavailableError
from services.kit.http.openapi import refusals
from services.knowledge.model import Span

Line = Annotated[int, Query(ge=1, le=10_000_000)]


def create_router(service: Retrieval) -> APIRouter:
    """Create the routes over the contract."""
    router = APIRouter(prefix="/v1", tags=["retrieval"])

    @router.post("/retrievals", responses=refusals(UnavailableError))
    @needs(Need.READ)
    def retrieve(request: RetrieveRequest) -> RetrievedContext:
        """Retrieve what is known about a fault: ranked chunks and incident nodes, with reasons.

        `pages` holds the procedures of their documents; `confidence` is the probability that the
        best hit treats this very fault.
        """
        return service.retrieve(request)

    @router.get("/sources/{document_id:path}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_source(document_id: str, start_line: Line, end_line: Line) -> SourceText:
        """Return the lines of a document that a citation names, 1-based and inclusive."""
        if end_line < start_line:
            raise InvalidInputError(
                f"expected end_line from {start_line} on, got {end_line}: swap the two"
            )
        span = Span(document_id=document_id, start_line=start_line, end_line=end_line)
        return service.source(span)

    @router.post("/peers", responses=refusals(NotFoundError, UnavailableError))
    @needs(Need.READ)
    def list_peers(query: PeersQuery) -> list[PageReading]:
        """List other pages that treat the same kind of fault, with their procedures."""
        return service.peers(query)

    @router.get("/nodes", responses=refusals(UnavailableError))
    @needs(Need.READ)
    def list_nodes(query: Annotated[NodeQuery, Query()]) -> list[NodeSummary]:
        """List incident nodes by their names; the next ones come with a larger `start`."""
        return service.nodes(query)

    @router.get("/nodes/{node_id:path}", responses=refusals(NotFoundError, UnavailableError))
    @needs(Need.READ)
    def get_node(node_id: str, hops: Annotated[int, Query(ge=1, le=2)] = 1) -> NodeSurroundings:
        """Return an incident node with its passages, and nodes within one or two links."""
        return service.surroundings(node_id, hops=hops)

    return router
