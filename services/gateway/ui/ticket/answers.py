"""What a page's forms send; the page comes again afterwards."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Path
from fastapi.responses import RedirectResponse, Response

from services.contracts.clarification import MAX_ANSWER_CHARACTERS, ClarificationAnswer
from services.gateway.endpoints import MAX_ID_CHARACTERS, Service
from services.gateway.ui.templates import refused
from services.kit.errors import FlowXpertError

SEE_OTHER = 303


router = APIRouter(include_in_schema=False)

_Id = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]
_Text = Annotated[str, Form(max_length=MAX_ANSWER_CHARACTERS)]


@router.post("/tickets/{ticket_id}/clarifications/{clarification_id}/answers")
def answer_of_page(  # noqa: PLR0917 - FastAPI passes them by name
    service: Service,
    ticket_id: _Id,
    clarification_id: _Id,
    choice: Annotated[int | None, Form(ge=1, le=20)] = None,
    text: _Text = "",
    unknown: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """The button that was pressed counts, else the own words; nothing at all changes nothing."""
    own = "" if choice is not None or unknown else text.strip()
    if choice is None and not unknown and not own:
        return page_of(ticket_id)
    given = ClarificationAnswer(choice=choice, text=own, unknown=bool(unknown) and choice is None)
    try:
        service.answering.answer(ticket_id, clarification_id, given)
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)


@router.post("/tickets/{ticket_id}/clarifications/dismissals")
def dismissal_of_page(service: Service, ticket_id: _Id) -> Response:
    """Go on without an answer."""
    try:
        service.answering.dismiss(ticket_id)
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)


@router.post("/tickets/{ticket_id}/retry")
def retry_of_page(service: Service, ticket_id: _Id) -> Response:
    """Walk a failed ticket again."""
    try:
        service.retrying.ticket(ticket_id)
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)


@router.post("/tickets/{ticket_id}/resolution")
def resolution_of_page(service: Service, ticket_id: _Id) -> Response:
    """The fault is over."""
    try:
        service.resolving.ticket(ticket_id)
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)


def page_of(ticket_id: str) -> RedirectResponse:
    """The ticket's page, once a form was taken."""
    return RedirectResponse(f"/tickets/{quote(ticket_id, safe='')}", SEE_OTHER)
