"""The work of jobs that are stored."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import structlog
from sqlalchemy.orm import Session

from services.contracts.ingestion import IngestJob, JobStatus
from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.roots import Roots
from services.ingestion.jobs import sync_records
from services.ingestion.jobs.lock import all_sources_lock, source_lock
from services.ingestion.jobs.records import JobRecords
from services.ingestion.jobs.reindex import OnReindexed, Reindex
from services.ingestion.jobs.run import JobRun, OnProgress
from services.ingestion.jobs.stores import Stores
from services.ingestion.metrics import OUTDATED
from services.ingestion.pictures.store import PictureStore
from services.ingestion.pictures.upkeep import PictureUpkeep
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.roots.scan import Scan, UnusableRootError
from services.ingestion.roots.source import opened
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.survey.records import SurveyRecords
from services.ingestion.tables import JobRow
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.procedure.ports import ReadingStore
from services.procedure.store.sql_boxes import SqlBoxStore

_ROOTS_IN_A_LOG = 5

_log = structlog.get_logger()


class AcceptedRoot(Protocol):
    """Pages that were proposed and accepted, as a root of documents."""

    def scan(self) -> Scan:
        """Those that are accepted by now, their readings approved."""

    def forget_left(self) -> None:
        """Forget what was approved of those that the stores hold no more."""


class JobRunner:
    """Whatever it writes may be written again: a job that was killed is run once more."""

    def __init__(
        self,
        *,
        database: Database,
        ledger: Ledger,
        roots: Roots,
        stores: Stores,
        pipeline: Pipeline,
        reading_store: ReadingStore,
        outbox: Outbox,
        locks: Path,
        settings: IngestionSettings,
        tells_syncs: bool,
        accepted_pages: AcceptedRoot,
        survey: SurveyRecords,
    ) -> None:
        """`locks` keeps lock files.

        `tells_syncs`: whether somebody is to be told of syncs that failed or lost approvals.
        """
        self._database = database
        self._ledger = ledger
        self._roots = roots
        self._stores = stores
        self._pipeline = pipeline
        self._maintenance = ReadingMaintenance.of(
            reading_store, SqlBoxStore(database), ledger, stores.documents
        )
        self._picture_upkeep = PictureUpkeep(PictureStore(database), stores.documents)
        self._outbox = outbox
        self._locks = locks
        self._settings = settings
        self._tells_syncs = tells_syncs
        self._accepted_pages = accepted_pages
        self._survey = survey
        self._jobs = JobRecords(database)

    def run(self, job_id: str, on_progress: OnProgress | None = None) -> IngestJob:
        """Do a stored job's work, once no other job works on the same source.

        A job that is done stays as it is; one that failed is run again. Documents come in the order
        of their ids, and `on_progress` is told after each batch of them.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        source = self._jobs.row(job_id).source
        with source_lock(self._database, source, self._locks):
            self._run(job_id, on_progress, self._ingest)
        return self._jobs.get(job_id)

    def run_removal(self, job_id: str) -> IngestJob:
        """Do the work of a stored removal, once no job works on any source.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        with all_sources_lock(self._database, self._locks):
            self._run(job_id, None, JobRun.forget)
        return self._jobs.get(job_id)

    def reindex(self, on_progress: OnReindexed = lambda _done, _total: None) -> int:
        """Make vectors and graph anew from the stored documents, while no job works.

        Searches find what they found before, until all is done. Returns the number of documents.

        Raises:
            UnavailableError: A store did not answer; the vectors are as they were.
        """
        with all_sources_lock(self._database, self._locks):
            return Reindex(self._ledger, self._stores, self._pipeline, self._settings).run(
                on_progress
            )

    def park(self, session: Session, job_id: str, reason: str) -> None:
        """Mark a job as failed for good, when the queue gives it up."""
        self._jobs.save(session, job_id, {"status": JobStatus.FAILED, "reason": reason})
        job = session.get(JobRow, job_id, populate_existing=True)
        if job is not None:
            sync_records.end_with_job(session, self._outbox, job, tells=self._tells_syncs)

    def tell_outdated(self) -> None:
        """Say which documents were read by older rules, and what makes them anew.

        An upgrade changes nothing that is stored; it is for people to say when the time is good.
        """
        by_root = self._count_outdated()
        if by_root:
            _log.warning(
                "ingestion.documents_outdated",
                documents=sum(by_root.values()),
                roots=list(by_root)[:_ROOTS_IN_A_LOG],
                to_do="`flowxpert ingest` what was ingested; send again what was uploaded",
            )

    def _count_outdated(self) -> dict[str, int]:
        """Number of outdated documents by root, none where there are none."""
        by_root = {root.path: root.outdated for root in self._roots.all() if root.outdated}
        OUTDATED.set(sum(by_root.values()))
        return by_root

    def _run(
        self, job_id: str, on_progress: OnProgress | None, work: Callable[[JobRun], None]
    ) -> None:
        """Begin the job and work on it, unless it is done; what it may touch is locked."""
        if self._jobs.row(job_id).status == JobStatus.DONE:
            return
        self._jobs.begin(job_id)
        job = self._jobs.row(job_id)
        with self._database.session() as session:
            is_sync = sync_records.of_job(session, job_id) is not None
        run = JobRun(
            job=job,
            database=self._database,
            jobs=self._jobs,
            ledger=self._ledger,
            stores=self._stores,
            pipeline=self._pipeline,
            maintenance=self._maintenance,
            pictures=self._picture_upkeep,
            settings=self._settings,
            on_progress=on_progress or (lambda _job: None),
            finish=partial(self._finish, job),
            is_sync=is_sync,
        )
        work(run)
        self._survey.catch_up(datetime.now(UTC))
        self._count_outdated()

    def _ingest(self, run: JobRun) -> None:
        if run.job.source == ACCEPTED_PAGES:
            run.ingest(self._accepted_pages.scan(), self._accepted_pages.forget_left)
            return
        try:
            with opened(
                Path(run.job.path), self._settings, expand_archives=run.job.is_upload
            ) as scan:
                run.ingest(scan)
        except UnusableRootError as error:
            run.fail(str(error))

    def _finish(self, job: JobRow, session: Session) -> None:
        """In the transaction that ends the job, so does the sync that it came from."""
        sync_records.end_with_job(session, self._outbox, job, tells=self._tells_syncs)
        self._outbox.finish(session)
