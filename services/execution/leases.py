"""Leases of runs and searches: one worker at a time carries each on, until its lease expires.

Runs and searches share it: a row that says which worker has the lease, numbered events beside it,
and a task in the outbox that carries it on.
"""

import time
from dataclasses import dataclass

from sqlalchemy import or_, update
from sqlalchemy.orm import Session

from services.execution.tables import LeasedColumns
from services.kit.errors import ConflictError, FlowXpertError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, execute_and_count


@dataclass(frozen=True)
class LeaseKind:
    """Kind of work that is leased, with its names."""

    noun: str
    row: type[LeasedColumns]
    task: str
    """Task that carries it on."""
    argument: str
    """Name of the id among the task's arguments."""
    moved: type[ConflictError]
    """Error to raise if another event was added meanwhile."""
    lost: type[FlowXpertError]
    """Error to raise if another worker has the lease."""
    lost_event: str
    """Log event of that."""


class Leases:
    """Leases of one kind of work; safe to share between threads and processes."""

    def __init__(self, database: Database, outbox: Outbox, kind: LeaseKind) -> None:
        self._database = database
        self._outbox = outbox
        self._kind = kind

    def acquire(self, id_: str, driver: str, for_s: float) -> bool:
        """Acquire or extend the lease for so many seconds; return False if another has it."""
        row, now = self._kind.row, time.time()
        free = or_(row.driver.is_(None), row.driver == driver, row.driven_until < now)
        acquired = update(row).where(row.id == id_, free)
        with self._database.session() as session:
            return (
                execute_and_count(session, acquired.values(driver=driver, driven_until=now + for_s))
                == 1
            )

    def wait(self, id_: str, driver: str, *, until: float | None, why: str, after_s: float) -> None:
        """Release the lease and wait; with `until`, queue the task after `after_s` seconds."""
        row = self._kind.row
        values = {"driver": None, "waits_until": until, "waits_for": why}
        with self._database.session() as session:
            session.execute(update(row).where(row.id == id_, row.driver == driver).values(values))
            if until is not None:
                self.enqueue(session, id_, str(until), after_s=max(0.0, after_s))

    def retry_later(self, id_: str, after_s: float) -> None:
        """Look again later, since another worker has the lease now."""
        with self._database.session() as session:
            self.enqueue(session, id_, f"again:{time.time():.3f}", after_s=after_s)

    def release(self, id_: str, driver: str) -> None:
        """Release the lease, if this worker still has it."""
        row = self._kind.row
        with self._database.session() as session:
            session.execute(
                update(row).where(row.id == id_, row.driver == driver).values(driver=None)
            )

    def release_all(self) -> None:
        """Release all leases.

        For a process that has the database to itself: earlier workers are gone.
        """
        with self._database.session() as session:
            session.execute(update(self._kind.row).values(driver=None))

    # Within a caller's transaction

    def fence(self, session: Session, id_: str, driver: str | None) -> None:
        """Check within the caller's transaction that this worker still has the lease.

        Raises:
            FlowXpertError: Another worker has it; see `LeaseKind.lost`.
        """
        if driver is None:
            return
        row = self._kind.row
        mine = update(row).where(row.id == id_, row.driver == driver)
        if execute_and_count(session, mine.values(driver=driver)) != 1:
            raise self._kind.lost(f"another worker drives the {self._kind.noun} {id_}")

    def requeue(self, session: Session, id_: str, occasion: str) -> None:
        """Release the lease and queue the work again, so that others of its kind get their turn."""
        session.execute(update(self._kind.row).where(self._kind.row.id == id_).values(driver=None))
        self.enqueue(session, id_, occasion)

    def enqueue(self, session: Session, id_: str, occasion: str, *, after_s: float = 0.0) -> None:
        """Queue the task that carries the work on, once for each occasion."""
        task, argument = self._kind.task, {self._kind.argument: id_}
        key = f"{task}:{id_}:{occasion}"
        if after_s > 0:
            self._outbox.put_later(session, task, argument, key, after_s=after_s)
        else:
            self._outbox.put(session, task, argument, key)
