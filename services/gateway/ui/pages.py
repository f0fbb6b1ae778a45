"""The pages' addresses. Everything is rendered here; scripts only refresh and open."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, HTMLResponse

from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.ticket import TicketStatus
from services.gateway.endpoints import MAX_ID_CHARACTERS, Service
from services.gateway.queries import TicketFilter
from services.gateway.triage.endpoints import Service as Triage
from services.gateway.triage.service import TriageService
from services.gateway.ui.templates import refused, render
from services.gateway.ui.views import drawing, numbered_steps
from services.kit.access.caller import current_caller
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError, NotFoundError
from services.workflow.formats.origin import reading_told

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent
FILES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}


@router.get("/")
def tickets_page(
    service: Service,
    status: Annotated[str, Query(max_length=20)] = "",
    text: Annotated[str, Query(max_length=200)] = "",
    cursor: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
) -> HTMLResponse:
    """The list of tickets; a status that does not exist shows all."""
    chosen = TicketStatus(status) if status in set(TicketStatus) else None
    page = service.tickets(
        TicketFilter(status=chosen, text=text), cursor=cursor or None, limit=None
    )
    counts = service.queries.counts()
    return render("tickets.html", page=page, counts=counts, chosen=chosen, text=text, cursor=cursor)


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
    return render("ticket.html", ticket=ticket, events=events, **view)


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


@router.get("/sources/{document_id:path}")
def source_page(
    service: Service, document_id: str, lines: Annotated[str, Query(max_length=40)] = "1"
) -> HTMLResponse:
    """The text of a document around some of its lines."""
    try:
        source = service.source_lines(document_id, lines, None)
    except FlowXpertError as error:
        return refused(error)
    return render("source.html", source=source)


@router.get("/ui/{name}")
def ui_file(name: str) -> FileResponse:
    """The style sheet, the script and the icon, and no other file."""
    if name not in FILES:
        raise NotFoundError(f"the pages have no file {name[:40]!r}")
    return FileResponse(
        FOLDER / name, media_type=FILES[name], headers={"cache-control": "no-cache"}
    )
