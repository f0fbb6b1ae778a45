"""Jobs requested over HTTP, by syncs and by the command line."""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
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
from services.ingestion.settings import IngestionSettings
from services.ingestion.tables import JobRow
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError, PayloadTooLargeError

RUN_JOB = "ingestion.run_job"
FORGET_ROOT = "ingestion.forget_root"
_BLOCK = 1 << 20


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
        _store_files(files, folder, self.parts.settings)
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


def _store_files(files: Sequence[Upload], folder: Path, settings: IngestionSettings) -> None:
    """Write uploaded files into a folder of their own, which stays after their job has read them.

    Leaves nothing behind if one of them is refused.

    Raises:
        InvalidInputError: No file, a name that leads elsewhere, or the same name twice.
        PayloadTooLargeError: Too many files, or too large.
    """
    if not files:
        raise InvalidInputError("expected at least one file in the form field `files`")
    if len(files) > settings.max_upload_files:
        raise PayloadTooLargeError(
            f"{len(files)} files came, {settings.max_upload_files} are allowed: send a zip archive"
        )
    folder.mkdir(parents=True)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        room = settings.max_upload_bytes
        for file in files:
            target = folder.joinpath(*_parts(file.name))
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                room -= _copy(file.content, target, room)
            except (FileExistsError, IsADirectoryError) as error:
                raise InvalidInputError(f"the name {file.name!r} came twice") from error
            except OSError as error:
                raise InvalidInputError(
                    f"{file.name!r} cannot be kept: {error.strerror}"
                ) from error
        undo.pop_all()


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise InvalidInputError(f"expected a relative file name, got {name[:200]!r}")
    if not name.isprintable():
        raise InvalidInputError(f"a file name must be printable, got {name[:200]!r}")
    return path.parts


def _copy(content: BinaryIO, target: Path, room: int) -> int:
    written = 0
    with target.open("xb") as file:
        while block := content.read(_BLOCK):
            written += len(block)
            if written > room:
                raise PayloadTooLargeError("the upload is larger than allowed: send it in parts")
            file.write(block)
    return written
