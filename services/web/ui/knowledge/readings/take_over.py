"""Edits that engineers' work on tickets suggests: their view at blocks, and the forms."""

from collections import defaultdict
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response

from services.contracts.readings import ReadingDetail
from services.contracts.suggestions import SuggestedEdit, SuggestionChoice
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend

_Document = Annotated[str, Query(max_length=1024)]
_Key = Annotated[str, Form(max_length=40)]


def suggestions_view(
    backend: KnowledgeBackend, detail: ReadingDetail, document: str
) -> dict[str, Any]:
    """Return the suggested edits by block, and the dismissed ones; none if unavailable.

    Documents of one text are worked with on tickets of their own: `document` says whose
    suggestions are shown, or it is the first one.
    """
    document_id = document if document in detail.documents else next(iter(detail.documents), "")
    try:
        edits = backend.suggested.of_document(document_id, dismissed=True) if document_id else ()
    except FlowXpertError:
        edits = ()
    by_block = defaultdict[str, list[SuggestedEdit]](list)
    for each in edits:
        if each.dismissed_at is None:
            by_block[each.block].append(each)
    return {
        "suggestions": dict(by_block),
        "dismissed_suggestions": [each for each in edits if each.dismissed_at is not None],
    }


def create_suggestion_forms(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the forms that take over or dismiss a suggested edit."""
    router = APIRouter(include_in_schema=False, prefix="/knowledge/readings/{text_hash}")

    def redirect_to_block(text_hash: str, document: str, block: str) -> Response:
        query = urlencode({"document": document})
        return redirect_to("knowledge", "readings", text_hash, at=f"?{query}#at-{block}")

    @router.post("/suggestions/taken")
    @form_route()
    @needs(Need.APPROVE)
    def take_over_of_page(
        text_hash: str,
        document: _Document,
        key: _Key,
        revision: Annotated[str, Form(max_length=200)] = "",
    ) -> Response:
        """Make a suggested edit."""
        choice = SuggestionChoice(document_id=document, key=key, revision=revision)
        taken = backend.suggested.take_over(choice)
        return redirect_to_block(text_hash, document, taken.block)

    @router.post("/suggestions/dismissed")
    @form_route()
    @needs(Need.APPROVE)
    def dismissal_of_page(text_hash: str, document: _Document, key: _Key) -> Response:
        """Dismiss a suggested edit."""
        dismissed = backend.suggested.dismiss(SuggestionChoice(document_id=document, key=key))
        return redirect_to_block(text_hash, document, dismissed.block)

    @router.post("/suggestions/restored")
    @form_route()
    @needs(Need.APPROVE)
    def restoration_of_page(
        text_hash: str,
        document: _Document,
        key: _Key,
        block: Annotated[str, Form(max_length=80)] = "",
    ) -> Response:
        """Take back that a suggested edit was dismissed."""
        backend.suggested.restore(key)
        return redirect_to_block(text_hash, document, block)

    return router
