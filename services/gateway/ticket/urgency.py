"""What is worked on first: a ticket's severity as a priority of the queue."""

from services.gateway.ticket.severity import CRITICAL, HIGH, INFO, LOW
from services.kit.queue.outbox import NORMAL

_PRIORITIES = {CRITICAL: 0, HIGH: 3, LOW: 9, INFO: 9}


def priority(severity: str) -> int:
    """0 is the first; a severity of no known meaning is in the middle."""
    return _PRIORITIES.get(severity, NORMAL)
