"""Pages of searches for causes: the growing tree, its evidence, its controls; for phones too."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from services.contracts.searching import (
    SearchDetail,
    Searches,
    SearchNode,
    SearchPruning,
    SearchRequest,
    StartSearch,
)
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError
from services.tickets.path_ids import TicketId
from services.tickets.ticket.addresses import Id
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.templates import render, render_refusal


def create_search_pages(searching: Searches) -> list[APIRouter]:
    """Build the routers of searches, with their forms."""
    return [_create_view_router(searching), _create_action_router(searching)]


def _create_view_router(searching: Searches) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/searches")
    @needs(Need.READ)
    def searches_page() -> HTMLResponse:
        """List the latest searches, those that are not over first."""
        try:
            searches = searching.searches()
        except FlowXpertError as error:
            return render_refusal(error)
        return render("searches/list.html", searches=searches)

    @router.get("/searches/{search_id}")
    @needs(Need.READ)
    def search_page(search_id: Id) -> HTMLResponse:
        """Show one search, with its answer or its present state first."""
        try:
            search = searching.search(search_id)
        except FlowXpertError as error:
            return render_refusal(error)
        observations = {n.observation.id: n.observation for n in search.nodes if n.observation}
        children: dict[int, list[SearchNode]] = {0: []}
        for node in search.nodes:
            children.setdefault(node.parent, []).append(node)
            children.setdefault(node.id, [])
        return render(
            "searches/page.html",
            search=search,
            below=children,
            observations=observations,
            findings={f.id: f for n in search.nodes for f in n.findings if f.id},
            hypotheses={each.id: each for each in search.hypotheses},
            may_run=current_caller().may(Scope.RUN),
        )

    @router.post("/tickets/{ticket_id}/searches")
    @form_route()
    @needs(Need.RUN)
    def start_search(ticket_id: TicketId) -> Response:
        """Search for the cause of a ticket, and show the search."""
        return redirect_to("searches", searching.start(StartSearch(ticket_id=ticket_id)).id)

    return router


def _create_action_router(searching: Searches) -> APIRouter:
    router = APIRouter(include_in_schema=False, prefix="/searches/{search_id}")

    @router.post("/pruning")
    @form_route()
    @needs(Need.RUN)
    def prune_branch(search_id: Id, node: Annotated[int, Form(ge=1)]) -> Response:
        """Prune a branch of the search."""
        searching.prune(search_id, SearchPruning(node=node))
        return redirect_to("searches", search_id)

    @router.post("/requests")
    @form_route()
    @needs(Need.RUN)
    def ask_for_look(
        search_id: Id,
        what: Annotated[str, Form(min_length=1, max_length=500)],
        expert: Annotated[str, Form(max_length=64)] = "",
    ) -> Response:
        """Request that something be looked at next."""
        searching.ask_for(search_id, SearchRequest(what=what, expert=expert))
        return redirect_to("searches", search_id)

    actions: dict[str, Callable[[str], SearchDetail]] = {
        "pause": searching.pause,
        "resumption": searching.resume,
        "cancellation": searching.cancel,
        "taking-over": searching.take_over,
    }

    @router.post("/{act}")
    @form_route()
    @needs(Need.RUN)
    def act_on_search(search_id: Id, act: str) -> Response:
        """Pause, resume, cancel or take over the search."""
        if act in actions:
            actions[act](search_id)
        return redirect_to("searches", search_id)

    return router
