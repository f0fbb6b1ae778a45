"""Pages of gaps in the knowledge base: alerts without a sure procedure, and stale pages."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response

from services.contracts.coverage import FindingDismissal, Reason
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.tickets.ticket.addresses import MAX_ID_CHARACTERS
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend

WEEKS = 12
PAGE_SIZE = 50
_Key = Annotated[str, Form(max_length=40)]
_Weeks = Annotated[int, Form(ge=1, le=52)]


def create_coverage_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/coverage")
    @needs(Need.READ)
    def coverage_page(weeks: Annotated[int, Query(ge=1, le=52)] = WEEKS) -> HTMLResponse:
        """Show families of alerts without a sure procedure, and the sure share by week."""
        coverage = backend.coverage.since(weeks)
        return backend.page(
            "knowledge/coverage/list.html", tab="Coverage", found=coverage, weeks=weeks
        )

    @router.get("/knowledge/coverage/pages")
    @needs(Need.READ)
    def mending_page(
        weeks: Annotated[int, Query(ge=1, le=52)] = WEEKS, *, dismissed: bool = False
    ) -> HTMLResponse:
        """Show pages that are stale, by the evidence on their lines."""
        return backend.page(
            "knowledge/coverage/mending.html",
            tab="Coverage",
            found=backend.covering.pages_to_mend(weeks=weeks, dismissed=dismissed),
            dismissed=dismissed,
            may_dismiss=current_caller().may(Scope.OPERATE),
        )

    @router.post("/knowledge/coverage/dismissals")
    @form_route()
    @needs(Need.OPERATE)
    def dismissal_of_page(
        key: _Key, why: Annotated[Reason, Form()], weeks: _Weeks = WEEKS
    ) -> Response:
        """Dismiss a finding as all right."""
        backend.covering.dismiss(FindingDismissal(key=key, why=why, weeks=weeks))
        return redirect_to("knowledge", "coverage", "pages", at=f"?weeks={weeks}")

    @router.post("/knowledge/coverage/dismissals/undo")
    @form_route()
    @needs(Need.OPERATE)
    def undo_dismissal_of_page(key: _Key, weeks: _Weeks = WEEKS) -> Response:
        """Take back the dismissal of a finding."""
        backend.covering.restore(key)
        return redirect_to("knowledge", "coverage", "pages", at=f"?weeks={weeks}&dismissed=true")

    @router.get("/knowledge/coverage/{family}")
    @needs(Need.READ)
    def family_page(
        family: str, cursor: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = ""
    ) -> HTMLResponse:
        """Show the tickets of one family."""
        page = backend.coverage.tickets(family, cursor=cursor or None, limit=PAGE_SIZE)
        return backend.page(
            "knowledge/coverage/tickets.html", tab="Coverage", page=page, family=family
        )

    return router
