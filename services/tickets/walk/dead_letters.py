"""Dead letters: what the queue has given up, of every service that shares the database."""

import time
from datetime import UTC, datetime

from services.contracts.dead_letters import (
    DeadLetter,
    DeadLetters,
    RetriedLetters,
    RetryLetters,
)
from services.kit.access.audit import add_audit
from services.kit.queue.outbox import Outbox, ParkedTask
from services.kit.sql.database import Database
from services.tickets.ticket.queue import WALK_TASK
from services.tickets.walk.walk_retry import WalkRetry

_AT_ONCE = 200


class DeadLetterOffice:
    """Dead letters of the queue, to list and to put back to work."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self._walk_retry = WalkRetry(database, outbox)

    def letters(self, *, limit: int) -> DeadLetters:
        """Return the letters that have waited longest, and how many there are."""
        parked = self._outbox.parked(limit=limit)
        total = self._outbox.counts()["parked"]
        letters = tuple(
            DeadLetter(
                key=task.key,
                task=task.task,
                ticket_id=task.kwargs.get("ticket_id"),
                reason=task.reason,
                attempts=task.attempts,
                created_at=datetime.fromtimestamp(task.created_at, UTC),
                since=datetime.fromtimestamp(task.parked_at, UTC),
            )
            for task in parked
        )
        return DeadLetters(letters=letters, total=max(total, len(parked)))

    def retry(self, wanted: RetryLetters) -> RetriedLetters:
        """Put these letters back to work; keys of no letter, or no longer one, are skipped."""
        keys, begun = wanted.keys or None, time.time()
        retried: list[str] = []
        # What is given up once more meanwhile is left: it would go round for ever.
        while parked := self._outbox.parked(limit=_AT_ONCE, keys=keys, until=begun):
            retried += [task.key for task in parked if self._retry(task)]
        return RetriedLetters(retried=tuple(retried))

    def _retry(self, parked: ParkedTask) -> bool:
        with self._database.session() as session:
            if not self._outbox.retry(session, parked.key):
                return False
            if parked.task == WALK_TASK:
                self._walk_retry.reopen_ticket(session, parked.kwargs["ticket_id"], parked.key)
            before, after = {"state": "parked"}, {"state": "waiting"}
            add_audit(session, "task.retried", f"task {parked.key}", before, after)
            return True
