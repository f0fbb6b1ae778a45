"""Pages of readings to check, and their forms: what a check brings first, and one by its page."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from services.contracts.ingestion import Ownership
from services.contracts.readings import (
    APPROVED_STATES,
    AnswerRequest,
    ApprovalRequest,
    BlockEditRequest,
    PageState,
    ReadingDetail,
    Readings,
    ReviewRequest,
    WaitingQuery,
)
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.runbook.checking.check import UnusableReadingError, parse_reading
from services.runbook.editing.block_edits import BLOCK_EDIT, BlockEdit
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.model import Reader
from services.runbook.ports import ApprovalKind, ReadingChangedError
from services.web.ui.forms import FormFields, form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.boxes import boxes_view
from services.web.ui.knowledge.readings.take_over import suggestions_view
from services.web.ui.knowledge.readings.views import notation

DAYS = 90
"""Days for which tickets count."""
PAGE_SIZE = 50

_Word = Annotated[str, Query(max_length=200)]


def create_reading_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
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
        """List pages, the most urgent first; a state or reader that does not exist shows all."""
        uses = backend.covering.page_uses(days=DAYS)
        query = WaitingQuery(
            uses=uses.pages,
            state=PageState(state) if state in set(PageState) else None,
            reader=Reader(reader) if reader in set(Reader) else None,
            doubts=True if doubts else None,
            owner=owner,
            text=text,
            start=start,
            limit=PAGE_SIZE,
        )
        waiting = backend.readings().waiting(query)
        leading = WaitingQuery(documents=uses.leading, limit=1)
        checked = [leading.model_copy(update={"state": each}) for each in APPROVED_STATES]
        chosen = {"state": state, "reader": reader, "doubts": doubts, "owner": owner, "text": text}
        return backend.page(
            "knowledge/readings/list.html",
            tab="Readings",
            found=waiting,
            uses=uses,
            checked=sum(backend.readings().waiting(each).total for each in checked)
            if uses.leading
            else 0,
            today=datetime.now(UTC).date(),
            may_approve=current_caller().may(Scope.APPROVE),
            chosen=chosen,
            asked=filtered_list_address("/knowledge/readings", chosen),
            start=start,
            following=start + PAGE_SIZE if start + PAGE_SIZE < waiting.total else None,
            owners=backend.services.ingestion.owners(),
            roots=[root.path for root in backend.services.ingestion.roots()],
            may_own=current_caller().may(Scope.INGEST),
            readers=[each for each in Reader if each is not Reader.RULES],
        )

    @router.get("/knowledge/readings/{text_hash}")
    @needs(Need.READ)
    def reading_page(
        text_hash: str,
        document: Annotated[str, Query(max_length=1024)] = "",
        block: Annotated[str, Query(max_length=80)] = "",
    ) -> HTMLResponse:
        """Show a page with what was read of each block, beside its procedures as drawn.

        Of documents with the same text, `document` says whose boxes are shown; `block` is the key
        of the block whose forms are open.
        """
        detail = backend.readings().get(text_hash)
        return render_reading(backend, detail, document=document, block=block)

    return router


def render_reading(
    backend: KnowledgeBackend,
    detail: ReadingDetail,
    *,
    refused: str = "",
    typed: str | None = None,
    kept: Mapping[str, str] | None = None,
    document: str = "",
    block: str = "",
    status_code: int = 200,
) -> HTMLResponse:
    """Render a reading as a page.

    Args:
        backend: The services behind the page.
        detail: The reading.
        refused: Why the form was refused; empty if it was not.
        typed: The notation that was typed into the refused form.
        kept: Fields of the refused form of a block, by name.
        document: The document whose boxes are shown, of several with the same text.
        block: Key of the block whose forms are open.
        status_code: Status of the response.
    """
    values: dict[str, Any] = {
        "detail": detail,
        "history": backend.readings().history(detail.text_hash),
        "notation": notation(detail.reading) if typed is None else typed,
        "questions": detail.questions,
        "refused": refused,
        "kept": kept or {},
        "is_edited": typed is not None,
        "may_approve": current_caller().may(Scope.APPROVE),
        "tab": "Readings",
        **boxes_view(backend, detail, document, block),
        **suggestions_view(backend, detail, document),
    }
    return backend.page("knowledge/readings/page.html", status_code=status_code, **values)


def page_changed(
    backend: KnowledgeBackend, text_hash: str, document: str, *, kept: str = ""
) -> HTMLResponse | None:
    """Return a page that leads to the new text, if the document has another one by now."""
    if not document:
        return None
    now = backend.services.ingestion.contents(document).document.text_hash
    if now == text_hash:
        return None
    values = {"document": document, "text_hash": now, "kept": [kept] if kept else []}
    return backend.page(
        "knowledge/readings/changed.html", status_code=409, tab="Readings", **values
    )


def filtered_list_address(path: str, chosen: dict[str, str]) -> str:
    """Return the address of a list with its filters, ready for one more parameter."""
    return f"{path}?{urlencode({name: value for name, value in chosen.items() if value})}"


def create_owner_form(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the form."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/owners")
    @form_route(InvalidInputError)
    @needs(Need.INGEST)
    def owner_of_page(
        root: Annotated[str, Form(max_length=4096)] = "",
        prefix: Annotated[str, Form(max_length=1024)] = "",
        team: Annotated[str, Form(max_length=200)] = "",
    ) -> Response:
        """Set the owner of a root, a folder or a document; without a team remove the entry."""
        backend.services.ingestion.set_owner(Ownership(root=root, prefix=prefix.strip(), team=team))
        return redirect_to("knowledge", "readings", at="#owners")

    return router


def create_review_form(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the form."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/reviews")
    @form_route(ConflictError, InvalidInputError, NotFoundError)
    @needs(Need.APPROVE)
    def review_of_pages(
        document: Annotated[list[str], Form(max_length=PAGE_SIZE)],
        due: Annotated[date | None, Form()] = None,
        withdraw: Annotated[str, Form(max_length=1)] = "",
    ) -> Response:
        """Ask the owners of the chosen pages for a review by a day, or take that back."""
        if due is None and not withdraw:
            raise InvalidInputError("choose the day by which the pages are to be checked")
        for id_ in document:
            request = ReviewRequest(document_id=id_[:1024], due=None if withdraw else due)
            backend.readings().request_review(request)
        return redirect_to("knowledge", "readings")

    return router


_Revision = Annotated[str, Form(max_length=64)]
_Index = Annotated[int, Form(ge=0)]


def create_reading_forms(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the forms."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/readings/{text_hash}/approvals")
    @needs(Need.APPROVE)
    def approval_of_page(
        text_hash: str,
        *,
        procedure: _Index,
        revision: _Revision,
        kind: Annotated[ApprovalKind, Form()],
        offered: Annotated[str, Form(max_length=1)] = "",
        doubts: _Index = 0,
        document: Annotated[str, Form(max_length=1024)] = "",
    ) -> Response:
        """Approve a procedure as it was seen, with its open doubts."""
        if changed := page_changed(backend, text_hash, document):
            return changed
        request = ApprovalRequest(
            procedure=procedure,
            offered=bool(offered),
            kind=kind,
            revision=revision,
            doubts=None if offered else doubts,
        )
        return _apply_change(
            backend, text_hash, lambda readings: _approve(readings, text_hash, request)
        )

    @router.post("/knowledge/readings/{text_hash}/answers")
    @needs(Need.APPROVE)
    def answer_of_page(
        text_hash: str,
        doubt: Annotated[str, Form(max_length=400)],
        answer: _Index,
        revision: _Revision,
    ) -> Response:
        """Settle a doubt by the button that was pressed."""
        request = AnswerRequest(doubt=doubt, answer=answer, revision=revision)
        return _apply_change(
            backend, text_hash, lambda readings: readings.answer(text_hash, request)
        )

    @router.post("/knowledge/readings/{text_hash}/undo")
    @needs(Need.APPROVE)
    def undo_of_page(
        text_hash: str,
        event: _Index,
        document: Annotated[str, Form(max_length=1024)] = "",
    ) -> Response:
        """Undo the last change by a person, which the page showed."""
        if changed := page_changed(backend, text_hash, document):
            return changed
        return _apply_change(
            backend, text_hash, lambda readings: readings.undo(text_hash, event=event)
        )

    @router.post("/knowledge/readings/{text_hash}")
    @needs(Need.APPROVE)
    def edit_of_page(
        text_hash: str, reading: Annotated[str, Form(max_length=2_000_000)], revision: _Revision
    ) -> Response:
        """Replace the served reading by an edited one; a refused one stays in its field."""

        def replace(readings: Readings) -> ReadingDetail:
            try:
                notation = json.loads(reading)
            except (ValueError, RecursionError) as error:
                raise UnusableReadingError(f"this is no JSON: {str(error)[:200]}") from error
            if not isinstance(notation, dict):
                raise UnusableReadingError("expected an object with a list of procedures")
            return readings.replace(text_hash, parse_reading(notation), revision=revision)

        return _apply_change(backend, text_hash, replace, typed=reading)

    return router


def _approve(readings: Readings, text_hash: str, request: ApprovalRequest) -> ReadingDetail:
    """Approve a procedure; the boxes of a page that nobody has read become its reading first."""
    if not request.offered and not readings.get(text_hash).procedures:
        begun = readings.begin(text_hash)
        request = request.model_copy(update={"revision": begun.revision})
    return readings.approve(text_hash, request)


def _apply_change(
    backend: KnowledgeBackend,
    text_hash: str,
    change: Callable[[Readings], ReadingDetail],
    *,
    typed: str | None = None,
) -> Response:
    readings = backend.readings()
    try:
        detail = change(readings)
    except (ConflictError, InvalidInputError) as error:
        now = readings.get(text_hash)
        status = error.status_code
        return render_reading(backend, now, refused=str(error), typed=typed, status_code=status)
    if detail.remarks:  # they are told once, so that they cannot wait for the next request
        return render_reading(backend, detail)
    return redirect_to("knowledge", "readings", text_hash)


_SENT_BESIDE = frozenset({"edit", "change", "revision", "document"})
_Typed = Annotated[str, Form(max_length=8_000)]


def create_block_forms(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the form."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/readings/{text_hash}/block-edits")
    @needs(Need.APPROVE)
    def edit_of_block(
        text_hash: str,
        fields: FormFields,
        text: _Typed = "",
        change: _Typed = "",
    ) -> Response:
        """Store a change at a block; a refused one is shown with what was typed.

        `change` is a whole change as JSON, as a button sends it; else `edit` names its kind, and
        the other fields are its own.
        """
        readings = backend.readings()
        document = fields.get("document", "")
        typed = fields | {"text": text, "change": change}
        if changed := page_changed(backend, text_hash, document, kept=text):
            return changed
        try:
            edit = _parse_edit(typed)
            request = BlockEditRequest(
                document=document, revision=fields.get("revision", ""), edit=edit
            )
            detail = readings.edit_block(text_hash, request)
        except (ConflictError, InvalidInputError) as error:
            return render_reading(
                backend,
                readings.get(text_hash),
                document=document,
                refused=_reason(error),
                block=typed.get("block", ""),
                kept=typed,
                status_code=error.status_code,
            )
        if detail.remarks:
            return render_reading(backend, detail, document=document, block=edit.block)
        return redirect_to("knowledge", "readings", text_hash, at=f"#at-{edit.block}")

    @router.post("/knowledge/readings/{text_hash}/questions")
    @needs(Need.APPROVE)
    def answer_of_question(
        text_hash: str, fields: FormFields, answer: Annotated[Literal["yes", "no"], Form()]
    ) -> Response:
        """Answer a question: make the edit that the answer means, or note that all is right."""
        document = fields.get("document", "")
        if changed := page_changed(backend, text_hash, document):
            return changed

        def change(readings: Readings) -> ReadingDetail:
            questions = readings.get(text_hash).questions
            question = next((each for each in questions if each.id == fields.get("id")), None)
            if question is None:
                raise ReadingChangedError("the page does not ask this any more: look at it again")
            edit = question.yes if answer == "yes" else question.no
            if edit is None:
                return readings.answer_question(text_hash, question.id)
            request = BlockEditRequest(
                document=document,
                procedure=question.procedure if readings.get(text_hash).procedures else None,
                edit=edit,
                revision=fields.get("revision", ""),
            )
            return readings.edit_block(text_hash, request)

        return _apply_change(backend, text_hash, change)

    return router


def _parse_edit(fields: dict[str, str]) -> BlockEdit:
    """Return the change that a form sends; an empty field is none.

    Raises:
        InvalidInputError: It is none.
    """
    try:
        if change := fields.get("change"):
            return BLOCK_EDIT.validate_json(change)
        own = {n: v for n, v in fields.items() if v and n not in _SENT_BESIDE}
        if other := own.pop("other", ""):
            own["answer"] = other
        return BLOCK_EDIT.validate_python(own | {"edit": fields.get("edit", "")})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"][1:]))
        raise InvalidInputError(f"{place}: {problem['msg']}".strip(": ")) from error


def _reason(error: ConflictError | InvalidInputError) -> str:
    """Return the words of a refusal, without the number of the operation that was refused."""
    text = str(error)
    is_numbered = isinstance(error, UnusableOperationError) and error.operation is not None
    return text.split("): ", 1)[-1] if is_numbered else text
