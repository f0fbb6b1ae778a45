"""The queue's way into ingestion."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from services.ingestion.jobs.service import FORGET_ROOT, RUN_JOB, JobService
from services.ingestion.jobs.sync_records import TELL
from services.ingestion.proposals.service import ProposalService
from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.sync.service import DUE_EVERY_S, RUN_SYNC, SyncService
from services.kit.queue.outbox import Outbox
from services.kit.queue.periodic import Periodic
from services.knowledge.ports import DocumentStore

_SCREENED_EVERY_S = 86_400.0
_RETIRED_AFTER_S = 0.5
"""Until then what rules drew of a page is served as its reading."""
_EXPIRED_EVERY_S = 3_600.0


def syncing(syncs: SyncService) -> Periodic:
    """Queues the syncs that are due."""
    return Periodic("syncs", syncs.queue_due, every_s=DUE_EVERY_S, first_after_s=DUE_EVERY_S / 4)


def screening(documents: DocumentStore) -> Periodic:
    """Screens what an older release has screened, soon after its start."""
    return Periodic("screening", documents.renew, every_s=_SCREENED_EVERY_S, first_after_s=2.0)


def retiring_rules(readings: IngestedReadings) -> Periodic:
    """Puts what people said of readings by rules to the boxes of pages, soon after an upgrade."""
    return Periodic(
        "rules", readings.retire_rules, every_s=_SCREENED_EVERY_S, first_after_s=_RETIRED_AFTER_S
    )


def embedding_said(readings: IngestedReadings) -> Periodic:
    """Embeds again what people write of pages, where another model has embedded it."""
    return Periodic("said", readings.renew_said, every_s=_SCREENED_EVERY_S, first_after_s=5.0)


def expiring(proposals: ProposalService) -> Periodic:
    """Takes out the learned pages that no run has shown to hold for too long."""
    return Periodic("proposals", proposals.expire, every_s=_EXPIRED_EVERY_S, first_after_s=20.0)


def register(outbox: Outbox, service: JobService, syncs: SyncService) -> None:
    """Make workers run ingestion's jobs and syncs."""

    def run_job(job_id: str) -> None:
        service.run(job_id)

    def forget_root(job_id: str) -> None:
        service.run_removal(job_id)

    def park(session: Session, kwargs: Mapping[str, Any], reason: str) -> None:
        service.park(session, str(kwargs["job_id"]), reason)

    outbox.register(RUN_JOB, run_job, on_parked=park)
    outbox.register(FORGET_ROOT, forget_root, on_parked=park)
    outbox.register(RUN_SYNC, syncs.run, on_parked=syncs.park)
    outbox.register(TELL, syncs.tell)
