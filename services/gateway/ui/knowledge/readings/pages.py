"""Readings to check: the most urgent first, and one beside its page."""

import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from services.contracts.readings import PageState, ReadingDetail, WaitingQuery
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.boxes import boxes_view
from services.gateway.ui.knowledge.readings.views import notation, procedure_views
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.procedure.model import Reader

ALERTS_OF_S = 28 * 86_400
"""Alerts count for as long: four weeks."""
PAGE_SIZE = 50

_Word = Annotated[str, Query(max_length=200)]


def create_reading_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/readings")
    @needs(Need.READ)
    def readings_page(  # noqa: PLR0917 - FastAPI passes them by name
        state: _Word = "",
        reader: _Word = "",
        doubts: _Word = "",
        owner: _Word = "",
        text: _Word = "",
        start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    ) -> HTMLResponse:
        """Pages by how urgently they wait; a state or reader that does not exist shows all."""
        query = WaitingQuery(
            alerts=known.citations.alerts(time.time() - ALERTS_OF_S),
            state=PageState(state) if state in set(PageState) else None,
            reader=Reader(reader) if reader in set(Reader) else None,
            doubts=True if doubts else None,
            owner=owner,
            text=text,
            start=start,
            limit=PAGE_SIZE,
        )
        found = known.readings().waiting(query)
        chosen = {"state": state, "reader": reader, "doubts": doubts, "owner": owner, "text": text}
        return known.page(
            "knowledge/readings/list.html",
            tab="Readings",
            found=found,
            chosen=chosen,
            asked=asked_address("/knowledge/readings", chosen),
            start=start,
            following=start + PAGE_SIZE if start + PAGE_SIZE < found.total else None,
            owners=known.services.ingestion.owners(),
            roots=[root.path for root in known.services.ingestion.roots()],
            may_own=current_caller().may(Scope.INGEST),
            readers=[each for each in Reader if each is not Reader.RULES],
        )

    @router.get("/knowledge/readings/{text_hash}")
    @needs(Need.READ)
    def reading_page(
        text_hash: str,
        document: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """One page's reading beside its lines, or its boxes where nobody has read it.

        Of documents with one text `document` says whose boxes are shown.
        """
        return shown(known, known.readings().get(text_hash), document=document)

    return router


def shown(
    known: Known,
    detail: ReadingDetail,
    *,
    refused: str = "",
    typed: str | None = None,
    kept: Mapping[str, str] | None = None,
    document: str = "",
    status_code: int = 200,
) -> HTMLResponse:
    """A reading as a page; `refused` says why what was sent was not taken, `typed` what it was.

    `kept` has what was typed into the forms of a step that is gone, by field.
    """
    values: dict[str, Any] = {
        "detail": detail,
        "procedures": procedure_views(detail),
        "history": known.readings().history(detail.text_hash),
        "notation": notation(detail.reading) if typed is None else typed,
        "refused": refused,
        "kept": kept or {},
        "is_edited": typed is not None,
        "may_approve": current_caller().may(Scope.APPROVE),
        "tab": "Readings",
        **boxes_view(known, detail, document),
    }
    return known.page("knowledge/readings/page.html", status_code=status_code, **values)


def asked_address(path: str, chosen: dict[str, str]) -> str:
    """The address of a list as it is filtered, ready for one more parameter."""
    return f"{path}?{urlencode({name: value for name, value in chosen.items() if value})}"
