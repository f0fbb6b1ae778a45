"""Queue entries of the gateway, and what it does every so often."""

from celery import Celery

from services.gateway.intake import WALK_TASK
from services.gateway.keeping import Keeping
from services.gateway.settings import GatewaySettings
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.database import Database
from services.kit.outbox import Outbox
from services.kit.periodic import Periodic

PURGE_EVERY_S = 600.0
MOST_PURGED = 5_000
"""Tickets in one go; what is left is for the next."""


def purging(database: Database, settings: GatewaySettings) -> Periodic | None:
    """Deletes tickets that are kept long enough; None where they are kept for ever."""
    if settings.keep_days is None:
        return None
    keeping = Keeping(database, settings.keep_days)
    return Periodic("purge", lambda: keeping.purge(most=MOST_PURGED), every_s=PURGE_EVERY_S)


def register_tasks(queue: Celery, outbox: Outbox, walk: Walk) -> None:
    """Make the queue's workers walk tickets; a walk that is given up fails its ticket."""
    outbox.register(queue, WALK_TASK, walk.run, on_parked=park)
