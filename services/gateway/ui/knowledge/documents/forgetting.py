"""Taking documents out: what it costs is said first."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse

from services.contracts.ingestion import ForgetRequest
from services.gateway.ui.knowledge.known import Services
from services.gateway.ui.knowledge.readings.forms import SEE_OTHER
from services.gateway.ui.templates import render

router = APIRouter(include_in_schema=False)


@router.get("/knowledge/forget")
def forget_page(
    services: Services,
    root: Annotated[str, Query(max_length=4096)],
    document: Annotated[str, Query(max_length=1024)] = "",
) -> HTMLResponse:
    """What would be lost, and the button."""
    request = ForgetRequest(root=root, document=document)
    cost = services.ingestion.removal_cost(request)
    return render("knowledge/documents/forget.html", tab="Documents", request=request, cost=cost)


@router.post("/knowledge/forget")
def forget_of_page(
    services: Services,
    root: Annotated[str, Form(max_length=4096)],
    document: Annotated[str, Form(max_length=1024)] = "",
) -> RedirectResponse:
    """Queue the removal; its job is watched."""
    job = services.ingestion.forget(ForgetRequest(root=root, document=document))
    return RedirectResponse(f"/knowledge/jobs/{quote(job.id, safe='')}", SEE_OTHER)
