"""What is missing: alerts that came and that nothing known surely fits."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.gateway.ticket.addresses import MAX_ID_CHARACTERS
from services.gateway.ui.knowledge.known import Known
from services.kit.access.needs import Need, needs

WEEKS = 12
PAGE_SIZE = 50


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
    def mending_page(weeks: Annotated[int, Query(ge=1, le=52)] = WEEKS) -> HTMLResponse:
        """Pages that are stale by what was seen of their lines."""
        found = known.covering.pages_to_mend(weeks=weeks)
        return known.page("knowledge/coverage/mending.html", tab="Coverage", found=found)

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
