"""A change that is said in words: what it would do, and the change itself."""

from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import ValidationError

from services.contracts.composing import MOST_WORDS, EditInWords, WordedEdit
from services.contracts.readings import EditRequest
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.pages import shown
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, FlowXpertError, InvalidInputError, UnavailableError
from services.procedure.lowering import lower
from services.workflow.drawing.svg import to_svg

_Words = Annotated[str, Form(max_length=MOST_WORDS)]
_Revision = Annotated[str, Form(max_length=200)]
_Place = Annotated[int, Form(ge=0)]


def create_worded_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False, prefix="/knowledge/readings/{text_hash}/words")

    @router.post("")
    @needs(Need.APPROVE)
    def preview_of_words(
        text_hash: str,
        instruction: _Words,
        revision: _Revision = "",
        procedure: _Place = 0,
    ) -> HTMLResponse:
        """What the sentence would change; nothing is stored."""
        if not instruction.strip():
            return _refused(known, text_hash, InvalidInputError("say what is to be different"))
        wanted = EditInWords(
            text_hash=text_hash, instruction=instruction, procedure=procedure, revision=revision
        )
        try:
            found = known.composing().edit_in_words(wanted)
        except (ConflictError, InvalidInputError, UnavailableError) as error:
            return _refused(known, text_hash, error, instruction)
        return _preview(known, text_hash, instruction, found)

    @router.post("/edits")
    @needs(Need.APPROVE)
    def edit_of_words(text_hash: str, edit: Annotated[str, Form()]) -> Response:
        """Store the operations that were looked at."""
        readings = known.readings()
        try:
            wanted = EditRequest.model_validate_json(edit)
            now = readings.edit(text_hash, wanted)
        except ValidationError:
            return _refused(known, text_hash, InvalidInputError("the change cannot be read"))
        except (ConflictError, InvalidInputError) as error:
            return _refused(known, text_hash, error)
        if now.remarks:
            return shown(known, now)
        return show("knowledge", "readings", text_hash, at=f"#p{wanted.procedure}")

    return router


def _preview(known: Known, text_hash: str, instruction: str, found: WordedEdit) -> HTMLResponse:
    detail, preview = known.readings().get(text_hash), found.preview
    name = next(iter(detail.documents), detail.text_hash)
    workflow = lower(preview.reading.procedures[preview.procedure], name)
    values: dict[str, Any] = {
        "detail": detail,
        "preview": preview,
        "instruction": instruction,
        "sent": {"edit": found.edit.model_dump_json()},
        "is_danger": False,
        "drawing": Markup(to_svg(workflow)),  # noqa: S704 - its writer escapes every text
        "tab": "Readings",
    }
    return known.page("knowledge/readings/words/preview.html", **values)


def _refused(
    known: Known, text_hash: str, error: FlowXpertError, instruction: str = ""
) -> HTMLResponse:
    told = f"{error}: “{instruction}”" if instruction else str(error)
    detail = known.readings().get(text_hash)
    return shown(known, detail, refused=told, status_code=error.status_code)
