"""Searches for causes: the tree as it grows, what was seen, how people steer; for a phone too."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from services.contracts.searching import (
    SearchDetail,
    Searching,
    SearchNode,
    SearchPruning,
    SearchRequest,
    StartSearch,
)
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.templates import refused, render
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError


def create_search_pages(searching: Searching) -> list[APIRouter]:
    """The pages and their forms, over what searches."""
    return [_looks(searching), _acts(searching)]


def _looks(searching: Searching) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/searches")
    @needs(Need.READ)
    def searches_page() -> HTMLResponse:
        """The latest searches, those that are not over first."""
        try:
            found = searching.searches()
        except FlowXpertError as error:
            return refused(error)
        return render("searches/list.html", searches=found)

    @router.get("/searches/{search_id}")
    @needs(Need.READ)
    def search_page(search_id: Id) -> HTMLResponse:
        """One search, with its answer or where it stands first."""
        try:
            search = searching.search(search_id)
        except FlowXpertError as error:
            return refused(error)
        observations = {n.observation.id: n.observation for n in search.nodes if n.observation}
        return render(
            "searches/page.html",
            search=search,
            below=_below(search),
            observations=observations,
            findings={f.id: f for n in search.nodes for f in n.findings if f.id},
            hypotheses={each.id: each for each in search.hypotheses},
            may_run=current_caller().may(Scope.RUN),
        )

    @router.post("/tickets/{ticket_id}/searches")
    @form()
    @needs(Need.RUN)
    def start_search(ticket_id: Id) -> Response:
        """Search for the cause of a ticket, and show the search."""
        return show("searches", searching.start(StartSearch(ticket_id=ticket_id)).id)

    return router


def _acts(searching: Searching) -> APIRouter:
    router = APIRouter(include_in_schema=False, prefix="/searches/{search_id}")

    @router.post("/pruning")
    @form()
    @needs(Need.RUN)
    def prune_branch(search_id: Id, node: Annotated[int, Form(ge=1)]) -> Response:
        """Leave a branch."""
        searching.prune(search_id, SearchPruning(node=node))
        return show("searches", search_id)

    @router.post("/requests")
    @form()
    @needs(Need.RUN)
    def ask_for_look(
        search_id: Id,
        what: Annotated[str, Form(min_length=1, max_length=500)],
        expert: Annotated[str, Form(max_length=64)] = "",
    ) -> Response:
        """Have something looked at next."""
        searching.ask_for(search_id, SearchRequest(what=what, expert=expert))
        return show("searches", search_id)

    acts: dict[str, Callable[[str], SearchDetail]] = {
        "pause": searching.pause,
        "resumption": searching.resume,
        "cancellation": searching.cancel,
        "taking-over": searching.take_over,
    }

    @router.post("/{act}")
    @form()
    @needs(Need.RUN)
    def act_on_search(search_id: Id, act: str) -> Response:
        """Pause it, let it go on, end it, or take it over."""
        if act in acts:
            acts[act](search_id)
        return show("searches", search_id)

    return router


def _below(search: SearchDetail) -> dict[int, list[SearchNode]]:
    """Nodes by the one that they were opened from."""
    found: dict[int, list[SearchNode]] = {0: []}
    for node in search.nodes:
        found.setdefault(node.parent, []).append(node)
        found.setdefault(node.id, [])
    return found
