"""HTTP routes of readings."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, File, Query, UploadFile
from fastapi.responses import StreamingResponse

from services.contracts.readings import (
    AnswerRequest,
    ApprovalRequest,
    BlockEditRequest,
    BoxCorrection,
    EditPreview,
    EditRequest,
    ImportReport,
    KeptCorrection,
    PageReview,
    ReadingDetail,
    ReadingQuery,
    Readings,
    ReadingSummary,
    ReviewRequest,
    WaitingPage,
    WaitingQuery,
)
from services.kit.access.caller import Caller
from services.kit.access.needs import Need, RequestCaller, needs, require
from services.kit.access.scopes import Scope
from services.kit.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    PayloadTooLargeError,
)
from services.kit.http.openapi import refusals
from services.runbook.checking.check import parse_reading
from services.runbook.ports import Event

LINES = "application/x-ndjson"

Query_ = Annotated[ReadingQuery, Query()]
_CHANGES = refusals(NotFoundError, ConflictError, InvalidInputError)


def _approving(caller: RequestCaller, *, approve: bool = False) -> bool:
    """Check whether the caller approves all that it sends, which it must be allowed to."""
    if approve:
        require(caller, Scope.APPROVE)
    return approve


Approving = Annotated[bool, Depends(_approving)]


def create_readings_router(readings: Callable[[Caller], Readings]) -> APIRouter:
    """Build the routes as a function of the contract for a caller."""
    router = APIRouter(prefix="/v1/readings", tags=["readings"])
    Service = Annotated[Readings, Depends(_of_caller(readings))]  # noqa: N806 - a type

    @router.get("")
    @needs(Need.READ)
    def list_readings(service: Service, query: Query_) -> list[ReadingSummary]:
        """List pages with what was read of them; continue with `after` the last text hash."""
        return service.find(query)

    @router.get("/export", response_class=StreamingResponse)
    @needs(Need.READ)
    def export_readings(service: Service, query: Query_) -> StreamingResponse:
        """Return all matching readings as JSON lines, which another platform can import."""
        lines = (f"{row}\n" for row in service.export(query))
        return StreamingResponse(lines, media_type=LINES)

    @router.post("/import", responses=refusals(PayloadTooLargeError))
    @needs(Need.INGEST)
    def import_readings(
        service: Service, file: Annotated[UploadFile, File()], approve: Approving
    ) -> ImportReport:
        """Import JSON lines of an export, as read, or as approved by the caller.

        Rows of pages that are not here, and rows that cannot be used, are refused and listed.
        """
        return service.import_lines(file.file, approve=approve)

    @router.post("/waiting")
    @needs(Need.READ)
    def list_waiting(service: Service, query: WaitingQuery) -> WaitingPage:
        """List pages by what a check of them brings, from the tickets that used each document.

        `GET /v1/coverage/uses` of the gateway counts these. With an owner, the reviews that it was
        asked for come first.
        """
        return service.waiting(query)

    @router.post("/reviews", responses=_CHANGES)
    @needs(Need.APPROVE)
    def request_review(service: Service, request: ReviewRequest) -> list[PageReview]:
        """Ask the owner of a page to review it by a day; without a day take that back."""
        return service.request_review(request)

    @router.get("/reviews")
    @needs(Need.READ)
    def list_reviews(
        service: Service, owner: Annotated[str, Query(max_length=200)] = ""
    ) -> list[PageReview]:
        """List the reviews that owners were asked for and have not done, the first due first."""
        return service.reviews(owner=owner)

    @router.get("/summary", responses=refusals(NotFoundError, ConflictError))
    @needs(Need.READ)
    def get_summary(
        service: Service, page: Annotated[str, Query(max_length=1024)]
    ) -> ReadingSummary:
        """Return a page's reading in numbers; `page` is its text hash or its document.

        The beginning of a hash or the end of a document's id will do, unless another has it too.
        """
        return service.summary(page)

    _add_block_changes(router, readings)

    @router.get("/{text_hash}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_reading(service: Service, text_hash: str) -> ReadingDetail:
        """Return the reading served of a page beside its lines, with each procedure's state."""
        return service.get(text_hash)

    _add_changes(router, readings)
    return router


