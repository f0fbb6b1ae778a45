"""Queue entries of the gateway."""

from celery import Celery

from services.gateway.intake import WALK_TASK
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.outbox import Outbox


def register_tasks(queue: Celery, outbox: Outbox, walk: Walk) -> None:
    """Make the queue's workers walk tickets; a walk that is given up fails its ticket."""
    outbox.register(queue, WALK_TASK, walk.run, on_parked=park)
