"""Queue entries of the gateway."""

from celery import Celery

from services.gateway.intake import WALK_TASK
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.gateway.writeback.service import WRITE_BACK_TASK, WriteBack
from services.gateway.writeback.service import park as park_write_back
from services.kit.outbox import Outbox


def register_tasks(queue: Celery, outbox: Outbox, walk: Walk, write_back: WriteBack) -> None:
    """Make the queue's workers walk tickets, and tell who is to know of it.

    A walk that is given up fails its ticket; a system that cannot be told is noted on it.
    """
    outbox.register(queue, WALK_TASK, walk.run, on_parked=park)
    outbox.register(queue, WRITE_BACK_TASK, write_back.run, on_parked=park_write_back)
