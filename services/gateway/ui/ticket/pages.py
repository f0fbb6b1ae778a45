"""The page of one ticket. Everything is rendered here; scripts only refresh and open."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.gateway import ProgressEvent, StoredWorkflow, TicketDetail
from services.contracts.ingestion import Ingestion
from services.contracts.screened_ticket import screened
from services.contracts.searching import Searching
from services.contracts.ticket import TicketStatus
from services.gateway.ports import Adoption, Renewal, Tickets, Triage
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS
from services.gateway.ui.templates import refused, render
from services.gateway.ui.ticket.beside import Address, Document, PagesAround, Part
from services.gateway.ui.ticket.checklist import checklist_of
from services.gateway.ui.ticket.history import after_end, history_of, seen_of
from services.gateway.ui.ticket.tabs import tabs_of
from services.gateway.ui.ticket.taken_page import page_taken_by
from services.gateway.ui.ticket.views import drawing, findings_told, names_of, numbered_steps
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError
from services.workflow.commands import assigned, unfit_values, values_in, values_of
from services.workflow.formats.origin import reading_told

MOST_AUDIT_LINES = 100
_WITHOUT = (TicketStatus.REFUSED, TicketStatus.REJECTED, TicketStatus.HANDED_OVER)
"""No workflow is followed: its cause may be searched for."""


def create_ticket_page(
    tickets: Tickets,
    triage: Triage,
    adoption: Adoption,
    renewal: Renewal,
    audit: AuditLog,
    *,
    ingestion: Ingestion | None = None,
    searching: Searching | None = None,
    completes: bool = False,
) -> APIRouter:
    """The page, over what it shows; with `completes` it leads to what others check.

    With `ingestion`, which holds the documents, links of a page open others beside it, and an owner
    may say which blocks of a page are steps.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}")
    @needs(Need.READ)
    def ticket_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: str,
        candidate: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
        edit: Annotated[str, Query(max_length=400)] = "",
        corrected: Annotated[str, Query(max_length=40)] = "",
        beside: Document = "",
        part: Part = "",
    ) -> HTMLResponse:
        """One ticket with its workflow, or with another of its candidates; `edit` opens a step.

        `corrected` is the key of a block: it says that an owner's word on it was kept. `beside` is
        a document whose page stands beside the ticket's, `part` the heading of it that is meant.
        """
        try:
            # Before all that is shown: what happens meanwhile comes to the page as an event.
            events = tickets.events(ticket_id)
            ticket = tickets.ticket(ticket_id)
            stored = _shown(tickets, ticket, candidate)
            at = Address(ticket.id, candidate, beside, part)
            pages = PagesAround(ingestion, adoption, at, stored.workflow) if stored else None
            view = _workflow_view(ticket, stored, tickets, adoption, pages)
        except FlowXpertError as error:
            return refused(error)
        caller = current_caller()
        view |= {
            "teams": _teams(triage, ticket),
            "may_operate": caller.may(Scope.OPERATE),
            "may_hand_over": _may_hand_over(ticket),
            "taken_by": page_taken_by(ticket, stored),
            "reader": caller.name,
            "may_run": caller.may(Scope.RUN),
            "completes": completes,
            "may_correct": ingestion is not None and caller.may(Scope.APPROVE),
            "corrected": corrected,
        }
        names = names_of(stored.workflow) if stored else {}
        view |= {"history": history_of(events, names), "editing": edit, "audit": None}
        view |= {"seen_of": seen_of(events, stored.id) if stored else {}}
        view |= _searched(searching, ticket, events)
        view |= after_end(events) | {"newer": renewal.newer(ticket.id)}
        if caller.may(Scope.ADMIN):
            of_ticket = AuditFilter(subject=f"ticket {ticket.id}")
            view["audit"] = audit.lines(of_ticket, limit=MOST_AUDIT_LINES)
        return render("ticket/page.html", ticket=ticket, events=events, **view)

    return router


def _searched(
    searching: Searching | None, ticket: TicketDetail, events: Sequence[ProgressEvent]
) -> dict[str, Any]:
    """Searches for the cause, where no workflow fits; an executor that is away is not told of."""
    none: dict[str, Any] = {"search_means": None, "searches": []}
    ran = [event.facts["outcome"] for event in events if event.kind == "ran"]
    is_left = ticket.status in _WITHOUT or ran[-1:] == ["handed over"]
    is_searched = any(event.kind == "searched" for event in events)
    if searching is None or not (is_left or is_searched):
        return none
    try:
        return {"search_means": searching.means(), "searches": searching.searches(ticket.id)}
    except FlowXpertError:
        return none


def _shown(service: Tickets, ticket: TicketDetail, candidate: str) -> StoredWorkflow | None:
    """The workflow that is asked for, one of an earlier walk too, else the ticket's."""
    if candidate and candidate != ticket.workflow_id:
        stored = service.workflow(candidate)
        if stored.ticket_id == ticket.id:
            return stored
    return service.workflow(ticket.workflow_id) if ticket.workflow_id else None


def _may_hand_over(ticket: TicketDetail) -> bool:
    """Whether a team can take it: it is neither on its way nor over, and no team's yet."""
    is_given_up = ticket.status in {TicketStatus.HANDED_OVER, TicketStatus.REJECTED}
    return ticket.status.is_final and not is_given_up and ticket.resolved_at is None


def _teams(triage: Triage, ticket: TicketDetail) -> list[str]:
    """Names to choose from: the likeliest first, then all others that are known."""
    known = triage.known_teams()
    likely = [each.team for each in ticket.triage.candidates] if ticket.triage else []
    return list(dict.fromkeys((*(name for name in likely if name in known), *known)))


def _workflow_view(
    ticket: TicketDetail,
    stored: StoredWorkflow | None,
    tickets: Tickets,
    adoption: Adoption,
    pages: PagesAround | None,
) -> dict[str, Any]:
    if stored is None or pages is None:
        left_behind = adoption.left_behind(ticket.id)
        return {"stored": None, "checklist": None, "left_behind": left_behind}
    work = adoption.work(stored.id)
    known = screened(ticket).ticket
    steps = numbered_steps(stored.workflow, work)
    checklist = checklist_of(stored.workflow, steps, pages.links())
    of_other_kind = [each for each in ticket.candidates if each.kind is not stored.kind]
    return {
        "checklist": checklist,
        "at": pages.at,
        "beside": pages.beside(),
        "marked_beside": pages.marked,
        "progress": pages.progress,
        "tabs": tabs_of(stored, [tickets.workflow(each.id) for each in of_other_kind]),
        "stored": stored,
        "work": work,
        "left_behind": work.left_behind,
        "steps": steps,
        "gap_values": values_of(known.labels),
        "set_on_page": {
            name
            for step in stored.workflow.steps
            for command in step.commands
            for name in assigned(command)
        },
        "gap_unfit": unfit_values(known.labels),
        "gap_offers": values_in(f"{known.title}\n{known.description}"),
        "drawing": None if checklist else drawing(stored.workflow, work),
        "reading": reading_told(stored.workflow),
        "is_best": stored.id == ticket.workflow_id,
        "findings": findings_told(stored),
        "changes": adoption.changes(stored.id) if stored.base_id else None,
    }
