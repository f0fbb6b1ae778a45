"""Ingestion: documents in, a job that can be watched out."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """Every document was handled; some may have failed, each with its reason."""
    FAILED = "failed"
    """The job as a whole could not run."""


class FailedDocument(BaseModel):
    """A document that could not be ingested, and why."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    reason: str


class IngestJob(BaseModel):
    """One ingestion and its progress, in documents."""

    model_config = ConfigDict(frozen=True)

    id: str
    source: str
    """The folder, archive, checkout or upload it reads."""
    status: JobStatus
    total: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: tuple[FailedDocument, ...] = ()
    chunks_embedded: int = 0
    reason: str = ""
    created_at: datetime
    updated_at: datetime


class IngestRequest(BaseModel):
    """What to ingest: a file, a folder, a zip archive or a Git checkout on the service's disk."""

    model_config = ConfigDict(frozen=True)

    path: str
    prune: bool = True
    """Whether documents that an earlier ingest of the same path brought and that are gone now
    disappear from the stores."""


class Ingestion(Protocol):
    """Turns documents into chunks and incident nodes."""

    def ingest(self, request: IngestRequest) -> IngestJob:
        """Store the job and queue it; returns at once.

        Raises:
            InvalidInputError: The path does not exist or is outside the allowed roots.
        """

    def job(self, job_id: str) -> IngestJob:
        """How the job stands.

        Raises:
            NotFoundError: No such job.
        """

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """The latest jobs, newest first."""
