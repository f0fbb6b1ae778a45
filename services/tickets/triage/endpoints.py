"""HTTP routes of triage: teams, past tickets, and the team of a ticket."""

from typing import Annotated

from fastapi import APIRouter, Path

from services.contracts.gateway import TicketDetail
from services.contracts.triage import (
    MAX_NAME,
    Assignment,
    Learning,
    PastTickets,
    Rejection,
    Team,
    TriageDecision,
)
from services.kit.access.needs import Need, needs
from services.kit.http.openapi import refusals
from services.tickets.path_ids import TicketId
from services.tickets.ticket.queries import TicketNotFoundError
from services.tickets.triage.service import TicketOpenError, TriageService
from services.tickets.triage.teams import TeamNotFoundError, UnknownTeamError

Name = Annotated[str, Path(max_length=MAX_NAME)]


def create_triage_router(service: TriageService) -> APIRouter:
    """Create the routes of triage."""
    router = APIRouter()

    @router.get("/v1/teams")
    @needs(Need.READ)
    def list_teams() -> list[Team]:
        """List the declared teams, from the file and the API; others are known by past tickets."""
        return list(service.team_router.teams.all())

    @router.post("/v1/teams")
    @needs(Need.ADMIN)
    def put_team(team: Team) -> Team:
        """Declare a team, or describe it anew. Its description is evidence for triage."""
        service.team_router.teams.put(team)
        return team

    @router.delete("/v1/teams/{name}", status_code=204, responses=refusals(TeamNotFoundError))
    @needs(Need.ADMIN)
    def delete_team(name: Name) -> None:
        """Remove a team that was declared here; what was learned of it stays."""
        service.team_router.teams.remove(name)

    @router.post("/v1/triage/cases", status_code=202)
    @needs(Need.ADMIN)
    def post_cases(past: PastTickets) -> Learning:
        """Learn past tickets, oldest first, each with its team; stored before answering."""
        return service.learn(past)

    @router.post(
        "/v1/tickets/{ticket_id}/triage",
        responses=refusals(TicketNotFoundError, TicketOpenError),
    )
    @needs(Need.OPERATE)
    def post_triage(ticket_id: TicketId, rejection: Rejection) -> TriageDecision:
        """Reject the workflow: hand the ticket over to the likeliest team, with a note.

        If no team is likely enough, none is named and the ticket is not handed over: it keeps its
        note, and a person chooses.
        """
        return service.reject(ticket_id, rejection)

    @router.delete("/v1/tickets/{ticket_id}/triage", responses=refusals(TicketNotFoundError))
    @needs(Need.OPERATE)
    def take_back_triage(ticket_id: TicketId) -> TicketDetail:
        """Undo the hand-over, and with it the rejection of the workflow.

        The systems that were notified of it are notified again; repeating it changes nothing.
        """
        return service.take_back(ticket_id)

    @router.put(
        "/v1/tickets/{ticket_id}/team",
        responses=refusals(TicketNotFoundError, UnknownTeamError),
    )
    @needs(Need.OPERATE)
    def put_team_of_ticket(ticket_id: TicketId, assignment: Assignment) -> TriageDecision:
        """Assign the ticket to a team; triage learns from it.

        The team must be declared, or have taken a past ticket; declare a new one first.
        """
        return service.assign(ticket_id, assignment)

    return router
