"""Event store of runs and searches: each addition is one transaction with its audit and tasks."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import Field
from sqlalchemy import delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.execution.leases import LeaseKind, Leases
from services.execution.look_cap import LookCap
from services.execution.tables import EventColumns, LeasedColumns
from services.kit.access.audit import add_audit
from services.kit.errors import NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.sql.short_ids import complete_short_id, get_by_short_id
from services.kit.tables import OutboxRow
from services.kit.value import Value


class LoggedEvent(Value):
    """Event in the log of a run or a search."""

    seq: int
    """Number in its run or search, from 1 on."""
    kind: StrEnum
    at: float
    """Seconds since the epoch, by the executor's clock."""
    by: str = ""
    """Name of whoever caused it; empty for the executor."""
    facts: dict[str, Any] = Field(default={})


class AppendableEvent(Protocol):
    """Event to be added to a log."""

    @property
    def kind(self) -> StrEnum:
        """Kind of the event."""

    @property
    def facts(self) -> Mapping[str, object]:
        """Facts of the event."""

    @property
    def by(self) -> str:
        """Name of whoever causes it."""

    @property
    def columns(self) -> Mapping[str, str | int]:
        """Place at which it happens, by the columns of the log."""


class FoldedState(Protocol):
    """State that follows from the events of a log."""

    @property
    def phase(self) -> StrEnum:
        """Phase, as lists show it."""

    @property
    def outcome(self) -> StrEnum | None:
        """Outcome; None until it is over."""

    @property
    def why(self) -> str:
        """Reason for the outcome."""


_ENDS = frozenset({"ended", "taken_over"})
"""Kinds of events that end a run or a search."""

_TRIES = 5
"""Most attempts to add a person's act while a worker goes on beside it."""

EventT = TypeVar("EventT", bound=LoggedEvent)
StateT = TypeVar("StateT", bound=FoldedState)
RowT = TypeVar("RowT", bound=LeasedColumns)
SummaryT = TypeVar("SummaryT")


@dataclass(frozen=True, kw_only=True)
class StoredWork(Generic[EventT, StateT]):
    """A run or a search with its events, and the state after them."""

    id: str
    events: tuple[EventT, ...] = ()
    state: StateT
    waits_until: float | None = None
    waits_for: str = ""

    @property
    def last(self) -> int:
        """Number of its latest event; 0 before any."""
        return self.events[-1].seq if self.events else 0


StoredT = TypeVar("StoredT", bound=StoredWork[Any, Any])


