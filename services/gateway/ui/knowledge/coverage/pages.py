"""What is missing: alerts that came and that nothing known surely fits."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response

from services.contracts.coverage import FindingDismissal, Reason
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS
from services.gateway.ui.forms import form, show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope

WEEKS = 12
PAGE_SIZE = 50
_Key = Annotated[str, Form(max_length=40)]
_Weeks = Annotated[int, Form(ge=1, le=52)]


def create_coverage_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/coverage")
    @needs(Need.READ)
    def coverage_page(weeks: Annotated[int, Query(ge=1, le=52)] = WEEKS) -> HTMLResponse:
        """Families of alerts without a sure procedure, and the sure share by week."""
        found = known.coverage.since(weeks)
        return known.page("knowledge/coverage/list.html", tab="Coverage", found=found, weeks=weeks)

    @router.get("/knowledge/coverage/pages")
    @needs(Need.READ)
    def mending_page(
        weeks: Annotated[int, Query(ge=1, le=52)] = WEEKS, *, dismissed: bool = False
    ) -> HTMLResponse:
        """Pages that are stale by what was seen of their lines."""
        return known.page(
            "knowledge/coverage/mending.html",
            tab="Coverage",
            found=known.covering.pages_to_mend(weeks=weeks, dismissed=dismissed),
            dismissed=dismissed,
            may_dismiss=current_caller().may(Scope.OPERATE),
        )

    @router.post("/knowledge/coverage/dismissals")
    @form()
    @needs(Need.OPERATE)
    def dismissal_of_page(
        key: _Key, why: Annotated[Reason, Form()], weeks: _Weeks = WEEKS
    ) -> Response:
        """Say that a finding is all right."""
        known.covering.dismiss(FindingDismissal(key=key, why=why, weeks=weeks))
        return show("knowledge", "coverage", "pages", at=f"?weeks={weeks}")

    @router.post("/knowledge/coverage/dismissals/undo")
    @form()
    @needs(Need.OPERATE)
    def undo_dismissal_of_page(key: _Key, weeks: _Weeks = WEEKS) -> Response:
        """Take back that it is."""
        known.covering.restore(key)
        return show("knowledge", "coverage", "pages", at=f"?weeks={weeks}&dismissed=true")

    @router.get("/knowledge/coverage/{family}")
    @needs(Need.READ)
    def family_page(
        family: str, cursor: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = ""
    ) -> HTMLResponse:
        """The tickets of one family."""
        page = known.coverage.tickets(family, cursor=cursor or None, limit=PAGE_SIZE)
        return known.page(
            "knowledge/coverage/tickets.html", tab="Coverage", page=page, family=family
        )

    return router
