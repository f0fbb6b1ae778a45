"""Incidents: what the documents know of each, and what stands around it."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.retrieval import NodeQuery
from services.gateway.ui.knowledge.graph.drawing import drawn
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.pages import asked_address
from services.kit.access.needs import Need, needs
from services.knowledge.model import Attribute

PAGE_SIZE = 50
TITLES = {
    Attribute.FAILURE_DESCRIPTION: "What fails",
    Attribute.MITIGATION_STEPS: "Mitigation steps",
    Attribute.TYPICAL_CASES: "Typical cases",
    Attribute.ADDITIONAL_NOTES: "Notes",
}


def create_incident_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/incidents")
    @needs(Need.READ)
    def incidents_page(
        text: Annotated[str, Query(max_length=200)] = "",
        start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    ) -> HTMLResponse:
        """Incident nodes by their names."""
        query = NodeQuery(text=text, start=start, limit=PAGE_SIZE + 1)
        found = known.services.retrieval.nodes(query)
        return known.page(
            "knowledge/graph/list.html",
            tab="Known incidents",
            nodes=found[:PAGE_SIZE],
            text=text,
            start=start,
            asked=asked_address("/knowledge/incidents", {"text": text}),
            following=start + PAGE_SIZE if len(found) > PAGE_SIZE else None,
        )

    @router.get("/knowledge/incidents/{node_id:path}")
    @needs(Need.READ)
    def incident_page(node_id: str, hops: Annotated[int, Query(ge=1, le=2)] = 1) -> HTMLResponse:
        """One incident with its passages, and a drawing of what is around it."""
        found = known.services.retrieval.surroundings(node_id, hops=hops)
        return known.page(
            "knowledge/graph/page.html",
            tab="Known incidents",
            found=found,
            node=found.node,
            fields=[(TITLES[each], found.node.passages(each)) for each in Attribute],
            drawing=drawn(found),
            hops=hops,
        )

    return router
