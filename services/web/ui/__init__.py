"""Pages for browsers, a folder for each: its routes and its templates.

`static` holds what browsers load. The router of each page is listed here.
"""

from fastapi import APIRouter

from services.contracts.completeness import CompletenessChecks
from services.contracts.execution import Execution
from services.contracts.searching import Searches
from services.contracts.summaries import Summaries
from services.kit.access.audit import AuditLog
from services.tickets.adoption.service import AdoptionService
from services.tickets.service import TicketService
from services.tickets.triage.service import TriageService
from services.tickets.walk.workflow_refresh import WorkflowRefresh
from services.web.ui.acceptance import create_acceptance_page
from services.web.ui.completeness import create_completeness_pages
from services.web.ui.files import create_file_router
from services.web.ui.knowledge import create_knowledge_pages
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.runs import create_run_pages
from services.web.ui.searches import create_search_pages
from services.web.ui.sources import create_source_page
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
