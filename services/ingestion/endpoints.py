"""HTTP routes of ingestion."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, File, Query, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from services.contracts.ingestion import (
    Archived,
    Decay,
    DocumentContents,
    DocumentQuery,
    Folder,
    ForgetCases,
    ForgetRequest,
    IngestedDocument,
    IngestedRoot,
    Ingestion,
    IngestJob,
    IngestRequest,
    LinkQuery,
    Ownership,
    RemovalCost,
    Upload,
)
from services.contracts.pictures import PagePicture
from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.contracts.syncing import Synced, SyncRequest, SyncSource, SyncSources
from services.contracts.ticket import PurgedTickets
from services.kit.access.needs import Need, needs
from services.kit.errors import InvalidInputError, NotFoundError, PayloadTooLargeError
from services.kit.http.edge import foreign_file
from services.kit.http.openapi import refusals
from services.knowledge.model import Document, ResolvedCase

_POLL_S = 0.5

Limit = Annotated[int, Query(ge=1, le=1000)]
SyncLimit = Annotated[int, Query(ge=1, le=200)]


def create_router(service: Ingestion) -> APIRouter:
    """Build the routes as a function of the contract."""
    router = APIRouter(prefix="/v1", tags=["ingestion"])

    @router.post("/documents", status_code=202, responses=refusals(PayloadTooLargeError))
    @needs(Need.INGEST)
    def upload_documents(files: Annotated[list[UploadFile], File()]) -> IngestJob:
        """Send Markdown, text, HTML, PDF, DOCX, or zip archives of them; watch the job returned.

        A document's id is its file name, within an archive its path. Sending it again replaces it.
        """
        return service.upload([Upload(file.filename or "", file.file) for file in files])

    @router.post("/ingestions", status_code=202, responses=refusals(InvalidInputError))
    @needs(Need.INGEST)
    def start_ingestion(request: IngestRequest) -> IngestJob:
        """Ingest a path on the service's own disk, below one of the allowed roots."""
        return service.ingest(request)

    @router.get("/ingestions")
    @needs(Need.READ)
    def list_ingestions(limit: Limit = 50) -> list[IngestJob]:
        """List the latest jobs, newest first."""
        return service.jobs(limit=limit)

    @router.get("/ingestions/{job_id}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_ingestion(job_id: str) -> IngestJob:
        """Return a job's progress, with each failed document and its reason."""
        return service.job(job_id)

    @router.get(
        "/ingestions/{job_id}/events",
        response_class=EventSourceResponse,
        responses=refusals(NotFoundError),
    )
    @needs(Need.READ)
    async def watch_ingestion(job_id: str, request: Request) -> EventSourceResponse:
        """Stream the job as server-sent events named `job`, at each change, until it is over."""
        first = await run_in_threadpool(service.job, job_id)
        return EventSourceResponse(_events(service, first, request))

    @router.get("/roots")
    @needs(Need.READ)
    def list_roots() -> list[IngestedRoot]:
        """List the roots of the documents in the stores, with each root's number of documents."""
        return service.roots()

    @router.get("/documents")
    @needs(Need.READ)
    def list_documents(query: Annotated[DocumentQuery, Query()]) -> list[IngestedDocument]:
        """List documents in the order of their ids; continue with `after` the last id."""
        return service.documents(query)

    @router.get("/documents/{document_id:path}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_document(document_id: str) -> Document:
        """Return a document with its Markdown, which is what citations count lines in."""
        return service.document(document_id)

    _add_pictures(router, service)
    _add_removals(router, service)
    _add_catalogue(router, service)
    _add_cases(router, service)
    _add_doubts(router, service)
    return router


def _add_pictures(router: APIRouter, service: Ingestion) -> None:
    @router.get("/pictures")
    @needs(Need.READ)
    def list_pictures(document: Annotated[str, Query(max_length=1024)]) -> list[PagePicture]:
        """List the pictures of a document; one that is not available says why."""
        return service.pictures(document)

    @router.get(
        "/pictures/{content_hash}",
        response_class=Response,
        responses={200: _PICTURE, **refusals(NotFoundError)},
    )
    @needs(Need.READ)
    def get_picture(
        request: Request, content_hash: str, document: Annotated[str, Query(max_length=1024)]
    ) -> Response:
        """Return the bytes of one picture of a document: PNG, JPEG, GIF or WebP."""
        file = service.picture(document, content_hash)
        return foreign_file(request, file.content, file.media_type)


_PICTURE = {
    "description": "The picture.",
    "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
}


def _add_removals(router: APIRouter, service: Ingestion) -> None:
    @router.post("/removals", status_code=202, responses=refusals(NotFoundError, InvalidInputError))
    @needs(Need.INGEST)
    def start_removal(request: ForgetRequest) -> IngestJob:
        """Remove all documents of one root from the stores; watch its job like an ingestion.

        One uploaded document can be removed alone. Files are not touched, and roots below it stay.
        """
        return service.forget(request)

    @router.get("/removals/cost", responses=refusals(NotFoundError, InvalidInputError))
    @needs(Need.READ)
    def get_removal_cost(root: str, document: str = "") -> RemovalCost:
        """Return what a removal would take away, approved procedures included."""
        return service.removal_cost(ForgetRequest(root=root, document=document))


def _add_catalogue(router: APIRouter, service: Ingestion) -> None:
    @router.get("/folders")
    @needs(Need.READ)
    def list_folders(root: str = "", under: str = "") -> list[Folder]:
        """List the folders directly below `under`, each with its number of documents."""
        return service.folders(root=root, under=under)

    @router.get("/contents/{document_id:path}", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def get_contents(document_id: str) -> DocumentContents:
        """Return a document's lines with the chunks and incident nodes read from it."""
        return service.contents(document_id)

    @router.post("/links")
    @needs(Need.READ)
    def find_linked(query: LinkQuery) -> dict[str, str]:
        """Return the documents that links of a page lead to, by the links as the page writes them.

        Links that lead elsewhere are left out.
        """
        return service.linked(query)

    @router.get("/decay")
    @needs(Need.READ)
    def list_decay() -> list[Decay]:
        """List links that lead to no document, and names that other pages no longer have."""
        return service.decay()

    @router.get("/owners")
    @needs(Need.READ)
    def list_owners() -> list[Ownership]:
        """List the teams that own documents; the longest prefix that applies wins."""
        return service.owners()

    @router.put("/owners", responses=refusals(InvalidInputError))
    @needs(Need.INGEST)
    def put_owner(ownership: Ownership) -> list[Ownership]:
        """Set the team of a root, a folder or a document; an empty name removes the entry."""
        return service.set_owner(ownership)


def _add_cases(router: APIRouter, service: Ingestion) -> None:
    @router.post("/cases")
    @needs(Need.PLATFORM)
    def put_case(case: ResolvedCase) -> Archived:
        """Keep a resolved ticket as a typical case of its page; the same id again replaces it."""
        return service.archive(case)

    @router.post("/cases/removals")
    @needs(Need.PLATFORM)
    def remove_cases(request: ForgetCases) -> Archived:
        """Remove cases; unknown ids are ignored."""
        service.forget_cases(request)
        return Archived(kept=False)

    @router.post("/tickets/removals", status_code=204)
    @needs(Need.PLATFORM)
    def remove_tickets(purged: PurgedTickets) -> None:
        """Delete the cases and doubts of purged tickets, and pages proposed of their runs."""
        service.forget_tickets(purged)


def _add_doubts(router: APIRouter, service: Ingestion) -> None:
    @router.post("/doubts")
    @needs(Need.PLATFORM)
    def put_doubt(report: DoubtReport) -> DoubtTaken:
        """Report a fault that an engineer found in a page during a ticket: a doubt of its reading.

        It is open until a person settles it; the same again changes nothing.
        """
        return service.doubt(report)

    @router.post("/doubts/removals")
    @needs(Need.PLATFORM)
    def remove_doubts(request: DoubtWithdrawal) -> DoubtTaken:
        """Remove such doubts; unknown ones are ignored."""
        service.withdraw_doubts(request)
        return DoubtTaken(kept=False)


async def _events(
    service: Ingestion, job: IngestJob, request: Request
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(job.model_dump_json(), event="job")
    while not job.is_over and not await request.is_disconnected():
        await asyncio.sleep(_POLL_S)
        latest = await run_in_threadpool(service.job, job.id)
        if latest != job:
            yield ServerSentEvent(latest.model_dump_json(), event="job")
        job = latest


def create_sync_router(service: SyncSources) -> APIRouter:
    """Build the routes of synced sources."""
    router = APIRouter(prefix="/v1/sync-sources", tags=["syncs"])

    @router.get("")
    @needs(Need.READ)
    def list_sync_sources() -> list[SyncSource]:
        """List folders and Git repositories that are synced, each with its last sync."""
        return service.sources()

    @router.post("", status_code=201, responses=refusals(InvalidInputError))
    @needs(Need.ADMIN)
    def declare_sync_source(request: SyncRequest) -> SyncSource:
        """Sync a folder or Git repository every so many minutes; the same name replaces it."""
        return service.declare(request)

    @router.delete("/{name}", status_code=204, responses=refusals(NotFoundError))
    @needs(Need.ADMIN)
    def withdraw_sync_source(name: str) -> None:
        """Stop syncing it; its documents stay until their root is removed."""
        service.withdraw(name)

    @router.post("/{name}/syncs", status_code=202, responses=refusals(NotFoundError))
    @needs(Need.INGEST)
    def sync_now(name: str) -> SyncSource:
        """Sync it now; a sync that is under way is not started twice."""
        return service.sync(name)

    @router.get("/{name}/syncs", responses=refusals(NotFoundError))
    @needs(Need.READ)
    def list_syncs(name: str, limit: SyncLimit = 20) -> list[Synced]:
        """List what each sync changed, and which approvals were lost, the newest first."""
        return service.syncs(name, limit=limit)

    return router
