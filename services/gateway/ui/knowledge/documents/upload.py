"""Sending documents, and watching what becomes of them."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from services.contracts.ingestion import Upload
from services.gateway.ui.knowledge.known import Services
from services.gateway.ui.knowledge.readings.forms import SEE_OTHER
from services.gateway.ui.templates import refused, render
from services.kit.access.caller import current_caller
from services.kit.access.scopes import Scope
from services.kit.errors import InvalidInputError, PayloadTooLargeError

router = APIRouter(include_in_schema=False)

JOBS_SHOWN = 30
_API, _PAGE = "/v1/documents", "/knowledge/upload"


@router.get("/knowledge/upload")
def upload_page(services: Services) -> HTMLResponse:
    """The form, and the latest jobs."""
    jobs = services.ingestion.jobs(limit=JOBS_SHOWN)
    may_ingest = current_caller().may(Scope.INGEST)
    return render("knowledge/documents/upload.html", tab="Upload", jobs=jobs, may_ingest=may_ingest)


@router.post("/knowledge/upload")
def upload_of_page(services: Services, files: Annotated[list[UploadFile], File()]) -> Response:
    """Keep what was sent and go to its job."""
    sent = [Upload(file.filename or "", file.file) for file in files if file.filename]
    try:
        job = services.ingestion.upload(sent)
    except (InvalidInputError, PayloadTooLargeError) as error:
        return refused(error)
    return RedirectResponse(f"/knowledge/jobs/{quote(job.id, safe='')}", SEE_OTHER)


@router.get("/knowledge/jobs/{job_id}")
def job_page(services: Services, job_id: str) -> HTMLResponse:
    """How a job stands, with each document that failed."""
    job = services.ingestion.job(job_id)
    return render("knowledge/documents/job.html", tab="Upload", job=job)


def with_page_limits(limits: Mapping[str, int]) -> dict[str, int]:
    """Largest bodies by path: the form takes what the API takes."""
    return {**limits, **({_PAGE: limits[_API]} if _API in limits else {})}
