"""The forms of one step, what they would change, and the change itself."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from services.contracts.readings import EditPreview, EditRequest, ReadingDetail
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.pages import shown
from services.gateway.ui.knowledge.readings.steps.form import Act, StepForm, operations_of
from services.gateway.ui.knowledge.readings.steps.views import shown_node, told_lines
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, InvalidInputError
from services.procedure.editing.apply import with_ids
from services.procedure.editing.program import Outline
from services.procedure.lowering import lower
from services.procedure.model import EndKind
from services.procedure.ports import ProcedureNotFoundError
from services.workflow.drawing.svg import to_svg

_Sent = Annotated[StepForm, Form()]

ENDS = (
    (EndKind.RESOLVED.value, "it is resolved"),
    (EndKind.ESCALATE.value, "it is escalated"),
    (EndKind.OTHER_PAGE.value, "another page goes on"),
    (EndKind.NOT_THIS_FAULT.value, "it is another fault"),
)


def create_step_pages(known: Known) -> APIRouter:
    """The pages, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/readings/{text_hash}/step")
    @needs(Need.APPROVE)
    def step_page(
        text_hash: str,
        node: Annotated[str, Query(max_length=200)],
        procedure: Annotated[int, Query(ge=0)] = 0,
    ) -> HTMLResponse:
        """The forms of one step."""
        detail = known.readings().get(text_hash)
        return _step(known, detail, StepForm(procedure=procedure, node=node), is_typed=False)

    @router.post("/knowledge/readings/{text_hash}/step")
    @needs(Need.APPROVE)
    def step_again(text_hash: str, sent: _Sent) -> HTMLResponse:
        """Back from what a change would do, with all that was typed."""
        return _step(known, known.readings().get(text_hash), sent)

    @router.post("/knowledge/readings/{text_hash}/previews")
    @needs(Need.APPROVE)
    def preview_of_step(text_hash: str, sent: _Sent) -> HTMLResponse:
        """What a change would do; nothing is stored."""
        readings = known.readings()
        detail = readings.get(text_hash)
        try:
            preview = readings.preview(text_hash, _request(detail, sent))
        except (ConflictError, InvalidInputError) as error:
            return _refused(known, detail, sent, error)
        return _preview(known, detail, sent, preview)

    @router.post("/knowledge/readings/{text_hash}/edits")
    @needs(Need.APPROVE)
    def edit_of_step(text_hash: str, sent: _Sent) -> Response:
        """Store what was looked at; what somebody else changed meanwhile is a reason to refuse."""
        readings = known.readings()
        detail = readings.get(text_hash)
        try:
            now = readings.edit(text_hash, _request(detail, sent))
        except (ConflictError, InvalidInputError) as error:
            return _refused(known, readings.get(text_hash), sent, error)
        if now.remarks:  # they are told once, so that they cannot wait for the next request
            return shown(known, now)
        return show("knowledge", "readings", text_hash, at=f"#p{sent.procedure}")

    return router


def _request(detail: ReadingDetail, sent: StepForm) -> EditRequest:
    return EditRequest(
        procedure=sent.procedure,
        operations=operations_of(sent, _outline(detail, sent)),
        revision=sent.revision,
    )


def _outline(detail: ReadingDetail, sent: StepForm) -> Outline:
    """The procedure that the form is about.

    Raises:
        ProcedureNotFoundError: There is none any more.
    """
    if sent.procedure >= len(detail.reading.procedures):
        raise ProcedureNotFoundError(f"the reading has no procedure {sent.procedure}, from 0")
    return Outline(with_ids(detail.reading.procedures[sent.procedure]))


def _step(
    known: Known,
    detail: ReadingDetail,
    sent: StepForm,
    *,
    is_typed: bool = True,
    refused: str = "",
    status_code: int = 200,
) -> HTMLResponse:
    shown_step = shown_node(_outline(detail, sent), sent.node, sent if is_typed else None)
    values: dict[str, Any] = {
        "detail": detail,
        "procedure": detail.reading.procedures[sent.procedure],
        "place": sent.procedure,
        "state": detail.states[sent.procedure],
        "step": shown_step,
        "told": told_lines(detail.lines, shown_step.lines),
        "ends": ENDS,
        "refused": refused,
        "tab": "Readings",
    }
    return known.page("knowledge/readings/steps/step.html", status_code=status_code, **values)


def _preview(
    known: Known, detail: ReadingDetail, sent: StepForm, preview: EditPreview
) -> HTMLResponse:
    name = next(iter(detail.documents), detail.text_hash)
    workflow = lower(preview.reading.procedures[preview.procedure], name)
    values: dict[str, Any] = {
        "detail": detail,
        "preview": preview,
        "sent": sent.fields,
        "is_danger": sent.act is Act.DELETE,
        "drawing": Markup(to_svg(workflow)),  # noqa: S704 - its writer escapes every text
        "tab": "Readings",
    }
    return known.page("knowledge/readings/steps/preview.html", **values)


def _refused(
    known: Known, detail: ReadingDetail, sent: StepForm, error: ConflictError | InvalidInputError
) -> HTMLResponse:
    """The forms again, with what was typed; the whole reading where the step is gone."""
    status = error.status_code
    told = str(error).removeprefix(f"operation 0 ({sent.act.value}): ")
    is_there = sent.procedure < len(detail.reading.procedures)
    if is_there and sent.node in _outline(detail, sent).found:
        return _step(known, detail, sent, refused=told, status_code=status)
    kept = {name: value for name, value in sent.fields.items() if name in _TYPED}
    return shown(known, detail, refused=told, kept=kept, status_code=status)


_TYPED = frozenset({"text", "commands", "expected", "when", "lines", "name", "literal"})
"""Fields that somebody typed, which must not be lost with a step that is gone."""
