"""The form by which an owner says of a block of the ticket's page that it is a step, or none."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from fastapi.responses import Response

from services.contracts.readings import BoxCorrection
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS, Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.needs import Need, needs


def create_box_form(tickets: Tickets, known: Known) -> APIRouter:
    """The form, over what keeps corrections of pages."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/boxes")
    @form()
    @needs(Need.APPROVE)
    def box_of_page(
        ticket_id: Id,
        document: Annotated[str, Form(max_length=1024)],
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
        candidate: Annotated[str, Form(max_length=MAX_ID_CHARACTERS)] = "",
    ) -> Response:
        """Keep the correction for tickets to come; an empty `is_step` takes it back.

        The ticket keeps its workflow until somebody makes it anew.
        """
        tickets.ticket(ticket_id)
        correction = BoxCorrection(document_id=document, key=key, is_step=is_step)
        known.readings().correct_box(correction)
        shown = {"candidate": candidate, "corrected": "" if is_step is None else key}
        query = urlencode({name: value for name, value in shown.items() if value})
        return show("tickets", ticket_id, at=f"?{query}#at-{key}" if query else f"#at-{key}")

    return router
