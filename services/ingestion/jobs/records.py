"""Store of jobs in SQL."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.contracts.ingestion import FailedDocument, IngestJob, JobStatus
from services.ingestion.tables import FailureRow, JobRow
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database, execute_and_count
from services.kit.sql.short_ids import get_by_short_id

COUNTERS = (
    "total",
    "added",
    "changed",
    "unchanged",
    "deleted",
    "skipped",
    "chunks_embedded",
    "approved_deleted",
)
_SHOWN_FAILURES = 1_000
"""Most failures returned with a job; a folder of junk must not make an endless answer."""


class JobNotFoundError(NotFoundError):
    """No ingestion has this id."""


def new_job(path: Path, source: str, *, is_upload: bool, is_queued: bool, prune: bool) -> JobRow:
    """Build a queued job that is not stored yet."""
    now = datetime.now(UTC)
    return JobRow(
        id=str(uuid4()),
        path=str(path),
        source=source,
        is_upload=is_upload,
        is_queued=is_queued,
        prune=prune,
        status=JobStatus.QUEUED,
        reason="",
        created_at=now,
        updated_at=now,
        **dict.fromkeys(COUNTERS, 0),
    )


class JobRecords:
    """Reader and writer of jobs; a method that takes a session is part of its transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def row(self, job_id: str) -> JobRow:
        """Return the stored job, by its id or the beginning of it.

        Raises:
            JobNotFoundError: No such job.
            AmbiguousIdError: Several ids begin so.
        """
        with self._database.session() as session:
            row = get_by_short_id(session, JobRow, job_id)
        if row is None:
            raise JobNotFoundError(f"no ingestion has the id {job_id!r}")
        return row

    def get(self, job_id: str) -> IngestJob:
        """Return the job as it is shown, with its failures.

        Raises:
            JobNotFoundError: No such job.
        """
        return self._shown([self.row(job_id)])[0]

    def latest(self, *, limit: int = 50) -> list[IngestJob]:
        """Return the latest jobs, newest first."""
        newest = select(JobRow).order_by(JobRow.created_at.desc(), JobRow.id).limit(limit)
        with self._database.session() as session:
            rows = list(session.scalars(newest))
        return self._shown(rows)

    def begin(self, job_id: str) -> None:
        """Mark the job as running, and jobs on its path whose process died as failed.

        The caller holds the source's lock: no other job that is marked as running there does run,
        though one that is queued may.
        """
        row = self.row(job_id)
        with self._database.session() as session:
            session.execute(
                update(JobRow)
                .where(
                    JobRow.path == row.path,
                    JobRow.id != row.id,
                    JobRow.is_queued.is_(False),
                    JobRow.status == JobStatus.RUNNING,
                )
                .values(
                    status=JobStatus.FAILED,
                    reason=f"its process ended before it did; the job {row.id} went on",
                    updated_at=datetime.now(UTC),
                )
            )
            self.save(session, job_id, {"status": JobStatus.RUNNING, "reason": ""})

    def end_killed(self) -> int:
        """Mark jobs of commands as failed whose process was killed; return their number.

        The caller owns the database, and runs no job yet.
        """
        with self._database.session() as session:
            return execute_and_count(
                session,
                update(JobRow)
                .where(
                    JobRow.is_queued.is_(False),
                    JobRow.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
                )
                .values(
                    status=JobStatus.FAILED,
                    reason="its process was killed: the same command goes on with it",
                    updated_at=datetime.now(UTC),
                ),
            )

    def save(self, session: Session, job_id: str, values: Mapping[str, object]) -> None:
        """Write columns of the job."""
        stamped = {**values, "updated_at": datetime.now(UTC)}
        session.execute(update(JobRow).where(JobRow.id == job_id).values(stamped))

    def forget_failures(self, session: Session, job_id: str) -> None:
        """Delete the failures of a job that starts anew."""
        session.execute(delete(FailureRow).where(FailureRow.job_id == job_id))

    def add_failures(self, session: Session, job_id: str, reasons: dict[str, str]) -> None:
        """Note failures, reasons by document."""
        for id_, reason in reasons.items():
            session.merge(FailureRow(job_id=job_id, document_id=id_, reason=reason))

    def _shown(self, rows: list[JobRow]) -> list[IngestJob]:
        failures: dict[str, list[FailedDocument]] = {row.id: [] for row in rows}
        with self._database.session() as session:
            rows_of_failures = session.scalars(
                select(FailureRow)
                .where(FailureRow.job_id.in_(failures))
                .order_by(FailureRow.job_id, FailureRow.document_id)
                .limit(_SHOWN_FAILURES * max(len(rows), 1))
            )
            for each in rows_of_failures:
                failed = FailedDocument(document_id=each.document_id, reason=each.reason)
                failures[each.job_id].append(failed)
        return [ingest_job(row, failures[row.id][:_SHOWN_FAILURES]) for row in rows]


def ingest_job(row: JobRow, failures: list[FailedDocument]) -> IngestJob:
    """Convert the row to the job as the contract shows it."""
    return IngestJob(
        id=row.id,
        source=row.source if row.is_upload else row.path,
        status=JobStatus(row.status),
        failed=tuple(failures),
        reason=row.reason,
        seconds_left=row.seconds_left,
        created_at=row.created_at,
        updated_at=row.updated_at,
        **{name: getattr(row, name) for name in COUNTERS},
    )
