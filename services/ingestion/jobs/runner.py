"""Runner of stored jobs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from services.contracts.ingestion import IngestJob, JobStatus
from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.catalogue.ledger import can_replace
from services.ingestion.jobs import sync_records
from services.ingestion.jobs.lock import all_sources_lock, source_lock
from services.ingestion.jobs.parts import JobParts
from services.ingestion.jobs.preparation import prepared_windows
from services.ingestion.jobs.records import COUNTERS
from services.ingestion.jobs.state import JobState, OnProgress, TimeLeft, taken_reason
from services.ingestion.jobs.stores import PreparedDocument, Window, with_vectors
from services.ingestion.metrics import CHUNKS, DOCUMENTS, JOBS, OUTDATED
from services.ingestion.roots.open_root import open_root
from services.ingestion.roots.scan import RootEntry, RootScan, UnusableRootError
from services.ingestion.tables import ChangeRow, JobRow, SyncRow
from services.kit.observability.metrics import stage_timer
from services.knowledge.ports import Vectors

OnReindexed = Callable[[int, int], None]
"""Callback with the number of documents done, and of all."""

_ROOTS_IN_A_LOG = 5
_REMOVED_AT_ONCE = 200

_log = structlog.get_logger()


@dataclass(frozen=True)
class JobRunner:
    """Runner of jobs. All its writes may be repeated: a job that was killed runs once more."""

    parts: JobParts

    def run(self, job_id: str, on_progress: OnProgress = lambda _job: None) -> IngestJob:
        """Do a stored job's work, once no other job works on the same source.

        A job that is done stays as it is; one that failed is run again. Documents come in the order
        of their ids, and `on_progress` is called after each batch of them.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        parts = self.parts
        with source_lock(parts.database, parts.jobs.row(job_id).source, parts.locks):
            state = self._begin(job_id, on_progress)
            if state is not None:
                self._ingest(state)
                self._survey()
        return parts.jobs.get(job_id)

    def run_removal(self, job_id: str) -> IngestJob:
        """Do the work of a stored removal, once no job works on any source.

        Otherwise another source could take a document over between two of its stores.

        Raises:
            JobNotFoundError: No such job.
            UnavailableError: A store did not answer; run the job again.
        """
        with all_sources_lock(self.parts.database, self.parts.locks):
            state = self._begin(job_id, lambda _job: None)
            if state is not None:
                job, entries = state.job, self.parts.ledger.entries()
                mine = [id_ for id_, each in entries.items() if each.source == job.source]
                if job.path != job.source:
                    mine = [id_ for id_ in mine if job.path == removed_path(job.source, id_)]
                self._remove(state, mine, forget_readings=True)
                self._end(state, JobStatus.DONE)
                self._survey()
        return self.parts.jobs.get(job_id)

    def reindex(self, on_progress: OnReindexed = lambda _done, _total: None) -> int:
        """Rebuild vectors and graph from the stored documents, while no job works.

        Until all is done, searches use the old ones; one that is killed leaves the vectors as they
        were, and the graph with the same nodes, unless the code that finds them was changed.
        Returns the number of documents.

        Raises:
            UnavailableError: A store did not answer; the vectors are as they were.
        """
        parts = self.parts
        batch = parts.settings.batch_texts
        with all_sources_lock(parts.database, parts.locks):
            entries = sorted(parts.ledger.entries().items())
            whole = {id_: each.fingerprint for id_, each in entries if each.is_whole}
            ids: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
            with parts.stores.vectors.rebuild() as fresh:
                filling = replace(parts.stores, vectors=fresh)
                for window in self._stored_windows(whole):
                    texts = [chunk.embedded_text for each in window for chunk in each.chunks]
                    vectors = filling.embed(texts, batch=batch)
                    stored = parts.ledger.stored_ids([each.document.id for each in window])
                    filling.write(window, vectors, stored, batch=batch)
                    versions = [each.version for each in window]
                    ids |= {each.document_id: (each.chunk_ids, each.node_ids) for each in versions}
                    on_progress(len(ids), len(whole))
                # Whoever is killed from here on leaves rows that name both the old and the new.
                parts.ledger.set_contents(ids, beside_old=True)
            parts.ledger.set_contents(ids, beside_old=False)
        return len(ids)

    def park(self, session: Session, job_id: str, reason: str) -> None:
        """Mark a job as failed for good when the queue gives it up."""
        self.parts.jobs.save(session, job_id, {"status": JobStatus.FAILED, "reason": reason})
        job = session.get(JobRow, job_id, populate_existing=True)
        if job is not None:
            self._end_sync(session, job)

    def end_killed_jobs(self) -> None:
        """End the jobs of commands that were killed, and log it; see `JobRecords.end_killed`."""
        if jobs := self.parts.jobs.end_killed():
            _log.warning(
                "ingestion.jobs_were_killed", jobs=jobs, to_do="the same command goes on with each"
            )

    def log_outdated(self) -> None:
        """Log which documents were read by older rules, and what renews them.

        An upgrade changes nothing that is stored: people decide when the time is good.
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
        """Return the number of outdated documents by root, without the roots that have none."""
        roots = self.parts.roots.all()
        by_root = {root.path: root.outdated for root in roots if root.outdated}
        OUTDATED.set(sum(by_root.values()))
        return by_root

    def _begin(self, job_id: str, on_progress: OnProgress) -> JobState | None:
        """Begin the job, unless it is done; what it may touch is locked."""
        jobs = self.parts.jobs
        before = jobs.row(job_id).status
        if before == JobStatus.DONE:
            return None
        jobs.begin(job_id)
        job = jobs.row(job_id)
        with self.parts.database.session() as session:
            is_sync = sync_records.running_sync(session, SyncRow.job_id == job_id) is not None
        return JobState(
            job,
            on_progress,
            is_sync,
            is_resumed=before == JobStatus.RUNNING,
            cut_off=dict(job.cut_off),
        )

    def _ingest(self, state: JobState) -> None:
        """Bring the stores in line with the job's root, and end the job."""
        job, accepted = state.job, self.parts.accepted_pages
        if job.source == ACCEPTED_PAGES:
            self._update_stores(state, accepted.scan())
            accepted.forget_left()
            self._end(state, JobStatus.DONE)
            return
        try:
            with open_root(
                Path(job.path), self.parts.settings, expand_archives=job.is_upload
            ) as scan:
                if self._update_stores(state, scan):
                    self._end(state, JobStatus.DONE)
        except UnusableRootError as error:
            self._end(state, JobStatus.FAILED, str(error))

    def _update_stores(self, state: JobState, scan: RootScan) -> bool:
        """Write what is new and remove what is gone; fail a sync whose scan is doubtful instead."""
        parts = self.parts
        state.ledger_entries = parts.ledger.entries()
        doubt = state.doubt(scan) if state.is_sync else ""
        if doubt:
            self._end(state, JobStatus.FAILED, doubt)
            return False
        entries = self._start(state, scan)

        def save_cut_off(cut_off: Mapping[str, int]) -> None:
            with parts.database.session() as session:
                parts.jobs.save(session, state.job.id, {"cut_off": cut_off})

        windows = prepared_windows(entries, state, parts.pipeline, parts.settings, save_cut_off)
        for window, vectors in with_vectors(windows, partial(self._embed, state)):
            self._write(state, window, vectors)
        self._renew_pictures(state, scan)
        self._remove(state, state.gone(scan), forget_readings=False)
        return True

    def _start(self, state: JobState, scan: RootScan) -> list[RootEntry]:
        """Count what needs no work; return the other entries. A resumed job goes on counting."""
        job = state.job
        job.total = len(scan.entries) + len(scan.failed)
        job.skipped = scan.skipped
        job.unchanged = 0
        with self.parts.database.session() as session:
            self.parts.jobs.forget_failures(session, job.id)
        for failed in scan.failed:
            state.fail(failed.document_id, failed.reason)
        version = self.parts.pipeline.version
        unfinished = [entry for entry in scan.entries if not state.is_done(entry, version)]
        DOCUMENTS.labels("unchanged").inc(job.unchanged)
        state.sizes = {entry.document_id: entry.size for entry in unfinished}
        state.time_left = TimeLeft(sum(state.sizes.values()))
        with self.parts.database.session() as session:
            self._save(session, state)
        state.report()
        return unfinished

    def _stored_windows(self, fingerprints: dict[str, str]) -> Iterator[Window]:
        """Yield stored documents in this order, in batches that are embedded together."""
        parts, window = self.parts, list[PreparedDocument]()
        for id_, fingerprint in fingerprints.items():
            document = parts.stores.documents.get(id_)
            if document is None:
                continue
            chunks = tuple(parts.pipeline.split(document))
            nodes = tuple(parts.pipeline.extract(document))
            window.append(PreparedDocument(document, fingerprint, chunks, nodes))
            if sum(len(one.chunks) for one in window) >= parts.settings.window_chunks:
                yield window
                window = []
        if window:
            yield window

    def _embed(self, state: JobState, window: Sequence[PreparedDocument]) -> Vectors:
        texts = [chunk.embedded_text for each in window for chunk in each.chunks]
        size = sum(state.sizes[each.document.id] for each in window)

        def advance(share: float) -> None:
            state.time_left.add(size * share)
            state.report()

        with stage_timer("ingestion", "embed"):
            batch = self.parts.settings.batch_texts
            return self.parts.stores.embed(texts, batch=batch, on_batch=advance)

    def _write(self, state: JobState, window: Sequence[PreparedDocument], vectors: Vectors) -> None:
        """Store a window; once it returns, a kill loses nothing of it."""
        parts, job = self.parts, state.job
        before = self._carry_approvals(job, window)
        made_by = {"source": job.source, "pipeline": parts.pipeline.version, "job_id": job.id}
        reservation = parts.ledger.reserve([each.version for each in window], **made_by)
        for document_id, source in reservation.taken.items():
            state.fail(document_id, taken_reason(source))
        mine = [each.document.id not in reservation.taken for each in window]
        rows = [own for each, own in zip(window, mine, strict=True) for _ in each.chunks]
        kept = [each for each, own in zip(window, mine, strict=True) if own]
        stored = {each.document.id: reservation.stored[each.document.id] for each in kept}
        parts.stores.write(kept, vectors[rows], stored, batch=parts.settings.batch_texts)
        with stage_timer("ingestion", "write"):
            for each in kept:
                parts.pictures.load(each.document.for_person(), each.pictures)
        outcomes = {id_: each.outcome for id_, each in stored.items()}
        for outcome in outcomes.values():
            setattr(job, outcome, getattr(job, outcome) + 1)
            DOCUMENTS.labels(outcome).inc()
        chunks = sum(len(each.chunks) for each in kept)
        job.chunks_embedded += chunks
        CHUNKS.inc(chunks)
        with parts.database.session() as session:
            parts.ledger.record(session, [each.version for each in kept], outcomes, **made_by)
            self._save(session, state, outcomes)
        state.report()
        state.written.update(outcomes)
        parts.maintenance.drop(before)

    def _carry_approvals(self, job: JobRow, window: Sequence[PreparedDocument]) -> list[str]:
        """Carry approvals over to the texts that the documents are about to have.

        Returns the hashes of their texts until now.
        """
        maintenance = self.parts.maintenance
        before = maintenance.texts.of_documents([each.document.id for each in window])
        for document in (each.document for each in window):
            lost = maintenance.carry_approvals(before.get(document.id, ""), document)
            if lost:
                with self.parts.database.session() as session:
                    session.merge(
                        ChangeRow(
                            job_id=job.id,
                            document_id=document.id,
                            what="approval_lost",
                            procedures=lost,
                        )
                    )
        return [hashed for hashed in before.values() if hashed]

    def _renew_pictures(self, state: JobState, scan: RootScan) -> None:
        """Load the pictures of documents whose text is unchanged again."""
        entries = state.ledger_entries
        finders = {
            entry.document_id: entry.find
            for entry in scan.entries
            if entry.document_id not in state.written and entry.document_id not in state.failures
        }
        unchanged = entries.keys() & finders.keys()
        mine = {id_ for id_ in unchanged if can_replace(entries[id_], state.job.source)}
        self.parts.pictures.renew(
            {id_: finders[id_] for id_ in mine},
            without=sorted(id_ for id_ in mine if not entries[id_].has_pictures_taken),
        )

    def _remove(self, state: JobState, gone: Sequence[str], *, forget_readings: bool) -> None:
        parts = self.parts
        for start in range(0, len(gone), _REMOVED_AT_ONCE):
            some = gone[start : start + _REMOVED_AT_ONCE]
            texts = parts.maintenance.texts.of_documents(some).values()
            if forget_readings:
                state.job.approved_deleted += parts.maintenance.forget(texts, gone)
            parts.ledger.mark_deleting(some)
            stored = parts.ledger.stored_ids(some)
            parts.stores.remove(stored, batch=parts.settings.batch_texts)
            deleted = [id_ for id_ in some if id_ not in state.failures]
            state.job.deleted += len(deleted)
            DOCUMENTS.labels("deleted").inc(len(deleted))
            with parts.database.session() as session:
                parts.ledger.forget(session, some)
                parts.pictures.store.forget(session, some)
                self._save(session, state, dict.fromkeys(deleted, "deleted"))
            parts.maintenance.drop(texts)
            state.report()

    def _save(
        self, session: Session, state: JobState, outcomes: dict[str, str] | None = None
    ) -> None:
        """Save the job's progress and the outcomes of documents; both may be saved again."""
        job = state.job
        for document_id, what in (outcomes or {}).items():
            session.merge(ChangeRow(job_id=job.id, document_id=document_id, what=what))
        self.parts.ledger.update_location(session, state.moved, source=job.source)
        self.parts.jobs.add_failures(session, job.id, state.unsaved_failures)
        job.seconds_left = state.time_left.seconds
        counted = {name: getattr(job, name) for name in COUNTERS}
        self.parts.jobs.save(session, job.id, {**counted, "seconds_left": job.seconds_left})
        state.moved.clear()
        state.unsaved_failures.clear()

    def _end(self, state: JobState, status: JobStatus, reason: str = "") -> None:
        """End the job, its sync and its outbox entry in one transaction."""
        job = state.job
        job.status, job.reason = status, reason
        with self.parts.database.session() as session:
            self._save(session, state)
            job.seconds_left = None
            values = {"status": status, "reason": reason, "seconds_left": None}
            self.parts.jobs.save(session, job.id, values)
            self._end_sync(session, job)
            self.parts.outbox.finish(session)
        JOBS.labels(status.value).inc()
        state.report()

    def _end_sync(self, session: Session, job: JobRow) -> None:
        """End the sync that became this job, if one did."""
        sync = sync_records.running_sync(session, SyncRow.job_id == job.id)
        if sync is not None:
            is_done = job.status == JobStatus.DONE
            status = sync_records.DONE if is_done else sync_records.FAILED
            outbox, notifies = self.parts.outbox, self.parts.notifies_syncs
            sync_records.end(session, outbox, sync, status, job.reason, notifies=notifies)

    def _survey(self) -> None:
        self.parts.survey.catch_up(datetime.now(UTC))
        self._count_outdated()


def removed_path(root: str, document_id: str) -> str:
    """Return the path that a removal of one document of a root has."""
    return f"{root}/{document_id}"
