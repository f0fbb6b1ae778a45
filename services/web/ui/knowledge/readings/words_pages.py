"""Pages that edit a reading in plain words: preview, then change."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import ValidationError

from services.contracts.composing import MOST_WORDS, EditInWords
from services.contracts.readings import EditRequest
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, FlowXpertError, InvalidInputError, UnavailableError
from services.runbook.lowering import lower
from services.web.ui.forms import redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.pages import render_reading
from services.workflow.drawing.svg import to_svg

_Words = Annotated[str, Form(max_length=MOST_WORDS)]

_Revision = Annotated[str, Form(max_length=200)]

_Place = Annotated[int, Form(ge=0)]


def create_plain_edit_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False, prefix="/knowledge/readings/{text_hash}/words")

    @router.post("")
    @needs(Need.APPROVE)
    def preview_of_words(
        text_hash: str,
        instruction: _Words,
        revision: _Revision = "",
        procedure: _Place = 0,
    ) -> HTMLResponse:
        """Preview the change that a sentence asks for; nothing is stored."""
        if not instruction.strip():
            return _render_refused_words(
                backend, text_hash, InvalidInputError("say what is to be different")
            )
        request = EditInWords(
            text_hash=text_hash, instruction=instruction, procedure=procedure, revision=revision
        )
        try:
            parsed_edit = backend.composing().edit_in_words(request)
        except (ConflictError, InvalidInputError, UnavailableError) as error:
            return _render_refused_words(backend, text_hash, error, instruction)
        detail, preview = backend.readings().get(text_hash), parsed_edit.preview
        name = next(iter(detail.documents), detail.text_hash)
        workflow = lower(preview.reading.procedures[preview.procedure], name)
        return backend.page(
            "knowledge/readings/words/preview.html",
            detail=detail,
            preview=preview,
            sent={"edit": parsed_edit.edit.model_dump_json()},
            drawing=Markup(to_svg(workflow)),  # noqa: S704 - its writer escapes every text
            instruction=instruction,
            tab="Readings",
        )

    @router.post("/edits")
    @needs(Need.APPROVE)
    def edit_of_words(text_hash: str, edit: Annotated[str, Form()]) -> Response:
        """Store the operations that were previewed."""
        readings = backend.readings()
        try:
            request = EditRequest.model_validate_json(edit)
            now = readings.edit(text_hash, request)
        except ValidationError:
            return _render_refused_words(
                backend, text_hash, InvalidInputError("the change cannot be read")
            )
        except (ConflictError, InvalidInputError) as error:
            return _render_refused_words(backend, text_hash, error)
        if now.remarks:
            return render_reading(backend, now)
        return redirect_to("knowledge", "readings", text_hash, at=f"#p{request.procedure}")

    return router


def _render_refused_words(
    backend: KnowledgeBackend, text_hash: str, error: FlowXpertError, instruction: str = ""
) -> HTMLResponse:
    reason = f"{error}: “{instruction}”" if instruction else str(error)
    detail = backend.readings().get(text_hash)
    return render_reading(backend, detail, refused=reason, status_code=error.status_code)
