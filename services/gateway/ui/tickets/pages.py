"""The list of tickets."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.gateway.ports import Tickets
from services.gateway.ticket.listing.pages import InvalidCursorError
from services.gateway.ui.templates import refused, render
from services.gateway.ui.tickets.list_query import ListQuery
from services.gateway.ui.tickets.views import address, chosen, fields, groups, sorts
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope


def create_list_page(tickets: Tickets) -> APIRouter:
    """The page, over what it lists."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    @needs(Need.READ)
    def tickets_page(query: Annotated[ListQuery, Query()]) -> HTMLResponse:
        """The tickets that the address asks for, with all that can be chosen beside them."""
        try:
            page = tickets.tickets(query)
        except InvalidCursorError as error:
            return refused(error)
        counts = tickets.counts(query)
        return render(
            "tickets/list.html",
            query=query,
            page=page,
            counts=counts,
            groups=groups(query, counts),
            sorts=sorts(query),
            chosen=chosen(query),
            also_over=address(query, resolved=None),
            here=address(query, cursor=query.cursor) if query.cursor else address(query),
            may_operate=current_caller().may(Scope.OPERATE),
            hidden=fields(query, "text", "cursor"),
            older=address(query, cursor=page.next_cursor) if page.next_cursor else None,
        )

    return router
