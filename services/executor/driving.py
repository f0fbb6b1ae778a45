"""Who drives what is carried on by its events: one worker at a time, until its time is over.

Runs and searches share it: a row that says who drives, numbered events beside it, a task in the
outbox that carries it on.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import or_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.executor.tables import DrivenColumns, EventColumns
from services.kit.errors import ConflictError, FlowXpertError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.sql.rows import changed


@dataclass(frozen=True)
class Driven:
    """What is driven, and by which names."""

    noun: str
    row: type[DrivenColumns]
    task: str
    """The task that carries it on."""
    argument: str
    """What the task calls its id."""
    moved: type[ConflictError]
    """Raised where something else happened in it meanwhile."""
    lost: type[FlowXpertError]
    """Raised where another worker drives it."""


class Driving:
    """The drivers of one kind; safe to share between threads and processes."""

    def __init__(self, database: Database, outbox: Outbox, driven: Driven) -> None:
        self._database = database
        self._outbox = outbox
        self._driven = driven

    def drive(self, id_: str, driver: str, for_s: float) -> bool:
        """Whether this worker drives it from now on, for so long; another one may."""
        row, now = self._driven.row, time.time()
        free = or_(row.driver.is_(None), row.driver == driver, row.driven_until < now)
        held = update(row).where(row.id == id_, free)
        with self._database.session() as session:
            return changed(session, held.values(driver=driver, driven_until=now + for_s)) == 1

    def rest(self, id_: str, driver: str, *, until: float | None, why: str, after_s: float) -> None:
        """Let it wait; with `until` it is driven again after so many seconds of the machines."""
        row = self._driven.row
        values = {"driver": None, "waits_until": until, "waits_for": why}
        with self._database.session() as session:
            session.execute(update(row).where(row.id == id_, row.driver == driver).values(values))
            if until is not None:
                self.wake(session, id_, str(until), after_s=max(0.0, after_s))

    def come_again(self, id_: str, after_s: float) -> None:
        """Somebody else drives it: look later whether it went on."""
        with self._database.session() as session:
            self.wake(session, id_, f"again:{time.time():.3f}", after_s=after_s)

    def leave(self, id_: str, driver: str) -> None:
        """Let others drive it, if this worker still does."""
        row = self._driven.row
        with self._database.session() as session:
            session.execute(
                update(row).where(row.id == id_, row.driver == driver).values(driver=None)
            )

    def forget(self) -> None:
        """Of a process that has the database to itself: earlier workers are gone."""
        with self._database.session() as session:
            session.execute(update(self._driven.row).values(driver=None))

    # Within a caller's transaction

    def fence(self, session: Session, id_: str, driver: str | None) -> None:
        """Raises `Driven.lost` where this worker does not drive it any more."""
        if driver is None:
            return
        row = self._driven.row
        mine = update(row).where(row.id == id_, row.driver == driver)
        if changed(session, mine.values(driver=driver)) != 1:
            raise self._driven.lost(f"another worker drives the {self._driven.noun} {id_}")

    def add(self, session: Session, id_: str, events: Sequence[EventColumns]) -> None:
        """Raises `Driven.moved` where it has events of these numbers by now."""
        session.add_all(events)
        try:
            session.flush()
        except IntegrityError as error:
            noun = self._driven.noun
            raise self._driven.moved(f"something happened in the {noun} {id_} meanwhile") from error

    def give_back(self, session: Session, id_: str, occasion: str) -> None:
        """Have it carried on by whoever comes next: others of its kind get their turn."""
        session.execute(
            update(self._driven.row).where(self._driven.row.id == id_).values(driver=None)
        )
        self.wake(session, id_, occasion)

    def wake(self, session: Session, id_: str, occasion: str, *, after_s: float = 0.0) -> None:
        """Have it carried on, once for each occasion."""
        task, argument = self._driven.task, {self._driven.argument: id_}
        key = f"{task}:{id_}:{occasion}"
        if after_s > 0:
            self._outbox.put_later(session, task, argument, key, after_s=after_s)
        else:
            self._outbox.put(session, task, argument, key)