def _add_changes(router: APIRouter, readings: Callable[[Caller], Readings]) -> None:
    Service = Annotated[Readings, Depends(_of_caller(readings))]  # noqa: N806 - a type

    @router.put("/{text_hash}", responses=_CHANGES)
    @needs(Need.APPROVE)
    def replace_reading(
        service: Service,
        text_hash: str,
        reading: Annotated[dict[str, Any], Body()],
        revision: str = "",
    ) -> ReadingDetail:
        """Replace the served reading by the caller's, in the notation of exports.

        Approvals of procedures that it leaves as they are stay valid.
        """
        return service.replace(text_hash, parse_reading(reading), revision=revision)

    @router.post("/{text_hash}/beginnings", responses=_CHANGES)
    @needs(Need.APPROVE)
    def begin_reading(service: Service, text_hash: str) -> ReadingDetail:
        """Begin the reading of a page that nobody has read from its boxes, one step each.

        It keeps the mark `begun_from_boxes`: until it is approved as a workflow, no step of it
        changes anything.
        """
        return service.begin(text_hash)

    @router.post("/{text_hash}/previews", responses=_CHANGES)
    @needs(Need.READ)
    def preview_edit(service: Service, text_hash: str, edit: EditRequest) -> EditPreview:
        """Describe what operations on a procedure would change, and the outcome."""
        return service.preview(text_hash, edit)

    @router.post("/{text_hash}/edits", responses=_CHANGES)
    @needs(Need.APPROVE)
    def edit_reading(service: Service, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """Change a procedure by operations on its nodes; its approval ends, others stay."""
        return service.edit(text_hash, edit)

    @router.post("/{text_hash}/approvals", responses=_CHANGES)
    @needs(Need.APPROVE)
    def approve_procedure(
        service: Service, text_hash: str, request: ApprovalRequest
    ) -> ReadingDetail:
        """Approve a procedure as a checklist or as a workflow; the approval names the caller."""
        return service.approve(text_hash, request)

    @router.post("/{text_hash}/answers", responses=_CHANGES)
    @needs(Need.APPROVE)
    def answer_doubt(service: Service, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """Settle a doubt by one of its answers."""
        return service.answer(text_hash, request)

    @router.post("/{text_hash}/questions/{question}", responses=_CHANGES)
    @needs(Need.APPROVE)
    def answer_question(service: Service, text_hash: str, question: str) -> ReadingDetail:
        """Note that what stands on the page at a question is right; nobody is asked it again."""
        return service.answer_question(text_hash, question)

    @router.post("/{text_hash}/undo", responses=refusals(NotFoundError, ConflictError))
    @needs(Need.APPROVE)
    def undo_change(
        service: Service, text_hash: str, event: Annotated[int | None, Query(ge=0)] = None
    ) -> ReadingDetail:
        """Undo the last import, answer, replacement or approval.

        With its `id` in the history as `event`, another one is refused: somebody has changed the
        page meanwhile.
        """
        return service.undo(text_hash, event=event)

    @router.get("/{text_hash}/history", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_history(service: Service, text_hash: str) -> list[Event]:
        """List what happened to a page's readings, the latest first."""
        return service.history(text_hash)


def _add_block_changes(router: APIRouter, readings: Callable[[Caller], Readings]) -> None:
    Service = Annotated[Readings, Depends(_of_caller(readings))]  # noqa: N806 - a type

    @router.post("/boxes", responses=_CHANGES)
    @needs(Need.APPROVE)
    def correct_box(service: Service, correction: BoxCorrection) -> BoxCorrection:
        """Mark a block of a page as a step to tick off, or as none; null withdraws the mark."""
        return service.correct_box(correction)

    @router.get("/boxes", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_box_corrections(
        service: Service, document: Annotated[str, Query(max_length=1024)]
    ) -> list[KeptCorrection]:
        """List what people say of the blocks of a page, the latest first: a step, or none.

        Corrections whose block the page no longer has name no line.
        """
        return service.box_corrections(document)

    @router.post("/{text_hash}/block-previews", responses=_CHANGES)
    @needs(Need.READ)
    def preview_block_edit(
        service: Service, text_hash: str, request: BlockEditRequest
    ) -> EditPreview:
        """Describe what a change at a block of the page would change, and the outcome."""
        return service.preview_block(text_hash, request)

    @router.post("/{text_hash}/block-edits", responses=_CHANGES)
    @needs(Need.APPROVE)
    def edit_block(service: Service, text_hash: str, request: BlockEditRequest) -> ReadingDetail:
        """Change a page at one of its blocks: a box, a condition, a list, a way on, a note.

        On a page that nobody has read a box is corrected; any other change begins its reading.
        """
        return service.edit_block(text_hash, request)


def _of_caller(readings: Callable[[Caller], Readings]) -> Callable[..., Awaitable[Readings]]:
    async def of_caller(caller: RequestCaller) -> Readings:
        return readings(caller)

    return of_caller
