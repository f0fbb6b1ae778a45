"""Pages that edit a reading, by the forms of a step or in plain words: preview, then change."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import ValidationError

from services.contracts.composing import MOST_WORDS, EditInWords
from services.contracts.readings import EditPreview, EditRequest, ReadingDetail
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, FlowXpertError, InvalidInputError, UnavailableError
from services.runbook.editing.outline import Outline
from services.runbook.lowering import lower
from services.runbook.model import EndKind
from services.runbook.ports import ProcedureNotFoundError
from services.runbook.program import with_ids
from services.web.ui.forms import redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.pages import render_reading
from services.web.ui.knowledge.readings.step_form import (
    StepForm,
    StepFormAction,
    build_operations,
)
from services.web.ui.knowledge.readings.step_views import build_node_view, lines_with_context
from services.workflow.drawing.svg import to_svg

_Sent = Annotated[StepForm, Form()]

_Words = Annotated[str, Form(max_length=MOST_WORDS)]

_Revision = Annotated[str, Form(max_length=200)]

_Place = Annotated[int, Form(ge=0)]

ENDS = (
    (EndKind.RESOLVED.value, "it is resolved"),
    (EndKind.ESCALATE.value, "it is escalated"),
    (EndKind.OTHER_PAGE.value, "another page goes on"),
    (EndKind.NOT_THIS_FAULT.value, "it is another fault"),
    (EndKind.STOP.value, "the page says no more"),
)


def create_step_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/readings/{text_hash}/step")
    @needs(Need.APPROVE)
    def step_page(
        text_hash: str,
        node: Annotated[str, Query(max_length=200)],
        procedure: Annotated[int, Query(ge=0)] = 0,
    ) -> HTMLResponse:
        """Show the forms of one step."""
        detail = backend.readings().get(text_hash)
        return _render_step(
            backend, detail, StepForm(procedure=procedure, node=node), is_typed=False
        )

    @router.post("/knowledge/readings/{text_hash}/step")
    @needs(Need.APPROVE)
    def step_again(text_hash: str, sent: _Sent) -> HTMLResponse:
        """Show the forms again after a preview, with all that was typed."""
        return _render_step(backend, backend.readings().get(text_hash), sent)

    @router.post("/knowledge/readings/{text_hash}/previews")
    @needs(Need.APPROVE)
    def preview_of_step(text_hash: str, sent: _Sent) -> HTMLResponse:
        """Preview a change; nothing is stored."""
        readings = backend.readings()
        detail = readings.get(text_hash)
        try:
            preview = readings.preview(text_hash, _edit_request(detail, sent))
        except (ConflictError, InvalidInputError) as error:
            return _render_refusal(backend, detail, sent, error)
        is_danger = sent.act is StepFormAction.DELETE
        values = _preview_values(detail, preview, sent.fields, is_danger=is_danger)
        return backend.page("knowledge/readings/steps/preview.html", **values)

    @router.post("/knowledge/readings/{text_hash}/edits")
    @needs(Need.APPROVE)
    def edit_of_step(text_hash: str, sent: _Sent) -> Response:
        """Store the previewed change; refuse it if somebody else changed the reading meanwhile."""
        readings = backend.readings()
        detail = readings.get(text_hash)
        try:
            now = readings.edit(text_hash, _edit_request(detail, sent))
        except (ConflictError, InvalidInputError) as error:
            return _render_refusal(backend, readings.get(text_hash), sent, error)
        if now.remarks:  # they are told once, so that they cannot wait for the next request
            return render_reading(backend, now)
        return redirect_to("knowledge", "readings", text_hash, at=f"#p{sent.procedure}")

    return router


def _preview_values(
    detail: ReadingDetail, preview: EditPreview, sent: Mapping[str, str], *, is_danger: bool
) -> dict[str, Any]:
    """Return the values of a preview's page; `sent` are the fields by which it is stored."""
    name = next(iter(detail.documents), detail.text_hash)
    workflow = lower(preview.reading.procedures[preview.procedure], name)
    return {
        "detail": detail,
        "preview": preview,
        "sent": sent,
        "is_danger": is_danger,
        "drawing": Markup(to_svg(workflow)),  # noqa: S704 - its writer escapes every text
        "tab": "Readings",
    }


def _edit_request(detail: ReadingDetail, sent: StepForm) -> EditRequest:
    return EditRequest(
        procedure=sent.procedure,
        operations=build_operations(sent, _outline(detail, sent)),
        revision=sent.revision,
    )


def _outline(detail: ReadingDetail, sent: StepForm) -> Outline:
    """Return the procedure that the form edits.

    Raises:
        ProcedureNotFoundError: The reading no longer has it.
    """
    if sent.procedure >= len(detail.reading.procedures):
        raise ProcedureNotFoundError(f"the reading has no procedure {sent.procedure}, from 0")
    return Outline(with_ids(detail.reading.procedures[sent.procedure]))


def _render_step(
    backend: KnowledgeBackend,
    detail: ReadingDetail,
    sent: StepForm,
    *,
    is_typed: bool = True,
    refused: str = "",
    status_code: int = 200,
) -> HTMLResponse:
    shown_step = build_node_view(_outline(detail, sent), sent.node, sent if is_typed else None)
    values: dict[str, Any] = {
        "detail": detail,
        "procedure": detail.reading.procedures[sent.procedure],
        "place": sent.procedure,
        "state": detail.states[sent.procedure],
        "step": shown_step,
        "told": lines_with_context(detail.lines, shown_step.lines),
        "ends": ENDS,
        "refused": refused,
        "tab": "Readings",
    }
    return backend.page("knowledge/readings/steps/step.html", status_code=status_code, **values)


def _render_refusal(
    backend: KnowledgeBackend,
    detail: ReadingDetail,
    sent: StepForm,
    error: ConflictError | InvalidInputError,
) -> HTMLResponse:
    """Render the forms again with what was typed; the whole reading if the step is gone."""
    status = error.status_code
    reason = str(error).removeprefix(f"operation 0 ({sent.act.value}): ")
    is_there = sent.procedure < len(detail.reading.procedures)
    if is_there and sent.node in _outline(detail, sent).locations:
        return _render_step(backend, detail, sent, refused=reason, status_code=status)
    kept = {name: value for name, value in sent.fields.items() if name in _TYPED_FIELDS}
    return render_reading(backend, detail, refused=reason, kept=kept, status_code=status)


_TYPED_FIELDS = frozenset({"text", "commands", "expected", "when", "lines", "name", "literal"})
"""Fields that a person types, which must not be lost with a step that is gone."""


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
        sent = {"edit": parsed_edit.edit.model_dump_json()}
        return backend.page(
            "knowledge/readings/words/preview.html",
            instruction=instruction,
            **_preview_values(detail, preview, sent, is_danger=False),
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
