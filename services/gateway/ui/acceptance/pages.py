"""The page of the acceptance rate: by week, writer and document, with a drawn bar for each."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.gateway.adoption.acceptance import MOST_WEEKS
from services.gateway.adoption.endpoints import Service
from services.gateway.ui.templates import render

router = APIRouter(include_in_schema=False)


@router.get("/acceptance")
def acceptance_page(
    service: Service, weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12
) -> HTMLResponse:
    """How workflows were taken, by week, writer and document."""
    return render("acceptance/page.html", report=service.counting.report(weeks), weeks=weeks)
