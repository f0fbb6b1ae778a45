"""Pages of documents: roots, folders, one document with its processing, upload and removal."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from services.contracts.ingestion import (
    DocumentQuery,
    ForgetRequest,
    IngestedRoot,
    LinkQuery,
    Upload,
)
from services.contracts.proposals import ACCEPTED_PAGES
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError, NotFoundError, PayloadTooLargeError
from services.kit.http.edge import foreign_file
from services.knowledge.page.parsing import parse_page
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.pages import filtered_list_address
from services.web.ui.page_links import PageLinks, pictures_by_line, pictures_from
from services.web.ui.templates import LINES_SHOWN, first_shown

PAGE_SIZE = 100


@dataclass(frozen=True)
class Crumb:
    """A folder on the way to the one that is shown."""

    name: str
    path: str


def create_document_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/documents")
    @needs(Need.READ)
    def documents_page(
        root: Annotated[str, Query(max_length=4096)] = "",
        under: Annotated[str, Query(max_length=1024)] = "",
        text: Annotated[str, Query(max_length=200)] = "",
        after: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """List the roots, the folders and documents of one root, or the matches of a search."""
        query = DocumentQuery(root=root, under=under, text=text, after=after, limit=PAGE_SIZE + 1)
        is_list = bool(root or text or under)
        documents = backend.services.ingestion.documents(query) if is_list else []
        is_tree = bool(root) and not text and not after
        chosen = {"root": root, "under": under, "text": text}
        return backend.page(
            "knowledge/documents/list.html",
            tab="Documents",
            roots=backend.services.ingestion.roots(),
            is_list=is_list,
            folders=backend.services.ingestion.folders(root=root, under=under) if is_tree else [],
            documents=documents[:PAGE_SIZE],
            following=documents[PAGE_SIZE - 1].id if len(documents) > PAGE_SIZE else None,
            chosen=chosen,
            asked=filtered_list_address("/knowledge/documents", chosen),
            crumbs=list(breadcrumbs(under)),
            may_ingest=current_caller().may(Scope.INGEST),
            name_of_root=name_of_root,
            accepted_pages=ACCEPTED_PAGES,
        )

    @router.get("/knowledge/document/{document_id:path}")
    @needs(Need.READ)
    def document_page(
        document_id: str, start: Annotated[int, Query(alias="from", ge=1, le=10_000_000)] = 1
    ) -> HTMLResponse:
        """Show one document's text, its processing, and the workflows that cite it."""
        document_id = backend.services.ingestion.document(document_id).id
        contents = backend.services.ingestion.contents(document_id)
        first = first_shown(min(start, len(contents.lines)))
        citing = backend.citations.of_document(document_id)
        spans = (span for each in citing if each.workflow_id for span in each.lines)
        pictures = pictures_from(backend.services.ingestion)
        source = contents.document.source
        roots = backend.services.ingestion.roots()
        return backend.page(
            "knowledge/documents/page.html",
            tab="Documents",
            contents=contents,
            document=contents.document,
            first=first,
            lines=contents.lines[first - 1 : first - 1 + LINES_SHOWN],
            lines_shown=LINES_SHOWN,
            citing=citing,
            cited={number for start, end in spans for number in range(start, end + 1)},
            pictures=pictures_by_line(pictures, document_id, contents.lines),
            is_upload=any(root.path == source and root.is_upload for root in roots),
            may_ingest=current_caller().may(Scope.INGEST),
            name_of_root=name_of_root,
        )

    @router.get("/knowledge/link")
    @needs(Need.READ)
    def link_of_page(
        from_: Annotated[str, Query(alias="from", max_length=1024)],
        to: Annotated[str, Query(max_length=4096)],
    ) -> Response:
        """Redirect from a link as a document writes it to the document and heading it means."""
        ingestion = backend.services.ingestion
        fragment = to.partition("#")[2]
        document = ingestion.linked(LinkQuery(document_id=from_, links=(to,))).get(to)
        if document is None:
            raise NotFoundError(f"no document is known at {to!r}, which {from_!r} links to")
        line = 1
        if fragment:
            page = parse_page("\n".join(ingestion.contents(document).lines))
            key = PageLinks(page, "").heading(fragment)
            line = next((block.start_line for block in page.blocks if block.key == key), 1)
        place = f"?from={first_shown(line)}#L{line}" if line > 1 else ""
        return RedirectResponse(f"/knowledge/document/{quote(document)}{place}", 303)

    return router


