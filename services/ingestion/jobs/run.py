"""One job from its first look at the root to its end."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog
from sqlalchemy.orm import Session

from services.contracts.ingestion import FailedDocument, IngestJob, JobStatus
from services.ingestion.catalogue.ledger import Ledger, LedgerEntry, MovedFile, may_take
from services.ingestion.converters import UnreadableDocumentError
from services.ingestion.converters.document import read_document
from services.ingestion.converters.isolation import IsolatedReaders
from services.ingestion.jobs.embedding import Window, with_vectors
from services.ingestion.jobs.records import COUNTERS, JobRecords, ingest_job
from services.ingestion.jobs.stores import Prepared, Stores
from services.ingestion.jobs.time_left import TimeLeft
from services.ingestion.metrics import CHUNKS, DOCUMENTS, JOBS, SUSPICIOUS
from services.ingestion.pictures.taking import PictureSources
from services.ingestion.pictures.upkeep import PictureUpkeep
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.roots.scan import Entry, Scan
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.tables import ChangeRow, JobRow
from services.kit.observability.metrics import stage_timer
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.ports import Vectors
from services.knowledge.screening.document import screened

OnProgress = Callable[[IngestJob], None]

_REMOVED_AT_ONCE = 200
_HELD_AT_ONCE = 50_000_000
"""Bytes of pictures that documents of one window hold themselves."""
_MANY_GONE = 10
"""A sync may delete fewer documents than this even where they are most of the source's."""

_log = structlog.get_logger()


