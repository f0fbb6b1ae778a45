"""The queue's way into ingestion."""

from collections.abc import Mapping
from typing import Any

from celery import Celery
from sqlalchemy.orm import Session

from services.ingestion.service import FORGET_ROOT, RUN_JOB, IngestionService
from services.kit.outbox import Outbox


def register(outbox: Outbox, queue: Celery, service: IngestionService) -> None:
    """Make the queue run ingestion's jobs."""

    def run_job(job_id: str) -> None:
        service.run(job_id)

    def forget_root(job_id: str) -> None:
        service.run_removal(job_id)

    def park(session: Session, kwargs: Mapping[str, Any], reason: str) -> None:
        service.park(session, str(kwargs["job_id"]), reason)

    outbox.register(queue, RUN_JOB, run_job, on_parked=park)
    outbox.register(queue, FORGET_ROOT, forget_root, on_parked=park)
