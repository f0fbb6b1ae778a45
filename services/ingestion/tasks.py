"""Tasks of ingestion: its periodic work and its handlers of the queue."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from services.ingestion.jobs.runner import JobRunner
from services.ingestion.jobs.service import FORGET_ROOT, RUN_JOB
from services.ingestion.jobs.sync_records import TELL
from services.ingestion.proposals.service import ProposalService
from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.sync.service import DUE_EVERY_S, RUN_SYNC, SyncService
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import Periodic
from services.knowledge.ports import DocumentStore

_SCREENED_EVERY_S = 86_400.0
_EXPIRED_EVERY_S = 3_600.0


def periodic_tasks(
    syncs: SyncService,
    documents: DocumentStore,
    readings: IngestedReadings,
    proposals: ProposalService,
) -> tuple[Periodic, ...]:
    """Build the work that comes around.

    It queues the syncs that are due, screens documents again which an older release has screened,
    embeds ticket texts again which another model has embedded, and expires learned pages which no
    run has shown to hold for too long.
    """
    return (
        Periodic("syncs", syncs.queue_due, every_s=DUE_EVERY_S, first_after_s=DUE_EVERY_S / 4),
        Periodic("screening", documents.renew, every_s=_SCREENED_EVERY_S, first_after_s=2.0),
        Periodic("said", readings.renew_ticket_texts, every_s=_SCREENED_EVERY_S, first_after_s=5.0),
        Periodic("proposals", proposals.expire, every_s=_EXPIRED_EVERY_S, first_after_s=20.0),
    )


def register(outbox: Outbox, runner: JobRunner, syncs: SyncService) -> None:
    """Register the handlers of ingestion's jobs and syncs with the queue."""

    def run_job(job_id: str) -> None:
        runner.run(job_id)

    def forget_root(job_id: str) -> None:
        runner.run_removal(job_id)

    def park(session: Session, kwargs: Mapping[str, Any], reason: str) -> None:
        runner.park(session, str(kwargs["job_id"]), reason)

    outbox.register(RUN_JOB, run_job, on_parked=park)
    outbox.register(FORGET_ROOT, forget_root, on_parked=park)
    outbox.register(RUN_SYNC, syncs.run, on_parked=syncs.park)
    outbox.register(TELL, syncs.notify)
    # Before syncs had a queue of their own they were put under these names.
    outbox.register("ingestion.sync", syncs.run, on_parked=syncs.park)
    outbox.register("ingestion.tell_sync", syncs.notify)
