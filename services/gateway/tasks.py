"""Queue entries of the gateway."""

from collections.abc import Mapping
from typing import Any

from celery import Celery
from sqlalchemy.orm import Session

from services.gateway.intake import LEARN_TICKET_TASK, WALK_TASK
from services.gateway.tickets import park
from services.gateway.triage.desk import LEARN_TASK, TriageDesk
from services.gateway.triage.service import TriageService
from services.gateway.walk import Walk
from services.kit.outbox import Outbox


def register_tasks(queue: Celery, outbox: Outbox, walk: Walk) -> None:
    """Make the queue's workers walk tickets; a walk that is given up fails its ticket."""
    outbox.register(queue, WALK_TASK, walk.run, on_parked=park)


def register_learning(queue: Celery, outbox: Outbox, desk: TriageDesk) -> None:
    """Make the queue's workers learn past tickets."""
    outbox.register(queue, LEARN_TASK, desk.take_in, on_parked=_keep)
    service = TriageService(outbox.database, outbox, desk)
    outbox.register(queue, LEARN_TICKET_TASK, service.learn_ticket, on_parked=_keep)


def _keep(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Nothing waits for it: the row stays parked with its reason."""