@dataclass
class JobRun:
    """The state of one job while it runs; its source is locked, so nobody else changes it."""

    job: JobRow
    """Its counters are the live ones; they are saved with every window."""
    database: Database
    jobs: JobRecords
    ledger: Ledger
    stores: Stores
    pipeline: Pipeline
    maintenance: ReadingMaintenance
    """What becomes of the documents' readings."""
    pictures: PictureUpkeep
    settings: IngestionSettings
    on_progress: OnProgress
    finish: Callable[[Session], None]
    """Called in the transaction that ends the job."""
    is_sync: bool = False
    """Nobody looks on, so it does not delete most of what the source had."""
    known: dict[str, LedgerEntry] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    unsaved_failures: dict[str, str] = field(default_factory=dict)
    found: dict[str, MovedFile] = field(default_factory=dict)
    """Not saved yet: documents whose content is what it was, in a new file or a new place."""
    written: set[str] = field(default_factory=set)
    """Documents that this run wrote."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each file that is to be read."""
    time_left: TimeLeft = field(default_factory=lambda: TimeLeft(0))

    def __post_init__(self) -> None:
        self.maintenance = replace(self.maintenance, on_lost=self._lose_approvals)

    def ingest(self, scan: Scan, settle: Callable[[], None] = lambda: None) -> None:
        """Bring the stores in line with the root; `settle` is called once they are."""
        self.known = self.ledger.known()
        doubt = self._doubt(scan) if self.is_sync else ""
        if doubt:
            self.fail(doubt)
            return
        entries = self._start(scan)
        for window, vectors in with_vectors(self._windows(entries), self._embed):
            self._write(window, vectors)
        self._renew_pictures(scan)
        self._remove(self._gone(scan), forget_readings=False)
        settle()
        self._end(JobStatus.DONE)

    def forget(self) -> None:
        """Make the stores hold nothing of what the job's path names; nobody else may write.

        Otherwise another source could take a document over between two of its stores.
        """
        known = self.ledger.known()
        gone = [id_ for id_, each in known.items() if self._is_meant(id_, each.source)]
        self._remove(gone, forget_readings=True)
        self._end(JobStatus.DONE)

    def _is_meant(self, document_id: str, source: str) -> bool:
        """Whether a removal is of all of the document's source, or of it alone."""
        meant = {self.job.source, removed_path(self.job.source, document_id)}
        return source == self.job.source and self.job.path in meant

    def fail(self, reason: str) -> None:
        """End the job as one that cannot run at all."""
        self.job.reason = reason
        self._end(JobStatus.FAILED)

    def _start(self, scan: Scan) -> list[Entry]:
        """Count what needs no work; the entries that do. A resumed job goes on counting."""
        self.job.total = len(scan.entries) + len(scan.failed)
        self.job.skipped = scan.skipped
        self.job.unchanged = 0
        with self.database.session() as session:
            self.jobs.forget_failures(session, self.job.id)
        for failed in scan.failed:
            self._fail(failed.document_id, failed.reason)
        unfinished = [entry for entry in scan.entries if not self._is_done(entry)]
        DOCUMENTS.labels("unchanged").inc(self.job.unchanged)
        self.sizes = {entry.document_id: entry.size for entry in unfinished}
        self.time_left = TimeLeft(sum(self.sizes.values()))
        self._save()
        return unfinished

    def _is_done(self, entry: Entry) -> bool:
        known = self.known.get(entry.document_id)
        if (
            known is None
            or not known.is_whole
            or (known.source, known.fingerprint) != (self.job.source, entry.fingerprint)
            or known.pipeline != self.pipeline.version
        ):
            return False
        if known.job_id != self.job.id:
            self.job.unchanged += 1
        return True

    def _windows(self, entries: Iterable[Entry]) -> Iterator[Window]:
        """Prepared documents, as many as are embedded and written together."""
        window: Window = []
        with IsolatedReaders(
            timeout_s=self.settings.reader_timeout_s,
            memory_bytes=self.settings.reader_memory_bytes,
        ) as isolated:
            for entry in entries:
                prepared = self._prepare(entry, isolated)
                if prepared is None:
                    self.time_left.drop(entry.size)
                    continue
                window.append(prepared)
                if self._is_full(window):
                    yield window
                    window = []
        if window:
            yield window

    def _is_full(self, window: Window) -> bool:
        held = sum(len(each) for prepared in window for each in prepared.pictures.held.values())
        chunks = sum(len(each.chunks) for each in window)
        return chunks >= self.settings.window_chunks or held >= _HELD_AT_ONCE

    def _prepare(self, entry: Entry, isolated: IsolatedReaders) -> Prepared | None:
        """None when it failed, which is noted, or when its content is what it was."""
        try:
            return self._prepared(entry, isolated)
        except UnreadableDocumentError as error:
            self._fail(entry.document_id, str(error))
        except OSError as error:
            self._fail(entry.document_id, f"it cannot be read: {error.strerror or error}")
        except (
            RecursionError,
            ValueError,
            IndexError,
            KeyError,
            TypeError,
            AttributeError,
        ) as error:
            # Strange content that breaks a parser is one document's failure, not the job's.
            _log.exception("ingestion.document_failed", document_id=entry.document_id)
            self._fail(entry.document_id, f"it cannot be parsed: {type(error).__name__}")
        return None

    def _prepared(self, entry: Entry, isolated: IsolatedReaders) -> Prepared | None:
        with stage_timer("ingestion", "read"):
            data = entry.read()
            if self._is_unchanged(entry, hashlib.sha256(data).hexdigest()):
                return None
            document, held = read_document(
                entry.document_id, data, isolated, max_chars=self.settings.max_text_chars
            )
            document = _marked(document, entry.marks)
        with stage_timer("ingestion", "split"):
            chunks = tuple(self.pipeline.split(document))
        is_suspicious = _tell_suspicious(document)
        # One of which nothing is left takes the place of what it was before.
        if not chunks and not is_suspicious:
            raise UnreadableDocumentError("it holds no text")
        with stage_timer("ingestion", "extract"):
            nodes = tuple(self.pipeline.extract(document))
        sources = PictureSources(entry.find, held)
        return Prepared(document, entry.fingerprint, chunks, nodes, sources)

    def _is_unchanged(self, entry: Entry, content_hash: str) -> bool:
        """Whether the stores hold this content already, made by this pipeline.

        Raises:
            UnreadableDocumentError: They hold another source's document of this id.
        """
        known = self.known.get(entry.document_id)
        if known is None:
            return False
        is_same = (known.content_hash, known.pipeline) == (content_hash, self.pipeline.version)
        if not is_same and not may_take(known, self.job.source):
            raise UnreadableDocumentError(_taken(known.source))
        if is_same and may_take(known, self.job.source):
            self.found[entry.document_id] = MovedFile(known.source, entry.fingerprint)
        self.job.unchanged += is_same
        DOCUMENTS.labels("unchanged").inc(is_same)
        return is_same

    def _embed(self, window: Sequence[Prepared]) -> Vectors:
        texts = [chunk.embedded_text for each in window for chunk in each.chunks]
        size = sum(self.sizes[each.document.id] for each in window)

        def tell(share: float) -> None:
            self.time_left.add(size * share)
            self._report()

        with stage_timer("ingestion", "embed"):
            return self.stores.embed(texts, batch=self.settings.batch_texts, on_batch=tell)

    def _write(self, window: Sequence[Prepared], vectors: Vectors) -> None:
        """Store a window; afterwards nothing of it is lost by a kill."""
        before = self.maintenance.hand_on([each.document for each in window])
        reservation = self.ledger.reserve(
            [each.version for each in window],
            source=self.job.source,
            pipeline=self.pipeline.version,
            job_id=self.job.id,
        )
        for document_id, source in reservation.taken.items():
            self._fail(document_id, _taken(source))
        mine = [each.document.id not in reservation.taken for each in window]
        rows = [own for each, own in zip(window, mine, strict=True) for _ in each.chunks]
        kept = [each for each, own in zip(window, mine, strict=True) if own]
        held = {each.document.id: reservation.held[each.document.id] for each in kept}
        self.stores.write(kept, vectors[rows], held, batch=self.settings.batch_texts)
        with stage_timer("ingestion", "write"):
            for each in kept:
                self.pictures.take(each.document, each.pictures)
        outcomes = {id_: each.outcome for id_, each in held.items()}
        self._record(kept, outcomes)
        self.written.update(outcomes)
        self.maintenance.drop(before)

    def _record(self, window: Sequence[Prepared], outcomes: dict[str, str]) -> None:
        for outcome in outcomes.values():
            setattr(self.job, outcome, getattr(self.job, outcome) + 1)
            DOCUMENTS.labels(outcome).inc()
        chunks = sum(len(each.chunks) for each in window)
        self.job.chunks_embedded += chunks
        CHUNKS.inc(chunks)
        with self.database.session() as session:
            self.ledger.record(
                session,
                [each.version for each in window],
                outcomes,
                source=self.job.source,
                pipeline=self.pipeline.version,
                job_id=self.job.id,
            )
            self._note(session, outcomes)
            self._save_in(session)
        self._report()

    def _note(self, session: Session, outcomes: Mapping[str, str]) -> None:
        """Write down what became of documents; a resumed job may say it again."""
        for document_id, what in outcomes.items():
            session.merge(ChangeRow(job_id=self.job.id, document_id=document_id, what=what))

    def _lose_approvals(self, document_id: str, procedures: list[str]) -> None:
        lost = ChangeRow(
            job_id=self.job.id,
            document_id=document_id,
            what="approval_lost",
            procedures=procedures,
        )
        with self.database.session() as session:
            session.merge(lost)

    def _renew_pictures(self, scan: Scan) -> None:
        """Take the pictures anew of documents whose text stayed as it is."""
        finders = {
            entry.document_id: entry.find
            for entry in scan.entries
            if entry.document_id not in self.written and entry.document_id not in self.failures
        }
        unchanged = self.known.keys() & finders.keys()
        mine = {id_ for id_ in unchanged if may_take(self.known[id_], self.job.source)}
        self.pictures.renew(
            {id_: finders[id_] for id_ in mine},
            without=sorted(id_ for id_ in mine if not self.known[id_].has_pictures_taken),
        )

    def _gone(self, scan: Scan) -> list[str]:
        """Documents to remove: no longer there, or left half-written and now unreadable."""
        there = {entry.document_id for entry in scan.entries}
        there.update(failed.document_id for failed in scan.failed)
        return [
            id_
            for id_, known in self.known.items()
            if known.source == self.job.source
            and (
                (self.job.prune and id_ not in there)
                or (id_ in self.failures and not known.is_whole)
            )
        ]

    def _doubt(self, scan: Scan) -> str:
        """Why what a sync found seems to be an accident, such as a share that is not mounted."""
        had = sum(known.source == self.job.source for known in self.known.values())
        gone = len(self._gone(scan))
        if had and not scan.entries and not scan.failed:
            found = "holds no documents any more"
        elif gone >= _MANY_GONE and gone * 2 > had:
            found = f"does not hold {gone} of its {had} documents any more"
        else:
            return ""
        return (
            f"{self.job.path!r} {found}; nothing was changed: if that is meant, remove the source "
            "or ingest by hand"
        )

    def _remove(self, gone: Sequence[str], *, forget_readings: bool) -> None:
        for start in range(0, len(gone), _REMOVED_AT_ONCE):
            some = gone[start : start + _REMOVED_AT_ONCE]
            texts = self.maintenance.texts.of_documents(some).values()
            if forget_readings:
                self.job.approved_deleted += self.maintenance.forget(texts, gone)
            self.ledger.begin_removal(some)
            self.stores.remove(self.ledger.held(some), batch=self.settings.batch_texts)
            deleted = sum(id_ not in self.failures for id_ in some)
            self.job.deleted += deleted
            DOCUMENTS.labels("deleted").inc(deleted)
            with self.database.session() as session:
                self.ledger.forget(session, some)
                self.pictures.forget(session, some)
                left = [id_ for id_ in some if id_ not in self.failures]
                self._note(session, dict.fromkeys(left, "deleted"))
                self._save_in(session)
            self.maintenance.drop(texts)
            self._report()

    def _fail(self, document_id: str, reason: str) -> None:
        known = self.known.get(document_id)
        kept = "; the version of an earlier ingest stays" if known and known.is_whole else ""
        self.failures[document_id] = self.unsaved_failures[document_id] = reason + kept
        DOCUMENTS.labels("failed").inc()

    def _end(self, status: JobStatus) -> None:
        self.job.status = status
        self.job.seconds_left = None
        with self.database.session() as session:
            self._save_in(session)
            values = {"status": status, "reason": self.job.reason, "seconds_left": None}
            self.jobs.save(session, self.job.id, values)
            self.finish(session)
        JOBS.labels(status.value).inc()
        self._report()

    def _save(self) -> None:
        with self.database.session() as session:
            self._save_in(session)
        self._report()

    def _save_in(self, session: Session) -> None:
        self.ledger.touch(session, self.found, source=self.job.source)
        self.jobs.add_failures(session, self.job.id, self.unsaved_failures)
        counted = {name: getattr(self.job, name) for name in COUNTERS}
        self.job.seconds_left = self.time_left.seconds
        self.jobs.save(session, self.job.id, {**counted, "seconds_left": self.job.seconds_left})
        self.found.clear()
        self.unsaved_failures.clear()

    def _report(self) -> None:
        if self.job.status == JobStatus.RUNNING:
            self.job.seconds_left = self.time_left.seconds
        # The thread that embeds tells of it too.
        failures = list(self.failures.items())
        failed = [FailedDocument(document_id=id_, reason=reason) for id_, reason in failures]
        self.on_progress(ingest_job(self.job, failed))


def removed_path(root: str, document_id: str) -> str:
    """What a removal of one document of a root has for its path."""
    return f"{root}/{document_id}"


def _marked(document: Document, marks: Mapping[str, str]) -> Document:
    front_matter = {**document.front_matter, **marks}
    return document.model_copy(update={"front_matter": front_matter})


def _tell_suspicious(document: Document) -> bool:
    """Whoever keeps the documents should know of sentences that were left out."""
    found = screened(document).suspicious
    if found:
        SUSPICIOUS.inc(len(found))
        _log.warning(
            "ingestion.instructions_left_out",
            document_id=document.id,
            texts=len(found),
            first=found[0],
        )
    return bool(found)


def _taken(source: str) -> str:
    return (
        f"the id belongs to a document of {source!r}: put both under one folder and ingest that, "
        "so that their paths differ"
    )
