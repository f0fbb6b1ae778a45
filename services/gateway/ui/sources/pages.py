"""The text of a document around some of its lines."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.gateway.endpoints import Service
from services.gateway.ui.templates import refused, render
from services.kit.errors import FlowXpertError

router = APIRouter(include_in_schema=False)


@router.get("/sources/{document_id:path}")
def source_page(
    service: Service, document_id: str, lines: Annotated[str, Query(max_length=40)] = "1"
) -> HTMLResponse:
    """The text of a document around some of its lines."""
    try:
        source = service.source_lines(document_id, lines, None)
    except FlowXpertError as error:
        return refused(error)
    return render("sources/source.html", source=source)
