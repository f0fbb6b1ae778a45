"""The pages: `tickets` (the list), `ticket` (one with its workflow), `sources` (a document's text).

Each page is a folder of its addresses and templates; `static` holds what browsers load. A page's
router has its line here.
"""

from fastapi import APIRouter

from services.contracts.completeness import Completing
from services.contracts.execution import Execution
from services.contracts.searching import Searching
from services.contracts.summaries import Summaries
from services.gateway.ports import Adoption, Renewal, Tickets, Triage
from services.gateway.ui.acceptance.pages import create_acceptance_page
from services.gateway.ui.completeness.pages import create_completeness_pages
from services.gateway.ui.files import create_file_router
from services.gateway.ui.knowledge import create_knowledge_pages
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.runs.pages import create_run_pages
from services.gateway.ui.searches.pages import create_search_pages
from services.gateway.ui.sources.pages import create_source_page
from services.gateway.ui.ticket.answers import create_course_forms, create_ticket_forms
from services.gateway.ui.ticket.beside import create_beside_forms
from services.gateway.ui.ticket.box_words import create_box_forms
from services.gateway.ui.ticket.holding import create_holder_forms
from services.gateway.ui.ticket.pages import create_ticket_page
from services.gateway.ui.ticket.working import create_work_forms
from services.gateway.ui.tickets.pages import create_list_page
from services.kit.access.audit import AuditLog


def create_pages(
    tickets: Tickets,
    triage: Triage,
    adoption: Adoption,
    renewal: Renewal,
    *,
    known: Known,
    audit: AuditLog,
    execution: Execution | None = None,
    searching: Searching | None = None,
    summaries: Summaries | None = None,
    completing: Completing | None = None,
) -> list[APIRouter]:
    """The routers of all pages, over what they show."""
    return [
        create_file_router(),
        create_list_page(tickets),
        create_ticket_page(
            tickets,
            triage,
            adoption,
            renewal,
            audit,
            ingestion=known.given.ingestion if known.given else None,
            searching=searching,
            completes=completing is not None,
        ),
        *([create_completeness_pages(tickets, known, completing)] if completing else []),
        create_ticket_forms(tickets, triage),
        create_holder_forms(tickets),
        create_course_forms(tickets, renewal),
        create_work_forms(tickets, adoption),
        create_beside_forms(adoption),
        create_box_forms(tickets, known.readings),
        create_acceptance_page(adoption),
        create_source_page(tickets),
        *create_knowledge_pages(known),
        *(create_run_pages(tickets, execution, summaries) if execution and summaries else ()),
        *(create_search_pages(searching) if searching else ()),
    ]