class EventStore(ABC, Generic[RowT, EventT, StoredT, SummaryT]):
    """Store of the runs or searches of one database; safe to share between threads and processes.

    A subclass names its tables and folds its events; the columns of a row follow from the state.
    """

    kind: ClassVar[LeaseKind]
    unknown: ClassVar[type[NotFoundError]]
    """Error of an unknown id."""
    event_row: ClassVar[type[Any]]
    """Row of an event, with `EventColumns`."""
    audited: ClassVar[frozenset[StrEnum]]
    """Kinds of events that go into the audit log too."""
    audited_facts: ClassVar[tuple[str, ...]]
    """Facts and columns of an event that go into the audit log."""
    report_task: ClassVar[str]

    row: type[RowT]
    event: type[EventT]

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self.leases = Leases(database, outbox, self.kind)
        self.look_cap = LookCap(database)

    def load(self, id_: str) -> StoredT:
        """Return a run or a search with its events, by its id or the beginning of it.

        Raises:
            NotFoundError: There is none of this id; see `unknown`.
            AmbiguousIdError: Several ids begin so.
        """
        with self._database.session() as session:
            row = get_by_short_id(session, self.row, id_)
            if row is None:
                raise self.unknown(f"there is no {self.kind.noun} {id_!r}")
            return self._stored(row, self._events_after(session, row.id, 0))

    def exists(self, id_: str) -> bool:
        """Return True if there is one of this very id."""
        with self._database.session() as session:
            return session.get(self.row, id_) is not None

    def of_ticket(self, ticket_id: str, *, most: int = 50) -> list[SummaryT]:
        """Return those of a ticket, the latest first; the beginning of its id will do."""
        with self._database.session() as session:
            whole = complete_short_id(session, self.row.ticket_id, ticket_id) or ticket_id
            mine = select(self.row).where(self.row.ticket_id == whole)
            rows = session.scalars(mine.order_by(self.row.created_at.desc()).limit(most))
            return [self._summary(row) for row in rows]

    def latest(self, *, most: int = 50) -> list[SummaryT]:
        """Return those that are not over before the others, the latest first."""
        newest = (self.row.outcome.is_not(None), self.row.created_at.desc())
        with self._database.session() as session:
            rows = session.scalars(select(self.row).order_by(*newest).limit(most))
            return [self._summary(row) for row in rows]

    def forget(self, ticket_ids: Collection[str]) -> bool:
        """Delete those of these tickets with their events and tasks; True if none is left.

        One that a worker drives just now stays: what it is sending would be lost sight of.
        """
        mine = self.row.ticket_id.in_(ticket_ids)
        is_free = or_(self.row.driver.is_(None), self.row.driven_until < time.time())
        with self._database.session() as session:
            gone = delete(self.row).where(mine, is_free).returning(self.row.id)
            for id_ in session.scalars(gone).all():
                for task in (self.kind.task, self.report_task):
                    begins_so = OutboxRow.key.startswith(f"{task}:{id_}", autoescape=True)
                    session.execute(delete(OutboxRow).where(begins_so))
            return session.scalar(select(self.row.id).where(mine).limit(1)) is None

    def append(
        self,
        stored: StoredT,
        events: Sequence[AppendableEvent],
        at: float,
        *,
        driver: str | None = None,
    ) -> None:
        """Add events that follow from those that `stored` has.

        Raises:
            ConflictError: There are others by now; see `LeaseKind.moved`.
            FlowXpertError: `driver` does not have the lease any more; see `LeaseKind.lost`.
        """
        with self._database.session() as session:
            self.leases.fence(session, stored.id, driver)
            self._add(session, stored, events, at, wakes=driver is None)

    def add_act(
        self, id_: str, make: Callable[[StoredT], AppendableEvent | None], at: float
    ) -> None:
        """Add a person's act, though a worker may go on beside it; None adds nothing.

        Raises:
            ConflictError: Something happened at each attempt; see `LeaseKind.moved`.
        """
        tries = 0
        while True:
            stored = self.load(id_)
            event = make(stored)
            try:
                if event is not None:
                    self.append(stored, [event], at)
            except self.kind.moved:
                tries += 1
                if tries == _TRIES:
                    raise
            else:
                return

    def record(
        self,
        stored: StoredT,
        event: AppendableEvent,
        at: float,
        *,
        driver: str | None = None,
        requeues: bool = False,
    ) -> None:
        """Add an observation or an answer, whatever else has happened since `stored`.

        `requeues`: the worker releases its lease and queues the work again.

        Raises:
            FlowXpertError: `driver` does not have the lease any more; see `LeaseKind.lost`.
        """
        while True:
            try:
                with self._database.session() as session:
                    self.leases.fence(session, stored.id, driver)
                    if newer := self._events_after(session, stored.id, stored.last):
                        stored = self._follow(stored, newer)
                    self._add(session, stored, [event], at, wakes=False)
                    if requeues:
                        self.leases.requeue(session, stored.id, str(stored.last + 1))
            except self.kind.moved:
                continue
            return

    def _events_after(self, session: Session, id_: str, seq: int) -> list[EventT]:
        mine = select(self.event_row).where(
            self.event_row.owner_id == id_, self.event_row.seq > seq
        )
        rows = session.scalars(mine.order_by(self.event_row.seq))
        return [self.event.model_validate(row, from_attributes=True) for row in rows]

    def _add(
        self,
        session: Session,
        stored: StoredT,
        events: Sequence[AppendableEvent],
        at: float,
        *,
        wakes: bool,
    ) -> None:
        """Add events with what follows from them: audit, columns, and the report at the end."""
        noun, rows = self.kind.noun, list[EventColumns]()
        for seq, event in enumerate(events, stored.last + 1):
            facts = dict(event.facts)
            row = {"seq": seq, "kind": event.kind.value, "at": at, "by": event.by, "facts": facts}
            rows.append(self.event_row(owner_id=stored.id, **row, **event.columns))
            if event.kind in self.audited:
                named = {**{name: v for name, v in event.columns.items() if v}, **facts}
                audited = {name: named[name] for name in self.audited_facts if name in named}
                action, subject = f"{noun}.{event.kind.value}", f"{noun} {stored.id}"
                add_audit(session, action, subject, after=audited)
        session.add_all(rows)
        try:
            session.flush()
        except IntegrityError as error:  # events of these numbers exist by now
            message = f"something happened in the {noun} {stored.id} meanwhile"
            raise self.kind.moved(message) from error
        added = [self.event.model_validate(row, from_attributes=True) for row in rows]
        stored = self._follow(stored, added)
        values = {"phase": stored.state.phase.value, "waits_until": None, "waits_for": ""}
        values |= self._columns(session, stored, added)
        if stored.state.outcome is not None:
            values["waits_for"] = stored.state.why
            if any(event.kind in _ENDS for event in added):
                values |= {"outcome": stored.state.outcome.value, "ended_at": at}
                task, id_ = self.report_task, stored.id
                self._outbox.put(session, task, {self.kind.argument: id_}, f"{task}:{id_}")
        session.execute(update(self.row).where(self.row.id == stored.id).values(values))
        if wakes:
            self.leases.enqueue(session, stored.id, str(stored.last))

    @abstractmethod
    def _stored(self, row: RowT, events: Iterable[EventT]) -> StoredT:
        """Fold the events of a row."""

    @abstractmethod
    def _follow(self, stored: StoredT, events: Sequence[EventT]) -> StoredT:
        """Fold further events."""

    @abstractmethod
    def _summary(self, row: RowT) -> SummaryT:
        """Return a row as lists show it."""

    @abstractmethod
    def _columns(
        self, session: Session, stored: StoredT, added: Sequence[EventT]
    ) -> dict[str, Any]:
        """Count added events and write what else follows; return further columns of the row."""
