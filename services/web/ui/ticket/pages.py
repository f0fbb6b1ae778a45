"""The page of one ticket. Everything is rendered here; scripts only refresh and open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.gateway import ProgressEvent, StoredWorkflow, TicketDetail
from services.contracts.ingestion import Ingestion
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.searching import Searches
from services.contracts.ticket import TicketStatus
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError
from services.tickets.adoption.service import AdoptionService
from services.tickets.path_ids import TicketId
from services.tickets.service import TicketService
from services.tickets.ticket.addresses import MAX_ID_CHARACTERS
from services.tickets.triage.service import TriageService
from services.tickets.walk.workflow_refresh import WorkflowRefresh
from services.web.ui.templates import render, render_refusal
from services.web.ui.ticket.checklist import checklist_of
from services.web.ui.ticket.history import (
    after_end,
    evidence_by_step,
    history_of,
    reason_not_looked,
)
from services.web.ui.ticket.side_page import (
    DocumentParam,
    FragmentParam,
    TicketLinkedPages,
    TicketPageAddress,
)
from services.web.ui.ticket.views import (
    describe_findings,
    draw_workflow,
    names_of,
    number_steps,
)
from services.workflow.commands import assigned_variables, unfit_values, values_in, values_of
from services.workflow.formats.origin import describe_reading

MOST_AUDIT_LINES = 100
_WITHOUT_WORKFLOW = (TicketStatus.REFUSED, TicketStatus.REJECTED, TicketStatus.HANDED_OVER)
"""States in which no workflow is followed, so that the cause may be searched for."""


def create_ticket_page(
    tickets: TicketService,
    triage: TriageService,
    adoption: AdoptionService,
    renewal: WorkflowRefresh,
    audit: AuditLog,
    *,
    ingestion: Ingestion | None = None,
    searching: Searches | None = None,
    completes: bool = False,
) -> APIRouter:
    """Build the router of a ticket's page; with `completes` it links to what others check.

    With `ingestion`, which holds the documents, links of a page open others beside it, and an owner
    may say which blocks of a page are steps.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/tickets/{ticket_id}")
    @needs(Need.READ)
    def ticket_page(  # noqa: PLR0917 - FastAPI passes them by name
        ticket_id: TicketId,
        candidate: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
        edit: Annotated[str, Query(max_length=400)] = "",
        corrected: Annotated[str, Query(max_length=40)] = "",
        beside: DocumentParam = "",
        part: FragmentParam = "",
    ) -> HTMLResponse:
        """Show one ticket with its workflow, or with another candidate; `edit` opens a step.

        `corrected` is the key of a block: it says that an owner's correction of it was stored.
        `beside` is a document whose page is shown beside the ticket's, `part` the fragment of its
        heading.
        """
        try:
            # Before all that is shown: what happens meanwhile comes to the page as an event.
            events = tickets.event_feed.of_ticket(ticket_id)
            ticket = tickets.queries.ticket(ticket_id)
            stored = _requested_workflow(tickets, ticket, candidate)
            at = TicketPageAddress(ticket.id, candidate, beside, part)
            pages = TicketLinkedPages(ingestion, adoption, at, stored.workflow) if stored else None
            view = _workflow_view(ticket, stored, tickets, adoption, pages)
        except FlowXpertError as error:
            return render_refusal(error)
        caller = current_caller()
        view |= {
            "teams": _team_choices(triage, ticket),
            "may_operate": caller.may(Scope.OPERATE),
            "may_hand_over": ticket.status.is_final
            and ticket.status not in {TicketStatus.HANDED_OVER, TicketStatus.REJECTED}
            and ticket.resolved_at is None,
            "taken_by": page_chosen_by(ticket, stored),
            "reader": caller.name,
            "may_run": caller.may(Scope.RUN),
            "completes": completes,
            "may_correct": ingestion is not None and caller.may(Scope.APPROVE),
            "corrected": corrected,
        }
        names = names_of(stored.workflow) if stored else {}
        view |= {"history": history_of(events, names), "editing": edit, "audit": None}
        view |= {
            "seen_of": evidence_by_step(events, stored.id) if stored else {},
            "not_looked": reason_not_looked(events, stored.id) if stored else "",
        }
        view |= _search_view(searching, ticket, events)
        view |= after_end(events) | {"newer": renewal.newer(ticket.id)}
        if caller.may(Scope.ADMIN):
            of_ticket = AuditFilter(subject=f"ticket {ticket.id}")
            view["audit"] = audit.lines(of_ticket, limit=MOST_AUDIT_LINES)
        return render("ticket/page.html", ticket=ticket, events=events, **view)

    return router


