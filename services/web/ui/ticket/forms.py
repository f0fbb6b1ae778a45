"""Forms of a ticket's page: answers, triage, its holder, retry and resolution."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from services.contracts.clarification import MAX_ANSWER_CHARACTERS, ClarificationAnswer
from services.contracts.gateway import Taking
from services.contracts.triage import Assignment, Rejection
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError
from services.tickets.path_ids import TicketId, WorkflowId
from services.tickets.service import TicketService
from services.tickets.ticket.addresses import Id
from services.tickets.triage.service import TriageService
from services.tickets.walk.workflow_refresh import WorkflowRefresh
from services.web.ui.forms import form_route, redirect_to

_Text = Annotated[str, Form(max_length=MAX_ANSWER_CHARACTERS)]


def create_ticket_forms(tickets: TicketService, triage: TriageService) -> APIRouter:
    """Build the router of the forms that answer questions and route the ticket."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/clarifications/{clarification_id}/answers")
    @form_route()
    @needs(Need.OPERATE)
    def answer_of_page(
        ticket_id: TicketId,
        clarification_id: Id,
        choice: Annotated[int | None, Form(ge=1, le=20)] = None,
        text: _Text = "",
        unknown: Annotated[str, Form(max_length=1)] = "",
    ) -> Response:
        """Take the pressed button as the answer, else the free text; nothing if both are empty."""
        own = "" if choice is not None or unknown else text.strip()
        if choice is None and not unknown and not own:
            return redirect_to("tickets", ticket_id)
        answer = ClarificationAnswer(
            choice=choice, text=own, unknown=bool(unknown) and choice is None
        )
        tickets.answer_handler.answer(ticket_id, clarification_id, answer)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/clarifications/dismissals")
    @form_route()
    @needs(Need.OPERATE)
    def dismissal_of_page(ticket_id: TicketId) -> Response:
        """Go on without an answer."""
        tickets.answer_handler.dismiss(ticket_id)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/triage")
    @form_route()
    @needs(Need.OPERATE)
    def rejection_of_page(
        ticket_id: TicketId, reason: Annotated[str, Form(max_length=2000)] = ""
    ) -> Response:
        """Reject the workflow as the answer."""
        triage.reject(ticket_id, Rejection(reason=reason.strip()))
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/workflows/{workflow_id}/hand-over")
    @form_route()
    @needs(Need.OPERATE)
    def hand_over_of_page(
        ticket_id: TicketId,
        workflow_id: WorkflowId,
        step: Annotated[str, Form(max_length=400)] = "",
    ) -> Response:
        """Hand the ticket over, at the box that says so or at any point of the work."""
        triage.hand_over(ticket_id, workflow_id, step or None)
        query = f"?candidate={quote(workflow_id, safe='')}"
        return redirect_to("tickets", ticket_id, at=f"{query}#triage")

    @router.post("/tickets/{ticket_id}/taking-back")
    @form_route()
    @needs(Need.OPERATE)
    def taking_back_of_page(ticket_id: TicketId) -> Response:
        """Take back the hand-over."""
        triage.take_back(ticket_id)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/team")
    @form_route()
    @needs(Need.OPERATE)
    def assignment_of_page(
        ticket_id: TicketId, team: Annotated[str, Form(max_length=200)] = ""
    ) -> Response:
        """Assign the ticket to a team."""
        try:
            assignment = Assignment(team=team.strip())
        except ValidationError:
            raise InvalidInputError("a team has a name of one line, without a slash") from None
        triage.assign(ticket_id, assignment)
        return redirect_to("tickets", ticket_id)

    return router


def create_lifecycle_forms(tickets: TicketService, renewal: WorkflowRefresh) -> APIRouter:
    """Build the router of the forms that walk a ticket again, resolve it and reopen it."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/retry")
    @form_route()
    @needs(Need.OPERATE)
    def retry_of_page(ticket_id: TicketId) -> Response:
        """Walk a failed ticket again."""
        tickets.retry(ticket_id)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/renewal")
    @form_route()
    @needs(Need.OPERATE)
    def renewal_of_page(ticket_id: TicketId) -> Response:
        """Walk the ticket again with the current readings of its pages."""
        renewal.renew(ticket_id)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/resolution")
    @form_route()
    @needs(Need.OPERATE)
    def resolution_of_page(ticket_id: TicketId) -> Response:
        """Mark the fault as over."""
        tickets.resolve(ticket_id)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/reopening")
    @form_route()
    @needs(Need.OPERATE)
    def reopening_of_page(ticket_id: TicketId) -> Response:
        """Take back that the fault is over."""
        tickets.reopen(ticket_id)
        return redirect_to("tickets", ticket_id)

    return router


def create_holder_forms(tickets: TicketService) -> APIRouter:
    """Build the router of the forms that assign and unassign a ticket."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/holder")
    @form_route()
    @needs(Need.OPERATE)
    def taking_of_page(
        ticket_id: TicketId,
        from_: Annotated[str, Form(alias="from", max_length=200)] = "",
        back: Annotated[str, Form(max_length=4000)] = "",
    ) -> Response:
        """Assign the ticket to the caller; show the ticket, or the list that the form was in."""
        tickets.assign_to_caller(ticket_id, Taking.model_validate({"from": from_}))
        if back.startswith("/?") or back == "/":
            return RedirectResponse(back, 303)
        return redirect_to("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/holder/return")
    @form_route()
    @needs(Need.OPERATE)
    def return_of_page(ticket_id: TicketId) -> Response:
        """Unassign the ticket from the caller."""
        tickets.unassign(ticket_id)
        return redirect_to("tickets", ticket_id)

    return router
