"""Pages for browsers, a folder for each: its routes and its templates.

`static` holds what browsers load. The router of each page is listed here; those of one or two
routes are here whole.
"""

import json
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, HTMLResponse, Response

from services.contracts.adoption import MOST_WEEKS, TakenQuery
from services.contracts.completeness import CompletenessChecks
from services.contracts.execution import Execution
from services.contracts.searching import Searches
from services.contracts.summaries import Summaries
from services.kit.access.audit import AuditLog
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError, NotFoundError
from services.tickets.adoption.service import AdoptionService
from services.tickets.service import TicketService
from services.tickets.ticket.event_kinds import KINDS, PROGRESS
from services.tickets.triage.service import TriageService
from services.tickets.walk.workflow_refresh import WorkflowRefresh
from services.web.ui.knowledge import create_knowledge_pages
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.runs import create_run_pages
from services.web.ui.searches import create_search_pages
from services.web.ui.templates import render, render_refusal
from services.web.ui.ticket.forms import (
    create_holder_forms,
    create_lifecycle_forms,
    create_ticket_forms,
)
from services.web.ui.ticket.pages import create_ticket_page
from services.web.ui.ticket.side_page import create_side_page_forms
from services.web.ui.ticket.work_forms import create_box_forms, create_work_forms
from services.web.ui.tickets import create_list_page


def create_pages(
    tickets: TicketService,
    triage: TriageService,
    adoption: AdoptionService,
    renewal: WorkflowRefresh,
    *,
    knowledge_backend: KnowledgeBackend,
    audit: AuditLog,
    execution: Execution | None = None,
    searching: Searches | None = None,
    summaries: Summaries | None = None,
    completing: CompletenessChecks | None = None,
) -> list[APIRouter]:
    """Build the routers of all pages, over the services that they show."""
    return [
        create_file_router(),
        create_list_page(tickets),
        create_ticket_page(
            tickets,
            triage,
            adoption,
            renewal,
            audit,
            ingestion=knowledge_backend.optional_services.ingestion
            if knowledge_backend.optional_services
            else None,
            searching=searching,
            completes=completing is not None,
        ),
        *(
            [create_completeness_pages(tickets, knowledge_backend, completing)]
            if completing
            else []
        ),
        create_ticket_forms(tickets, triage),
        create_holder_forms(tickets),
        create_lifecycle_forms(tickets, renewal),
        create_work_forms(tickets, adoption),
        create_side_page_forms(adoption),
        create_box_forms(tickets, knowledge_backend.readings),
        create_acceptance_page(adoption),
        create_source_page(tickets),
        *create_knowledge_pages(knowledge_backend),
        *(create_run_pages(tickets, execution, summaries) if execution and summaries else ()),
        *(create_search_pages(searching) if searching else ()),
    ]


def create_acceptance_page(adoption: AdoptionService) -> APIRouter:
    """Build the router of the acceptance rate."""
    router = APIRouter(include_in_schema=False)

    @router.get("/acceptance")
    @needs(Need.READ)
    def acceptance_page(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12) -> HTMLResponse:
        """Show the acceptance of workflows by week, writer and document."""
        return render("acceptance/page.html", report=adoption.acceptance.report(weeks), weeks=weeks)

    @router.get("/acceptance/tickets")
    @needs(Need.READ)
    def taken_tickets_page(query: Annotated[TakenQuery, Query()]) -> HTMLResponse:
        """Show the tickets that one number of the report counts."""
        return render(
            "acceptance/tickets.html", query=query, tickets=adoption.acceptance.tickets(query)
        )

    return router


def create_completeness_pages(
    tickets: TicketService, backend: KnowledgeBackend, completing: CompletenessChecks
) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}/completeness")
    @needs(Need.READ)
    def of_ticket(ticket_id: str) -> HTMLResponse:
        """Compare with pages of the same kind, and with past tickets of the same alert."""
        try:
            ticket = tickets.queries.ticket(ticket_id)
            completeness = completing.of_ticket(ticket_id)
        except FlowXpertError as error:
            return render_refusal(error)
        return render(
            "completeness/page.html",
            back=(f"/tickets/{ticket_id}", ticket.title),
            found=completeness,
            this="this workflow",
            past="Past tickets of this alert",
        )

    @router.get("/knowledge/readings/{text_hash}/completeness")
    @needs(Need.READ)
    def of_reading(text_hash: str) -> HTMLResponse:
        """Compare with pages of the same kind, and with past tickets that this page answered."""
        try:
            page = backend.readings().get(text_hash)
            completeness = completing.of_page(page)
        except FlowXpertError as error:
            return render_refusal(error)
        title = page.documents[0] if page.documents else "A page that is gone"
        return render(
            "completeness/page.html",
            back=(f"/knowledge/readings/{text_hash}", title),
            found=completeness,
            this="this page",
            past="Past tickets that this page answered",
        )

    return router


def create_source_page(tickets: TicketService) -> APIRouter:
    """Build the router of the page that shows cited lines."""
    router = APIRouter(include_in_schema=False)

    @router.get("/sources/{document_id:path}")
    @needs(Need.READ)
    def source_page(
        document_id: str, lines: Annotated[str, Query(max_length=40)] = "1"
    ) -> HTMLResponse:
        """Show the text of a document around some of its lines."""
        try:
            source = tickets.source_lines(document_id, lines, None)
        except FlowXpertError as error:
            return render_refusal(error)
        return render("sources/source.html", source=source)

    return router


FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}
EVENTS = "\n".join(
    f"export const {name} = {json.dumps(list(kinds))};"
    for name, kinds in (("KINDS", KINDS), ("PROGRESS", PROGRESS))
)
"""A script with the event kinds, printed from the catalogue."""


def create_file_router() -> APIRouter:
    """Build the router of the static files; nothing else is served."""
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}")
    @needs(Need.OPEN)
    def static_file(name: str) -> Response:
        """Return a static file of the pages, and no other file."""
        headers = {"cache-control": "no-cache"}
        if name == "events.js":
            return Response(EVENTS, media_type=MEDIA_TYPES[".js"], headers=headers)
        if name not in FILES:
            raise NotFoundError(f"the pages have no file {name[:40]!r}")
        path = FILES[name]
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=headers)

    return router
