"""HTTP routes for the quality of pages: what is missing in the knowledge, and what rests on it."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query

from services.contracts.completeness import Completeness, CompletenessChecks
from services.contracts.coverage import (
    CoverageReports,
    FindingDismissal,
    PageFinding,
    PagesToMend,
    PageUses,
    RulesQuestion,
    RulesReport,
    UnreachedPage,
)
from services.contracts.gateway import Citing, Coverage
from services.contracts.readings import Readings
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.http.openapi import refusals
from services.tickets.page_quality.completeness import NothingShownError
from services.tickets.page_quality.queries import CoverageQueries
from services.tickets.path_ids import TicketId
from services.tickets.ticket.citations import Citations
from services.tickets.ticket.queries import TicketNotFoundError

Weeks = Annotated[int, Query(ge=1, le=52, description="How many weeks, this one included.")]

Days = Annotated[int, Query(ge=1, le=365, description="How many days back.")]

Dismissed = Annotated[bool, Query(description="Also what somebody said is all right.")]


def create_coverage_router(
    coverages: CoverageQueries, citations: Citations, covering: CoverageReports
) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/v1")

    @router.get("/coverage")
    @needs(Need.READ)
    def get_coverage(weeks: Weeks = 12) -> Coverage:
        """List families of alerts that no procedure surely fits, and the sure share by week."""
        return coverages.since(weeks)

    @router.get("/coverage/pages", responses=refusals(UnavailableError))
    @needs(Need.READ)
    def get_pages_to_mend(weeks: Weeks = 12, *, dismissed: Dismissed = False) -> PagesToMend:
        """List pages that are stale by what was seen of their lines.

        Commands that failed in runs, steps that people refused, links that lead nowhere, and names
        that other pages had and have no more.
        """
        return covering.pages_to_mend(weeks=weeks, dismissed=dismissed)

    @router.get("/coverage/uses")
    @needs(Need.READ)
    def get_page_uses(days: Days = 90) -> PageUses:
        """Count the tickets that each page answered or came near to, and the pages that lead.

        `POST /v1/readings/waiting` takes the counts, and orders the pages to check by them.
        """
        return covering.page_uses(days=days)

    @router.post("/coverage/dismissals", responses=refusals(NotFoundError, UnavailableError))
    @needs(Need.OPERATE)
    def dismiss_finding(dismissal: FindingDismissal) -> PageFinding:
        """Say why a finding is all right: it is told no more while the page has these words."""
        return covering.dismiss(dismissal)

    @router.delete("/coverage/dismissals/{key}", status_code=204)
    @needs(Need.OPERATE)
    def restore_finding(key: Annotated[str, Path(max_length=40)]) -> None:
        """Take back that a finding is all right."""
        covering.restore(key)

    @router.post("/coverage/rules", responses=refusals(UnavailableError))
    @needs(Need.READ)
    def ask_about_rules(question: RulesQuestion) -> RulesReport:
        """Tell which alerts of rule files have a page: by link, or as a ticket would get it."""
        return covering.of_rules(question)

    @router.get("/coverage/unreached", responses=refusals(UnavailableError))
    @needs(Need.READ)
    def list_unreached(weeks: Weeks = 12) -> list[UnreachedPage]:
        """List pages with a procedure that no ticket of these weeks rests on."""
        return covering.unreached(weeks=weeks)

    @router.get("/citations/{document_id:path}")
    @needs(Need.READ)
    def list_citing(document_id: Annotated[str, Path(max_length=1024)]) -> list[Citing]:
        """List the newest tickets that rest on lines of a document, or that it came near."""
        return citations.of_document(document_id)

    return router


TextHash = Annotated[str, Path(max_length=64)]


def create_completeness_router(
    completing: CompletenessChecks, readings: Callable[[], Readings]
) -> APIRouter:
    """Build the routes; `readings` are those that the caller may see."""
    router = APIRouter(prefix="/v1")

    @router.get(
        "/tickets/{ticket_id}/completeness",
        responses=refusals(TicketNotFoundError, NothingShownError, UnavailableError),
    )
    @needs(Need.READ)
    def get_completeness(ticket_id: TicketId) -> Completeness:
        """List what most other pages, or past tickets, of a kind check and this one does not."""
        return completing.of_ticket(ticket_id)

    @router.get(
        "/readings/{text_hash}/completeness",
        responses=refusals(NotFoundError, UnavailableError),
    )
    @needs(Need.READ)
    def get_completeness_of_page(text_hash: TextHash) -> Completeness:
        """List what most other pages of the kind check and this one does not."""
        return completing.of_page(readings().get(text_hash))

    return router
