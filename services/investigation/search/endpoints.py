"""Searches over HTTP; the caller of a request is whoever starts or steers."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.contracts.searching import (
    SearchDetail,
    Searches,
    SearchMeans,
    SearchPruning,
    SearchRequest,
    SearchSummary,
    StartSearch,
)
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.http.openapi import refusals

_ID = Annotated[str, Query(max_length=200)]
_STEERS = refusals(NotFoundError, ConflictError)


def create_search_router(searching: Searches) -> APIRouter:
    """Build the routes that start searches and read them."""
    router = APIRouter(prefix="/v1", tags=["searches"])

    @router.get("/search-means")
    @needs(Need.READ)
    def get_search_means() -> SearchMeans:
        """Get whether a search can be started, and which experts would search."""
        return searching.means()

    @router.post(
        "/searches",
        status_code=201,
        responses=refusals(NotFoundError, ConflictError, InvalidInputError),
    )
    @needs(Need.RUN)
    def start_search(wanted: StartSearch) -> SearchDetail:
        """Search for the cause of a ticket: experts look, and nothing is changed."""
        return searching.start(wanted)

    @router.get("/searches")
    @needs(Need.READ)
    def list_searches(ticket_id: _ID = "") -> list[SearchSummary]:
        """List searches of a ticket, or the latest of all: those that are not over first."""
        return searching.searches(ticket_id)

    @router.get("/searches/{search_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_search(search_id: str) -> SearchDetail:
        """Get a search with its tree, what was seen, and its outcome."""
        return searching.search(search_id)

    return router


def create_steering_router(searching: Searches) -> APIRouter:
    """Build the routes by which people steer searches."""
    router = APIRouter(prefix="/v1/searches/{search_id}", tags=["searches"])

    @router.post("/pruning", responses=_STEERS)
    @needs(Need.RUN)
    def prune_branch(search_id: str, pruning: SearchPruning) -> SearchDetail:
        """Prune a branch: what was seen there does not count any more."""
        return searching.prune(search_id, pruning)

    @router.post("/requests", responses=refusals(NotFoundError, ConflictError, InvalidInputError))
    @needs(Need.RUN)
    def ask_for_look(search_id: str, request: SearchRequest) -> SearchDetail:
        """Request a look, to be made next."""
        return searching.ask_for(search_id, request)

    @router.post("/pause", responses=_STEERS)
    @needs(Need.RUN)
    def pause_search(search_id: str) -> SearchDetail:
        """Pause the search after the current question."""
        return searching.pause(search_id)

    @router.post("/resumption", responses=_STEERS)
    @needs(Need.RUN)
    def resume_search(search_id: str) -> SearchDetail:
        """Resume the search."""
        return searching.resume(search_id)

    @router.post("/taking-over", responses=_STEERS)
    @needs(Need.RUN)
    def take_search_over(search_id: str) -> SearchDetail:
        """End the search, since the caller goes on by hand."""
        return searching.take_over(search_id)

    @router.post("/cancellation", responses=_STEERS)
    @needs(Need.RUN)
    def cancel_search(search_id: str) -> SearchDetail:
        """End the search."""
        return searching.cancel(search_id)

    return router
