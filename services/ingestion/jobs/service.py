"""Jobs requested over HTTP, by syncs and by the command line."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy.orm import Session

from services.contracts.ingestion import (
    ForgetRequest,
    IngestedRoot,
    IngestJob,
    IngestRequest,
    Upload,
)
from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.catalogue.roots import check_removable
from services.ingestion.jobs.parts import JobParts
from services.ingestion.jobs.records import new_job
from services.ingestion.jobs.runner import JobRunner, removed_path
from services.ingestion.jobs.state import OnProgress
from services.ingestion.roots.git import repository_of
from services.ingestion.roots.open_root import is_archive, owner_of
from services.ingestion.roots.scan import UnusableRootError
from services.ingestion.roots.upload import store_files
from services.ingestion.tables import JobRow
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError

RUN_JOB = "ingestion.run_job"
FORGET_ROOT = "ingestion.forget_root"


class PathNotAllowedError(InvalidInputError):
    """The path is missing or outside the allowed roots; the refusal does not say which."""


@dataclass(frozen=True)
class JobService:
    """Service of jobs: each is stored before it is queued, or run here at once instead."""

    parts: JobParts
    runner: JobRunner

    def ingest(self, request: IngestRequest) -> IngestJob:
        """See `Ingestion.ingest`."""
        path = self.allowed_path(request.path)
        with self.parts.database.session() as session:
            job_id = self.queue_path(session, path, prune=request.prune)
        return self.parts.jobs.get(job_id)

    def upload(self, files: Sequence[Upload]) -> IngestJob:
        """See `Ingestion.upload`."""
        folder = self.parts.roots.uploads / str(uuid4())
        store_files(files, folder, self.parts.settings)
        job = new_job(
            folder, str(self.parts.roots.uploads), is_upload=True, is_queued=True, prune=False
        )
        with self.parts.database.session() as session:
            self._queue(session, job, RUN_JOB, "uploaded")
        return self.parts.jobs.get(job.id)

    def forget(self, request: ForgetRequest) -> IngestJob:
        """See `Ingestion.forget`."""
        root = self.parts.roots.removable(request.root, request.document)
        job = _removal(root, is_queued=True)
        if request.document:
            job.path = removed_path(root.path, request.document)
        with self.parts.database.session() as session:
            self._queue(session, job, FORGET_ROOT, "forgotten")
        return self.parts.jobs.get(job.id)

    def job(self, job_id: str) -> IngestJob:
        """See `Ingestion.job`."""
        return self.parts.jobs.get(job_id)

    def jobs(self, *, limit: int = 50) -> list[IngestJob]:
        """See `Ingestion.jobs`."""
        return self.parts.jobs.latest(limit=limit)

    def allowed_path(self, requested: str) -> Path:
        """Return the path that a request names, resolved, if it is allowed.

        Raises:
            PathNotAllowedError: It is outside the allowed roots, or not there.
        """
        path = Path(requested).resolve() if "\0" not in requested else None
        roots = [root.resolve() for root in self.parts.settings.allowed_roots]
        if path is None or not any(map(path.is_relative_to, roots)) or not path.exists():
            raise PathNotAllowedError(
                f"expected an existing path below one of the allowed roots, got {requested!r}: "
                "see FLOWXPERT_INGESTION_ALLOWED_ROOTS"
            )
        return path

    def queue_path(self, session: Session, path: Path, *, prune: bool = True) -> str:
        """Queue a job on a path in the caller's transaction; return its id."""
        job = self._new_job(path, prune=prune, is_queued=True)
        self._queue(session, job, RUN_JOB, "ingested")
        return job.id

    def ingest_here(
        self, path: Path, *, prune: bool = True, on_progress: OnProgress = lambda _job: None
    ) -> IngestJob:
        """Ingest now, in this thread, from any readable path: for the command line.

        Raises:
            UnusableRootError: Nothing is there, or nothing that can be ingested.
        """
        if path.exists():
            job = self._new_job(path.resolve(), prune=prune, is_queued=False)
        elif str(path) == ACCEPTED_PAGES:
            job = new_job(path, ACCEPTED_PAGES, is_upload=False, is_queued=False, prune=True)
        else:
            raise UnusableRootError(f"expected a folder, a file or a zip archive at {str(path)!r}")
        with self.parts.database.session() as session:
            _add(session, job, "ingested")
        return self.runner.run(job.id, on_progress)

    def forget_here(self, root: IngestedRoot) -> IngestJob:
        """Remove all documents of the root from the stores now, in this thread.

        A removal that was killed goes on when this is called again.

        Raises:
            InvalidInputError: They are accepted pages.
        """
        check_removable(root)
        job = _removal(root, is_queued=False)
        with self.parts.database.session() as session:
            _add(session, job, "forgotten")
        return self.runner.run_removal(job.id)

    def _new_job(self, path: Path, *, prune: bool, is_queued: bool) -> JobRow:
        if os.fsencode(path) != str(path).encode("utf-8", "replace"):
            raise UnusableRootError(f"the path {str(path)!r} is no text: rename it")
        if path.is_relative_to(self.parts.roots.uploads):
            # Ids of uploads do not start where the files are kept, so all would seem to be gone.
            raise UnusableRootError(f"{str(path)!r} keeps what was uploaded: send it again instead")
        # A single file says nothing about those beside it.
        has_all = path.is_dir() or is_archive(path) or repository_of(path) is not None
        return new_job(
            path, owner_of(path), is_upload=False, is_queued=is_queued, prune=prune and has_all
        )

    def _queue(self, session: Session, job: JobRow, task: str, done: str) -> None:
        _add(session, job, done)
        self.parts.outbox.put(session, task, {"job_id": job.id}, key=f"{task}:{job.id}")


def _removal(root: IngestedRoot, *, is_queued: bool) -> JobRow:
    return new_job(Path(root.path), root.path, is_upload=False, is_queued=is_queued, prune=True)


def _add(session: Session, job: JobRow, done: str) -> None:
    """Store a job, with an audit entry of who requested it."""
    session.add(job)
    details = {"job": job.id, "prune": job.prune}
    add_audit(session, f"documents.{done}", f"root {job.source}", after=details)
