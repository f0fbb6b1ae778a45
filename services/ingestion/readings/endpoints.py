"""Readings over HTTP."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, File, Query, UploadFile
from fastapi.responses import StreamingResponse

from services.contracts.readings import (
    AnswerRequest,
    ApprovalRequest,
    BoxCorrection,
    EditPreview,
    EditRequest,
    ImportReport,
    KeptCorrection,
    ReadingDetail,
    ReadingQuery,
    Readings,
    ReadingSummary,
    WaitingPage,
    WaitingQuery,
)
from services.kit.access.caller import Caller
from services.kit.access.dependency import RequestCaller
from services.kit.access.needs import Need, needs, require
from services.kit.access.scopes import Scope
from services.kit.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    PayloadTooLargeError,
)
from services.kit.http.openapi import refusals
from services.procedure.checking.check import reading_given
from services.procedure.ports import Event

LINES = "application/x-ndjson"

Query_ = Annotated[ReadingQuery, Query()]
_CHANGES = refusals(NotFoundError, ConflictError, InvalidInputError)


def _approving(caller: RequestCaller, *, approve: bool = False) -> bool:
    """Whether the caller vouches for all that it sends, which it must be allowed to."""
    if approve:
        require(caller, Scope.APPROVE)
    return approve


Approving = Annotated[bool, Depends(_approving)]


def create_readings_router(readings: Callable[[Caller], Readings]) -> APIRouter:
    """The routes, as a function of the contract for a caller."""
    router = APIRouter(prefix="/v1/readings", tags=["readings"])
    Service = Annotated[Readings, Depends(_of_caller(readings))]  # noqa: N806 - a type

    @router.get("")
    @needs(Need.READ)
    def list_readings(service: Service, query: Query_) -> list[ReadingSummary]:
        """Pages with what was read of them; the next ones come with `after` the last text hash."""
        return service.find(query)

    @router.get("/export", response_class=StreamingResponse)
    @needs(Need.READ)
    def export_readings(service: Service, query: Query_) -> StreamingResponse:
        """All readings that are asked for as JSON lines, which another platform can import."""
        return StreamingResponse(_lines(service.export(query)), media_type=LINES)

    @router.post("/import", responses=refusals(PayloadTooLargeError))
    @needs(Need.INGEST)
    def import_readings(
        service: Service, file: Annotated[UploadFile, File()], approve: Approving
    ) -> ImportReport:
        """Take in JSON lines of an export, as read, or approved by the caller.

        What is not of a page that is here, or cannot be used, is refused and told with its row.
        """
        return service.import_lines(file.file, approve=approve)

    @router.post("/waiting")
    @needs(Need.READ)
    def list_waiting(service: Service, query: WaitingQuery) -> WaitingPage:
        """Pages by how urgently they wait for a person: alerts that rested on them times doubts."""
        return service.waiting(query)

    @router.post("/boxes", responses=refusals(NotFoundError))
    @needs(Need.APPROVE)
    def correct_box(service: Service, correction: BoxCorrection) -> BoxCorrection:
        """Say of a block of a page that it is a step to tick off, or none; null takes it back."""
        return service.correct_box(correction)

    @router.get("/boxes", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_box_corrections(
        service: Service, document: Annotated[str, Query(max_length=1024)]
    ) -> list[KeptCorrection]:
        """What people say of the blocks of a page, the latest first: a step, or none.

        Words whose block the page does not have any more name no line.
        """
        return service.box_corrections(document)

    @router.get("/{text_hash}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_reading(service: Service, text_hash: str) -> ReadingDetail:
        """What is served of a page beside its lines, with the state of each procedure."""
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
        """Put the caller's reading, in the notation of exports, in the place of what is served.

        Approvals of procedures that it leaves as they are hold.
        """
        return service.replace(text_hash, reading_given(reading), revision=revision)

    @router.post("/{text_hash}/beginnings", responses=_CHANGES)
    @needs(Need.APPROVE)
    def begin_reading(service: Service, text_hash: str) -> ReadingDetail:
        """Begin the reading of a page that nobody has read: its boxes, one step after the other.

        It keeps the mark `begun_from_boxes`; with it no step changes anything, approved or not.
        """
        return service.begin(text_hash)

    @router.post("/{text_hash}/previews", responses=_CHANGES)
    @needs(Need.READ)
    def preview_edit(service: Service, text_hash: str, edit: EditRequest) -> EditPreview:
        """What operations on a procedure would change, in words, and what would come of them."""
        return service.preview(text_hash, edit)

    @router.post("/{text_hash}/edits", responses=_CHANGES)
    @needs(Need.APPROVE)
    def edit_reading(service: Service, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """Change a procedure by operations on its nodes; its approval ends, others hold."""
        return service.edit(text_hash, edit)

    @router.post("/{text_hash}/approvals", responses=_CHANGES)
    @needs(Need.APPROVE)
    def approve_procedure(
        service: Service, text_hash: str, request: ApprovalRequest
    ) -> ReadingDetail:
        """Vouch for a procedure; the caller is who is named in the approval."""
        return service.approve(text_hash, request)

    @router.post("/{text_hash}/answers", responses=_CHANGES)
    @needs(Need.APPROVE)
    def answer_doubt(service: Service, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """Settle a doubt by one of its answers."""
        return service.answer(text_hash, request)

    @router.post("/{text_hash}/undo", responses=refusals(NotFoundError, ConflictError))
    @needs(Need.APPROVE)
    def undo_change(service: Service, text_hash: str) -> ReadingDetail:
        """Take back the last import, answer, replacement or approval."""
        return service.undo(text_hash)

    @router.get("/{text_hash}/history", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_history(service: Service, text_hash: str) -> list[Event]:
        """What happened to a page's readings, the latest first."""
        return service.history(text_hash)


def _of_caller(readings: Callable[[Caller], Readings]) -> Callable[..., Awaitable[Readings]]:
    async def of_caller(caller: RequestCaller) -> Readings:
        return readings(caller)

    return of_caller


def _lines(rows: Iterator[str]) -> Iterator[str]:
    return (f"{row}\n" for row in rows)
