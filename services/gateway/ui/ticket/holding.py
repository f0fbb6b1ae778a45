"""Forms by which somebody takes a ticket and gives it back; the page they were at comes again."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from services.contracts.gateway import Taking
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.kit.access.needs import Need, needs


def create_holder_forms(tickets: Tickets) -> APIRouter:
    """The forms, over what does what they say."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/holder")
    @form()
    @needs(Need.OPERATE)
    def taking_of_page(
        ticket_id: Id,
        from_: Annotated[str, Form(alias="from", max_length=200)] = "",
        back: Annotated[str, Form(max_length=4000)] = "",
    ) -> Response:
        """It is the caller's; from a list, which is shown again."""
        tickets.take(ticket_id, Taking.model_validate({"from": from_}))
        if back.startswith("/?") or back == "/":
            return RedirectResponse(back, 303)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/holder/return")
    @form()
    @needs(Need.OPERATE)
    def return_of_page(ticket_id: Id) -> Response:
        """It is nobody's again."""
        tickets.give_back(ticket_id)
        return show("tickets", ticket_id)

    return router
