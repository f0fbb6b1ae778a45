"""Forms of a ticket's page: answers, its team, its end; the page comes again afterwards."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form
from fastapi.responses import Response
from pydantic import ValidationError

from services.contracts.clarification import MAX_ANSWER_CHARACTERS, ClarificationAnswer
from services.contracts.triage import Assignment, Rejection
from services.gateway.ports import Renewal, Tickets, Triage
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError

_Text = Annotated[str, Form(max_length=MAX_ANSWER_CHARACTERS)]


def create_ticket_forms(tickets: Tickets, triage: Triage) -> APIRouter:
    """The forms, over what does what they say."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/clarifications/{clarification_id}/answers")
    @form()
    @needs(Need.OPERATE)
    def answer_of_page(
        ticket_id: Id,
        clarification_id: Id,
        choice: Annotated[int | None, Form(ge=1, le=20)] = None,
        text: _Text = "",
        unknown: Annotated[str, Form(max_length=1)] = "",
    ) -> Response:
        """The button that was pressed counts, else the own words; nothing changes nothing."""
        own = "" if choice is not None or unknown else text.strip()
        if choice is None and not unknown and not own:
            return show("tickets", ticket_id)
        given = ClarificationAnswer(
            choice=choice, text=own, unknown=bool(unknown) and choice is None
        )
        tickets.answer(ticket_id, clarification_id, given)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/clarifications/dismissals")
    @form()
    @needs(Need.OPERATE)
    def dismissal_of_page(ticket_id: Id) -> Response:
        """Go on without an answer."""
        tickets.dismiss_questions(ticket_id)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/triage")
    @form()
    @needs(Need.OPERATE)
    def rejection_of_page(
        ticket_id: Id, reason: Annotated[str, Form(max_length=2000)] = ""
    ) -> Response:
        """The workflow is not the answer."""
        triage.reject(ticket_id, Rejection(reason=reason.strip()))
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/workflows/{workflow_id}/hand-over")
    @form()
    @needs(Need.OPERATE)
    def hand_over_of_page(
        ticket_id: Id, workflow_id: Id, step: Annotated[str, Form(max_length=400)] = ""
    ) -> Response:
        """The ticket is handed over, at the box that says so or wherever the work is."""
        triage.hand_over(ticket_id, workflow_id, step or None)
        query = f"?candidate={quote(workflow_id, safe='')}"
        return show("tickets", ticket_id, at=f"{query}#triage")

    @router.post("/tickets/{ticket_id}/taking-back")
    @form()
    @needs(Need.OPERATE)
    def taking_back_of_page(ticket_id: Id) -> Response:
        """The hand-over is taken back."""
        triage.take_back(ticket_id)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/team")
    @form()
    @needs(Need.OPERATE)
    def assignment_of_page(
        ticket_id: Id, team: Annotated[str, Form(max_length=200)] = ""
    ) -> Response:
        """Whose ticket it is."""
        try:
            assignment = Assignment(team=team.strip())
        except ValidationError:
            raise InvalidInputError("a team has a name of one line, without a slash") from None
        triage.assign(ticket_id, assignment)
        return show("tickets", ticket_id)

    return router


def create_course_forms(tickets: Tickets, renewal: Renewal) -> APIRouter:
    """Forms that walk a ticket again, end it and open it again."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/retry")
    @form()
    @needs(Need.OPERATE)
    def retry_of_page(ticket_id: Id) -> Response:
        """Walk a failed ticket again."""
        tickets.retry(ticket_id)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/renewal")
    @form()
    @needs(Need.OPERATE)
    def renewal_of_page(ticket_id: Id) -> Response:
        """Walk the ticket again with its pages' readings as they are now."""
        renewal.renew(ticket_id)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/resolution")
    @form()
    @needs(Need.OPERATE)
    def resolution_of_page(ticket_id: Id) -> Response:
        """The fault is over."""
        tickets.resolve(ticket_id)
        return show("tickets", ticket_id)

    @router.post("/tickets/{ticket_id}/reopening")
    @form()
    @needs(Need.OPERATE)
    def reopening_of_page(ticket_id: Id) -> Response:
        """The fault is not over after all."""
        tickets.reopen(ticket_id)
        return show("tickets", ticket_id)

    return router
