"""The page of one ticket. Everything is rendered here; scripts only refresh and open."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.gateway.endpoints import MAX_ID_CHARACTERS, Service
from services.gateway.triage.endpoints import Service as Triage
from services.gateway.triage.service import TriageService
from services.gateway.ui.templates import refused, render
from services.gateway.ui.ticket.views import drawing, numbered_steps
from services.kit.access.caller import current_caller
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError
from services.workflow.formats.origin import reading_told

router = APIRouter(include_in_schema=False)


@router.get("/tickets/{ticket_id}")
def ticket_page(
    service: Service,
    triage: Triage,
    ticket_id: str,
    candidate: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
) -> HTMLResponse:
    """One ticket with its workflow, or with another of its candidates."""
    try:
        ticket = service.ticket(ticket_id)
        known = {summary.id for summary in ticket.candidates}
        shown = candidate if candidate in known else ticket.workflow_id
        stored = service.workflow(shown) if shown else None
    except FlowXpertError as error:
        return refused(error)
    events = service.events.after(0, ticket_id=ticket.id)
    view = _workflow_view(ticket, stored)
    view |= {"teams": _teams(triage, ticket), "may_operate": current_caller().may(Scope.OPERATE)}
    return render("ticket/page.html", ticket=ticket, events=events, **view)


def _teams(triage: TriageService, ticket: TicketDetail) -> list[str]:
    """Names to choose from: the likeliest first, then those that are declared."""
    likely = ticket.triage.candidates if ticket.triage else ()
    declared = (team.name for team in triage.teams())
    return list(dict.fromkeys((*(each.team for each in likely), *declared)))


def _workflow_view(ticket: TicketDetail, stored: StoredWorkflow | None) -> dict[str, Any]:
    if stored is None:
        return {"stored": None}
    return {
        "stored": stored,
        "steps": numbered_steps(stored.workflow),
        "drawing": drawing(stored.workflow),
        "reading": reading_told(stored.workflow),
        "is_best": stored.id == ticket.workflow_id,
    }