def _search_view(
    searching: Searches | None, ticket: TicketDetail, events: Sequence[ProgressEvent]
) -> dict[str, Any]:
    """Return the searches for the cause if no workflow fits; none if the executor is away."""
    none: dict[str, Any] = {"search_means": None, "searches": []}
    outcomes = [event.facts["outcome"] for event in events if event.kind == "ran"]
    is_left = ticket.status in _WITHOUT_WORKFLOW or outcomes[-1:] == ["handed over"]
    is_searched = any(event.kind == "searched" for event in events)
    if searching is None or not (is_left or is_searched):
        return none
    try:
        return {"search_means": searching.means(), "searches": searching.searches(ticket.id)}
    except FlowXpertError:
        return none


def _requested_workflow(
    service: TicketService, ticket: TicketDetail, candidate: str
) -> StoredWorkflow | None:
    """Return the requested workflow, of an earlier walk too, else the ticket's."""
    if candidate and candidate != ticket.workflow_id:
        stored = service.queries.workflow(candidate)
        if stored.ticket_id == ticket.id:
            return stored
    return service.queries.workflow(ticket.workflow_id) if ticket.workflow_id else None


def _team_choices(triage: TriageService, ticket: TicketDetail) -> list[str]:
    """Return the names of teams to choose from: the likeliest first, then all others."""
    names = triage.team_router.team_names()
    likely = [each.team for each in ticket.triage.candidates] if ticket.triage else []
    return list(dict.fromkeys((*(name for name in likely if name in names), *names)))


def _workflow_view(
    ticket: TicketDetail,
    stored: StoredWorkflow | None,
    tickets: TicketService,
    adoption: AdoptionService,
    pages: TicketLinkedPages | None,
) -> dict[str, Any]:
    if stored is None or pages is None:
        left_behind = adoption.left_behind(ticket.id)
        return {"stored": None, "checklist": None, "left_behind": left_behind}
    work = adoption.work(stored.id)
    safe_ticket = ScreenedTicket(ticket).for_model()
    steps = number_steps(stored.workflow, work)
    checklist = checklist_of(stored.workflow, steps, pages.links())
    of_other_kind = [each for each in ticket.candidates if each.kind is not stored.kind]
    return {
        "checklist": checklist,
        "at": pages.at,
        "beside": pages.side_page(),
        "marked_beside": pages.marked,
        "progress": pages.progress,
        "tabs": tabs_of(stored, [tickets.queries.workflow(each.id) for each in of_other_kind]),
        "stored": stored,
        "work": work,
        "left_behind": work.left_behind,
        "steps": steps,
        "gap_values": values_of(safe_ticket.labels),
        "set_on_page": {
            name
            for step in stored.workflow.steps
            for command in step.commands
            for name in assigned_variables(command)
        },
        "gap_unfit": unfit_values(safe_ticket.labels),
        "gap_offers": values_in(f"{safe_ticket.title}\n{safe_ticket.description}"),
        "drawing": None if checklist else draw_workflow(stored.workflow, work),
        "reading": describe_reading(stored.workflow),
        "is_best": stored.id == ticket.workflow_id,
        "findings": describe_findings(stored),
        "changes": adoption.versions.changes(stored.id) if stored.base_id else None,
    }


def page_chosen_by(ticket: TicketDetail, stored: StoredWorkflow | None) -> str:
    """Return who chose the page that a workflow follows; empty if nobody did."""
    question = ticket.page_question
    origin = stored.workflow.provenance if stored else None
    if question is None or origin is None or not question.answer:
        return ""
    documents = dict(zip(question.choices, question.decisions, strict=False))
    return question.answered_by if documents.get(question.answer) in origin.document_ids else ""


@dataclass(frozen=True)
class Tab:
    """One tab."""

    name: str
    id: str
    """The candidate that it shows."""
    is_shown: bool


def tabs_of(stored: StoredWorkflow, others: Sequence[StoredWorkflow]) -> tuple[Tab, ...]:
    """Return the tabs of the shown workflow; none if its page has no other view.

    `others` are the ticket's candidates of the other kind, the best first.
    """
    documents = _documents(stored)
    other = next(
        (
            each
            for each in others
            if documents & _documents(each) and (each.workflow.is_checklist or _is_reading(each))
        ),
        None,
    )
    shown = (stored, other)
    page = next((each for each in shown if each and each.workflow.is_checklist), None)
    reading = next((each for each in shown if each and _is_reading(each)), None)
    if page is None or reading is None:
        return ()
    return tuple(
        Tab(name, each.id, is_shown=each is stored)
        for name, each in (("Page", page), ("Workflow", reading))
    )


def _documents(stored: StoredWorkflow) -> set[str]:
    origin = stored.workflow.provenance
    return set(origin.document_ids) if origin else set()


def _is_reading(stored: StoredWorkflow) -> bool:
    origin = stored.workflow.provenance
    return origin is not None and not stored.workflow.is_checklist and bool(origin.reader)
