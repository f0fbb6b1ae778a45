"""Taking documents out: what it costs is said first."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response

from services.contracts.ingestion import ForgetRequest
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.needs import Need, needs


def create_forget_pages(known: Known) -> APIRouter:
    """The page and its form, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/forget")
    @needs(Need.INGEST)
    def forget_page(
        root: Annotated[str, Query(max_length=4096)],
        document: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """What would be lost, and the button."""
        request = ForgetRequest(root=root, document=document)
        cost = known.services.ingestion.removal_cost(request)
        return known.page(
            "knowledge/documents/forget.html", tab="Documents", request=request, cost=cost
        )

    @router.post("/knowledge/forget")
    @needs(Need.INGEST)
    def forget_of_page(
        root: Annotated[str, Form(max_length=4096)],
        document: Annotated[str, Form(max_length=1024)] = "",
    ) -> Response:
        """Queue the removal; its job is watched."""
        job = known.services.ingestion.forget(ForgetRequest(root=root, document=document))
        return show("knowledge", "jobs", job.id)

    return router
