"""Queue entries of the gateway."""

from celery import Celery

from services.gateway.clarify.asking import WORD_TASK
from services.gateway.clarify.wording import Wording
from services.gateway.intake import WALK_TASK
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.outbox import Outbox


def register_tasks(
    queue: Celery, outbox: Outbox, walk: Walk, wording: Wording | None = None
) -> None:
    """Make the queue's workers walk tickets; a walk that is given up fails its ticket.

    Without `wording` no model is asked about questions.
    """
    outbox.register(queue, WALK_TASK, walk.run, on_parked=park)
    if wording is not None:
        outbox.register(queue, WORD_TASK, wording.run)
