"""Forms of a ticket's page by which an owner says which blocks of its page are steps."""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form
from fastapi.responses import Response

from services.contracts.readings import BoxCorrection, Readings
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.ticket.workflows import workflow_of
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError


def create_box_forms(tickets: Tickets, readings: Callable[[], Readings]) -> APIRouter:
    """Return the form, over what keeps the word."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/workflows/{workflow_id}/boxes")
    @form()
    @needs(Need.APPROVE)
    def box_of_page(
        ticket_id: Id,
        workflow_id: Id,
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
    ) -> Response:
        """Keep whether a block is a step; nothing takes the word back.

        The page of this ticket stays until it is made again.
        """
        page = workflow_of(tickets, ticket_id, workflow_id).workflow.page
        if page is None:
            raise InvalidInputError("expected a workflow that shows a page, and this one has steps")
        word = BoxCorrection(document_id=page.document_id, key=key, is_step=is_step)
        readings().correct_box(word)
        query = f"?candidate={quote(workflow_id, safe='')}"
        at = f"#at-{key}" if is_step is None else f"&corrected={key}#corrected"
        return show("tickets", ticket_id, at=query + at)

    return router
