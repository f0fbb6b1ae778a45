"""State of one job while it runs, with its remaining time."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from services.contracts.ingestion import FailedDocument, IngestJob, JobStatus
from services.ingestion.catalogue.ledger import LedgerEntry, MovedFile
from services.ingestion.jobs.records import ingest_job
from services.ingestion.metrics import DOCUMENTS
from services.ingestion.roots.scan import RootEntry, RootScan
from services.ingestion.tables import JobRow

OnProgress = Callable[[IngestJob], None]

_LOOKED_BACK = 0.3
"""Share of the time so far whose pace counts: long enough to be even, short enough to be new."""
_STEADY_S = 5.0
"""Time without an estimate at the start: models are loaded and caches are cold."""
_MANY_GONE = 10
"""Number of documents below which a sync may delete most of its source."""


@dataclass
class TimeLeft:
    """Estimate by the bytes of files: nearly all work grows with the text in them."""

    total: float
    now: Callable[[], float] = monotonic
    done: float = 0.0
    _marks: deque[tuple[float, float]] = field(default_factory=deque)
    """Moments in the order of time, each with the work done by then."""

    def __post_init__(self) -> None:
        self._marks.append((self.now(), 0.0))
        self._began = self._marks[0][0]

    def drop(self, size: float) -> None:
        """Take work that is not needed out of the total."""
        self.total -= size

    def add(self, size: float) -> None:
        """Count more work as done."""
        self.done += size
        now = self.now()
        self._marks.append((now, self.done))
        oldest = now - max(_STEADY_S, (now - self._began) * _LOOKED_BACK)
        while len(self._marks) > 2 and self._marks[1][0] <= oldest:
            self._marks.popleft()

    @property
    def seconds(self) -> float | None:
        """Remaining seconds; None before there is a pace to measure."""
        now = self.now()
        (since, before), (latest, done) = self._marks[0], self._marks[-1]
        if latest - self._began < _STEADY_S or done <= before:
            return None
        pace = (latest - since) / (done - before)
        return max(0.0, (self.total - self.done) * pace - (now - latest))


@dataclass
class JobState:
    """State of one job while it runs; its source is locked, so nobody else changes it."""

    job: JobRow
    """Row of the job with the live counters; they are saved with every window."""
    on_progress: OnProgress
    is_sync: bool = False
    """True for a sync: nobody watches, so it does not delete most of what the source had."""
    is_resumed: bool = False
    """True if an earlier run of the job was cut off."""
    cut_off: dict[str, int] = field(default_factory=dict)
    """Number of runs that were cut off while they read a document, by document id."""
    ledger_entries: dict[str, LedgerEntry] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    unsaved_failures: dict[str, str] = field(default_factory=dict)
    moved: dict[str, MovedFile] = field(default_factory=dict)
    """Unsaved moves: documents whose content is what it was, in a new file or a new place."""
    written: set[str] = field(default_factory=set)
    """Documents that this run wrote."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Size in bytes of each file that is to be read."""
    time_left: TimeLeft = field(default_factory=lambda: TimeLeft(0))

    def is_done(self, entry: RootEntry, pipeline: str) -> bool:
        """Return True if the stores have the file as it is; it is counted if not by this job."""
        recorded = self.ledger_entries.get(entry.document_id)
        if (
            recorded is None
            or not recorded.is_whole
            or (recorded.source, recorded.fingerprint) != (self.job.source, entry.fingerprint)
            or recorded.pipeline != pipeline
        ):
            return False
        self.job.unchanged += recorded.job_id != self.job.id
        return True

    def gone(self, scan: RootScan) -> list[str]:
        """Return documents to remove: no longer there, or left half-written and now unreadable."""
        there = {entry.document_id for entry in scan.entries}
        there.update(failed.document_id for failed in scan.failed)
        return [
            id_
            for id_, recorded in self.ledger_entries.items()
            if recorded.source == self.job.source
            and (
                (self.job.prune and id_ not in there)
                or (id_ in self.failures and not recorded.is_whole)
            )
        ]

    def doubt(self, scan: RootScan) -> str:
        """Return why a sync's scan seems to be an accident, such as a share that is not mounted."""
        had = sum(entry.source == self.job.source for entry in self.ledger_entries.values())
        gone = len(self.gone(scan))
        if had and not scan.entries and not scan.failed:
            finding = "holds no documents any more"
        elif gone >= _MANY_GONE and gone * 2 > had:
            finding = f"does not hold {gone} of its {had} documents any more"
        else:
            return ""
        return (
            f"{self.job.path!r} {finding}; nothing was changed: if that is meant, remove "
            "the source or ingest by hand"
        )

    def fail(self, document_id: str, reason: str) -> None:
        """Note that a document could not be ingested."""
        recorded = self.ledger_entries.get(document_id)
        kept = "; the version of an earlier ingest stays" if recorded and recorded.is_whole else ""
        self.failures[document_id] = self.unsaved_failures[document_id] = reason + kept
        DOCUMENTS.labels("failed").inc()

    def report(self) -> None:
        """Pass the job as it is now to whoever watches it; the thread that embeds does so too."""
        if self.job.status == JobStatus.RUNNING:
            self.job.seconds_left = self.time_left.seconds
        failures = list(self.failures.items())
        failed = [FailedDocument(document_id=id_, reason=reason) for id_, reason in failures]
        self.on_progress(ingest_job(self.job, failed))


def taken_reason(source: str) -> str:
    """Return the reason why a document whose id another source has is refused."""
    return (
        f"the id belongs to a document of {source!r}: put both under one folder and ingest that, "
        "so that their paths differ"
    )