def breadcrumbs(under: str) -> Iterator[Crumb]:
    """Return the folders from the root down to this one."""
    names = [name for name in under.split("/") if name]
    paths = accumulate(names, lambda path, name: f"{path}/{name}")
    return (Crumb(name, f"{path}/") for name, path in zip(names, paths, strict=True))


def name_of_root(root: IngestedRoot) -> str:
    """Return the name of a root for people."""
    return "Uploads" if root.is_upload else root.path


def create_picture_router(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of pictures."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/picture/{content_hash}")
    @needs(Need.READ)
    def picture_of_document(
        request: Request, content_hash: str, document: Annotated[str, Query(max_length=1024)]
    ) -> Response:
        """Return one picture of a document."""
        file = backend.services.ingestion.picture(document, content_hash)
        return foreign_file(request, file.content, file.media_type)

    return router


def create_removal_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the page and its form."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/forget")
    @needs(Need.INGEST)
    def forget_page(
        root: Annotated[str, Query(max_length=4096)],
        document: Annotated[str, Query(max_length=1024)] = "",
    ) -> HTMLResponse:
        """Show what would be lost, and the button that removes it."""
        request = ForgetRequest(root=root, document=document)
        cost = backend.services.ingestion.removal_cost(request)
        return backend.page(
            "knowledge/documents/forget.html", tab="Documents", request=request, cost=cost
        )

    @router.post("/knowledge/forget")
    @needs(Need.INGEST)
    def forget_of_page(
        root: Annotated[str, Form(max_length=4096)],
        document: Annotated[str, Form(max_length=1024)] = "",
    ) -> Response:
        """Queue the removal and show its job."""
        job = backend.services.ingestion.forget(ForgetRequest(root=root, document=document))
        return redirect_to("knowledge", "jobs", job.id)

    return router


JOBS_SHOWN = 30
_API, _PAGE = "/v1/documents", "/knowledge/upload"


def create_upload_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages and the form."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/upload")
    @needs(Need.READ)
    def upload_page() -> HTMLResponse:
        """Show the form, and the latest jobs."""
        jobs = backend.services.ingestion.jobs(limit=JOBS_SHOWN)
        may_ingest = current_caller().may(Scope.INGEST)
        return backend.page(
            "knowledge/documents/upload.html", tab="Upload", jobs=jobs, may_ingest=may_ingest
        )

    @router.post("/knowledge/upload")
    @form_route(InvalidInputError, PayloadTooLargeError)
    @needs(Need.INGEST)
    def upload_of_page(files: Annotated[list[UploadFile], File()]) -> Response:
        """Store the uploaded files and show their job."""
        sent = [Upload(file.filename or "", file.file) for file in files if file.filename]
        job = backend.services.ingestion.upload(sent)
        return redirect_to("knowledge", "jobs", job.id)

    @router.get("/knowledge/jobs/{job_id}")
    @needs(Need.READ)
    def job_page(job_id: str) -> HTMLResponse:
        """Show the progress of a job, with each document that failed."""
        job = backend.services.ingestion.job(job_id)
        return backend.page("knowledge/documents/job.html", tab="Upload", job=job)

    return router


def with_page_limits(limits: Mapping[str, int]) -> dict[str, int]:
    """Return the largest bodies by path, the form's limit being that of the API."""
    return {**limits, **({_PAGE: limits[_API]} if _API in limits else {})}
