"""Forms of a ticket's page that give it to a team; the page comes again afterwards."""

from typing import Annotated

from fastapi import APIRouter, Form, Path
from fastapi.responses import Response
from pydantic import ValidationError

from services.contracts.triage import Assignment, Rejection
from services.gateway.endpoints import MAX_ID_CHARACTERS
from services.gateway.triage.endpoints import Service
from services.gateway.ui.templates import refused
from services.gateway.ui.ticket.answers import page_of
from services.kit.errors import FlowXpertError, InvalidInputError

router = APIRouter(include_in_schema=False)

_Id = Annotated[str, Path(max_length=MAX_ID_CHARACTERS)]


@router.post("/tickets/{ticket_id}/triage")
def rejection_of_page(
    service: Service, ticket_id: _Id, reason: Annotated[str, Form(max_length=2000)] = ""
) -> Response:
    """The workflow is not the answer."""
    try:
        service.reject(ticket_id, Rejection(reason=reason.strip()))
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)


@router.post("/tickets/{ticket_id}/team")
def assignment_of_page(
    service: Service, ticket_id: _Id, team: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Whose ticket it is."""
    try:
        assignment = Assignment(team=team.strip())
    except ValidationError:
        return refused(InvalidInputError("a team has a name of one line, without a slash"))
    try:
        service.assign(ticket_id, assignment)
    except FlowXpertError as error:
        return refused(error)
    return page_of(ticket_id)
