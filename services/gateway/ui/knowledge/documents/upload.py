"""Sending documents, and watching what becomes of them."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import HTMLResponse, Response

from services.contracts.ingestion import Upload
from services.gateway.ui.forms import form, show
from services.gateway.ui.knowledge.known import Known
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError, PayloadTooLargeError

JOBS_SHOWN = 30
_API, _PAGE = "/v1/documents", "/knowledge/upload"


def create_upload_pages(known: Known) -> APIRouter:
    """The pages and the form, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/upload")
    @needs(Need.READ)
    def upload_page() -> HTMLResponse:
        """The form, and the latest jobs."""
        jobs = known.services.ingestion.jobs(limit=JOBS_SHOWN)
        may_ingest = current_caller().may(Scope.INGEST)
        return known.page(
            "knowledge/documents/upload.html", tab="Upload", jobs=jobs, may_ingest=may_ingest
        )

    @router.post("/knowledge/upload")
    @form(InvalidInputError, PayloadTooLargeError)
    @needs(Need.INGEST)
    def upload_of_page(files: Annotated[list[UploadFile], File()]) -> Response:
        """Keep what was sent and go to its job."""
        sent = [Upload(file.filename or "", file.file) for file in files if file.filename]
        job = known.services.ingestion.upload(sent)
        return show("knowledge", "jobs", job.id)

    @router.get("/knowledge/jobs/{job_id}")
    @needs(Need.READ)
    def job_page(job_id: str) -> HTMLResponse:
        """How a job stands, with each document that failed."""
        job = known.services.ingestion.job(job_id)
        return known.page("knowledge/documents/job.html", tab="Upload", job=job)

    return router


def with_page_limits(limits: Mapping[str, int]) -> dict[str, int]:
    """Largest bodies by path: the form takes what the API takes."""
    return {**limits, **({_PAGE: limits[_API]} if _API in limits else {})}
