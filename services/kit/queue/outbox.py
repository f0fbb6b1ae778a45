"""The outbox: a task is stored with the data it is about, and stays until its work is committed.

How a room uses it:

    outbox = Outbox(database)
    outbox.register("gateway.walk", walk.run)            # walk.run(ticket_id=...) does the work

    with database.session() as session:                  # at the endpoint
        session.add(ticket_row)
        outbox.put(session, "gateway.walk", {"ticket_id": id}, key=f"gateway.walk:{id}")

    with database.session() as session:                  # the work's last transaction
        session.add(workflow_row)
        outbox.finish(session)

One claim, two wake-ups: an `OutboxWorker` of the process that put the task is woken by the commit
and takes the next row of its room; elsewhere a relay publishes the row's key, and a Celery worker
takes the row of that key.

What it guarantees, wherever a process is killed:

- **Nothing is lost.** The row commits with the data. It is polled for, or published, until a worker
  has claimed it, and again when that worker's lease runs out, so a broker may forget everything.
- **Nothing is done twice.** A worker claims the row by a conditional UPDATE before it starts: of
  two claimants, one finds it taken or gone. `finish` deletes the row in the
  transaction that stores the result; whoever lost its claim meanwhile fails there, and its
  transaction with it. What a task does outside that transaction may happen again and must be
  idempotent.
- **Nothing is retried for ever.** After `max_attempts` failures, or as many deaths of the process,
  the row is parked with its reason and `on_parked` is called; `retry` puts it back to work. A store
  that does not answer is not the task's fault: such attempts are not counted, only spaced out.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import structlog
from sqlalchemy import (
    ColumnElement,
    delete,
    event,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from services.kit.errors import FlowXpertError, UnavailableError
from services.kit.observability import tracing
from services.kit.observability.metrics import OLDEST, OUTCOMES, TASKS, start_at_zero
from services.kit.sql.database import Database, execute_and_count
from services.kit.tables import OutboxRow

LEASE_S = 60.0
"""Lease of a claimed task: without a renewal for this long it is given to another worker."""

RETRY_S = 2.0
"""Pause after a first failure; it doubles with each further one."""
LONGEST_PAUSE_S = 60.0

NORMAL = 6
"""Default priority. Redis keeps 0, 3, 6 and 9 apart; the lowest goes first."""

_log = structlog.get_logger()
_current: ContextVar["Claim | None"] = ContextVar("outbox_claim", default=None)

TaskFunction = Callable[..., None]
OnParked = Callable[[Session, Mapping[str, Any], str], None]
"""Callback in the transaction that parks a task: the session, the task's arguments, the reason."""


class QueueUnavailableError(UnavailableError):
    """The broker did not answer, or a thread that works on the queue has ended."""


class LostClaimError(FlowXpertError):
    """Another worker took the task over; this one's transaction must not commit."""


class PostponedError(UnavailableError):
    """The task is to be run later; this attempt is not counted."""

    def __init__(self, message: str, *, after_s: float = RETRY_S) -> None:
        """Take the pause in seconds."""
        super().__init__(message)
        self.after_s = after_s


@dataclass(eq=False)
class Claim:
    """Claim of one worker on one task."""

    key: str
    task: str
    runner: str
    kwargs: dict[str, Any]
    attempts: int
    trace_id: str
    finished: bool = False


class DueTask(NamedTuple):
    """A due task, as the relay needs it."""

    key: str
    task: str
    due_at: float
    priority: int
    trace_id: str


class RegisteredTask(NamedTuple):
    """The functions of a task name."""

    work: TaskFunction
    on_parked: OnParked | None


class WaitingTasks(NamedTuple):
    """Tasks of one name that no worker has claimed."""

    task: str
    since: float
    """Due time of the oldest, in seconds since the epoch."""


class NewTask(NamedTuple):
    """A task to be put."""

    kwargs: Mapping[str, Any]
    key: str
    priority: int
    """Priority, 0 to 9; the lowest is run first."""
    trace_id: str
    """Position in its trace; see `tracing.TraceContext`."""


class ParkedTask(NamedTuple):
    """A task that was given up. Times are seconds since the epoch."""

    key: str
    task: str
    kwargs: dict[str, Any]
    reason: str
    attempts: int
    created_at: float
    parked_at: float


_ORDER = OutboxRow.priority, OutboxRow.created_at
_DUE = tuple(getattr(OutboxRow, name) for name in DueTask._fields)
_PARKED = tuple(getattr(OutboxRow, name) for name in ParkedTask._fields)


class Outbox:
    """Unfinished tasks; see the module for the guarantees."""

    def __init__(
        self, database: Database, *, max_attempts: int = 5, lease_s: float = LEASE_S
    ) -> None:
        self.database = database
        self.max_attempts = max_attempts
        self.lease_s = lease_s
        self._tasks: dict[str, RegisteredTask] = {}
        self._listeners: list[threading.Event] = []
        self._running: set[Claim] = set()

    def listen(self) -> threading.Event:
        """Return a new event that is set whenever a put of this process has committed."""
        self._listeners.append(heard := threading.Event())
        return heard

    def put(
        self,
        session: Session,
        task_name: str,
        kwargs: Mapping[str, Any],
        key: str,
        *,
        priority: int = NORMAL,
    ) -> bool:
        """Add a task to the caller's transaction; it may be run as soon as that commits.

        Tasks of priority 0 are run first, those of 9 last.

        Return False, and add nothing, if a task with that key is not finished yet: a task that may
        have begun and must run again for newer content needs another key.
        """
        task = NewTask(kwargs, key, priority, str(tracing.current_context()))
        return key in self.put_all(session, task_name, [task])

    def put_all(self, session: Session, task_name: str, tasks: Sequence[NewTask]) -> set[str]:
        """Put several tasks in one statement and return the keys of those that were added."""
        now = time.time()
        rows = [
            {
                "key": task.key,
                "task": task_name,
                "kwargs": dict(task.kwargs),
                "trace_id": task.trace_id,
                "created_at": now,
                "due_at": now,
                "attempts": 0,
                "reason": "",
                "priority": task.priority,
            }
            for task in tasks
        ]
        statement = (
            self.database.insert(OutboxRow)
            .values(rows)
            .on_conflict_do_nothing(index_elements=["key"])
            .returning(OutboxRow.key)  # PostgreSQL's driver does not count rows of an upsert here
        )
        self._wake_after(session)
        return set(session.scalars(statement)) if rows else set()

    def put_later(
        self,
        session: Session,
        task_name: str,
        kwargs: Mapping[str, Any],
        key: str,
        *,
        after_s: float,
    ) -> bool:
        """Put a task as `put`, due only after so many seconds."""
        added = self.put(session, task_name, kwargs, key)
        if added:
            due_at = time.time() + after_s
            later = {"due_at": due_at, "created_at": due_at}  # it waits from then on
            session.execute(update(OutboxRow).where(OutboxRow.key == key).values(later))
        return added

    def parked(
        self, *, limit: int, keys: Sequence[str] | None = None, until: float | None = None
    ) -> list[ParkedTask]:
        """List parked tasks, the oldest first; of `keys` and parked by `until`, if given."""
        statement = select(*_PARKED).where(OutboxRow.parked_at.is_not(None))
        if keys is not None:
            statement = statement.where(OutboxRow.key.in_(keys))
        if until is not None:
            statement = statement.where(OutboxRow.parked_at <= until)
        ordered = statement.order_by(OutboxRow.parked_at, OutboxRow.key).limit(limit)
        with self.database.session() as session:
            return [ParkedTask(*row) for row in session.execute(ordered)]

    def retry(self, session: Session, key: str) -> bool:
        """Put a parked task back to work in the caller's transaction, as if it had never run.

        Return False, and do nothing, if no task of that key is parked: of two callers one gets
        True.
        """
        statement = (
            update(OutboxRow)
            .where(OutboxRow.key == key, OutboxRow.parked_at.is_not(None))
            .values(parked_at=None, attempts=0, due_at=time.time(), runner=None)
        )
        self._wake_after(session)
        return execute_and_count(session, statement) == 1

    def register(
        self, task_name: str, work: TaskFunction, *, on_parked: OnParked | None = None
    ) -> None:
        """Register the function of a task name, before the workers of its room start.

        `work` gets the arguments of the task as keywords.
        """
        self._tasks[task_name] = RegisteredTask(work, on_parked)
        start_at_zero(TASKS, [task_name], OUTCOMES)
        start_at_zero(OLDEST, [task_name])

    def registered(self, room: str) -> dict[str, RegisteredTask]:
        """Return the room's tasks by name: those of the room `gateway` start with `gateway.`."""
        return {name: task for name, task in self._tasks.items() if name.startswith(f"{room}.")}

    def run_next(self, room: str) -> bool:
        """Run the room's most urgent due task, oldest first; return False if none is due.

        Raises:
            DatabaseUnavailableError: It did not answer.
        """
        tasks = self.registered(room)
        mine = OutboxRow.task.in_(tasks)
        statement = select(OutboxRow.key).where(mine, *_is_due()).order_by(*_ORDER).limit(1)
        while True:
            with self.database.session() as session:
                key = session.scalar(statement)
            if key is None:
                return False
            if claim := self._claim(key, *_is_due()):
                self._run(claim, *tasks[claim.task])
                return True

    def run(self, key: str, work: TaskFunction, on_parked: OnParked | None = None) -> None:
        """Claim the task, run it and delete it; do nothing if it is taken or gone."""
        claim = self._claim_with_retries(key)
        if claim is not None:
            self._run(claim, work, on_parked)

    def _run(self, claim: Claim, work: TaskFunction, on_parked: OnParked | None) -> None:
        if claim.attempts > self.max_attempts:
            self._park(claim, f"the process ended in each of {self.max_attempts} runs", on_parked)
            return
        token = _current.set(claim)
        self._running.add(claim)
        context = tracing.TraceContext.parse(claim.trace_id)
        try:
            with tracing.entry(
                claim.task, context, kind="consumer", attempt=claim.attempts
            ) as span:
                outcome = self._attempt(claim, work, on_parked)
                span.set_attributes(outcome=outcome)
        finally:  # a worker that is being ended raises what no handler of errors catches
            self._running.discard(claim)
            _current.reset(token)
        TASKS.labels(claim.task, outcome).inc()

    @property
    def is_retry(self) -> bool:
        """True while a task runs that has been begun before, whatever came of it then."""
        claim = _current.get()
        return claim is not None and claim.attempts > 1

    def finish(self, session: Session) -> None:
        """Delete the running task in the session that stores its result; without a task, none.

        Raises:
            LostClaimError: Another worker has it now. Let it roll the transaction back.
        """
        claim = _current.get()
        if claim is None:
            return
        if execute_and_count(session, delete(OutboxRow).where(*_owned_by(claim))) == 0:
            raise LostClaimError(f"the task {claim.key!r} was taken over by another worker")
        event.listen(
            session, "after_commit", lambda _session: setattr(claim, "finished", True), once=True
        )

    def due(self, *, limit: int) -> list[DueTask]:
        """List tasks to publish now: the urgent ones first, of equal ones the oldest."""
        statement = select(*_DUE).where(*_is_due()).order_by(*_ORDER).limit(limit)
        with self.database.session() as session:
            return [DueTask(*row) for row in session.execute(statement)]

    def mark_published(self, due: Sequence[DueTask], *, again_after: float) -> None:
        """Record that the broker took these tasks; tasks claimed since are left alone."""
        # One statement, however many: while it runs no other writer does. A claim made since `due`
        # was read has moved its row's due time past all of these.
        latest = max(task.due_at for task in due)
        statement = (
            update(OutboxRow)
            .where(OutboxRow.key.in_([task.key for task in due]), OutboxRow.due_at <= latest)
            .values(due_at=time.time() + again_after, runner=None)
        )
        with self.database.session() as session:
            session.execute(statement)

    def renew(self) -> None:
        """Renew the leases of the tasks that run in this process."""
        running = list(self._running)
        if not running:
            return
        with self.database.session() as session:
            for claim in running:
                session.execute(
                    update(OutboxRow)
                    .where(*_owned_by(claim))
                    .values(due_at=time.time() + self.lease_s)
                )

    def release(self) -> list[str]:
        """Give back at once the tasks that still run in this process and return their keys.

        Another process begins them anew. Whatever this one still does for them is void: `finish`
        fails.
        """
        released = []
        with self.database.session() as session:
            for claim in list(self._running):
                values = {
                    "runner": None,
                    "due_at": time.time(),
                    "attempts": OutboxRow.attempts - 1,
                }
                statement = update(OutboxRow).where(*_owned_by(claim)).values(values)
                released += [claim.key] if execute_and_count(session, statement) else []
        return released

    def restart(self) -> None:
        """Make every unfinished task due; only for a process that has the database to itself."""
        with self.database.session() as session:
            session.execute(
                update(OutboxRow)
                .where(OutboxRow.parked_at.is_(None))
                .values(due_at=OutboxRow.created_at, runner=None)
            )

    def counts(self) -> dict[str, int]:
        """Count the tasks that are `waiting` or running, and those that are `parked`."""
        parked = func.count(OutboxRow.parked_at)
        with self.database.session() as session:
            total, at_rest = session.execute(select(func.count(), parked)).one()
        return {"waiting": total - at_rest, "parked": at_rest}

    def waiting(self) -> list[WaitingTasks]:
        """List the tasks that wait for a worker, by name."""
        statement = (
            select(OutboxRow.task, func.min(OutboxRow.created_at))
            .where(OutboxRow.parked_at.is_(None), OutboxRow.runner.is_(None))
            .group_by(OutboxRow.task)
        )
        with self.database.session() as session:
            return [WaitingTasks(*row) for row in session.execute(statement)]

    def _wake_after(self, session: Session) -> None:
        def wake(_session: Session) -> None:
            for heard in self._listeners:
                heard.set()

        event.listen(session, "after_commit", wake, once=True)

    def _claim_with_retries(self, key: str) -> Claim | None:
        """Claim a task, however long the database is away: its message would return too late."""
        while True:
            try:
                return self._claim(key)
            except UnavailableError as error:
                _log.warning("outbox.unavailable", reason=str(error))
                time.sleep(RETRY_S)

    def _claim(self, key: str, *conditions: ColumnElement[bool]) -> Claim | None:
        now, runner = time.time(), str(uuid4())
        statement = (
            update(OutboxRow)
            .where(
                OutboxRow.key == key,
                OutboxRow.parked_at.is_(None),
                or_(OutboxRow.runner.is_(None), OutboxRow.due_at <= now),
                *conditions,
            )
            .values(runner=runner, attempts=OutboxRow.attempts + 1, due_at=now + self.lease_s)
            .returning(OutboxRow.task, OutboxRow.kwargs, OutboxRow.attempts, OutboxRow.trace_id)
        )
        with self.database.session() as session:
            row = session.execute(statement).one_or_none()
        if row is None:
            return None
        return Claim(key, row.task, runner, dict(row.kwargs), row.attempts, row.trace_id)

    def _attempt(self, claim: Claim, work: TaskFunction, on_parked: OnParked | None) -> str:
        """Run the task, whatever it raises, and return the outcome in one word."""
        try:
            work(**claim.kwargs)
            if not claim.finished:
                with self.database.session() as session:
                    self.finish(session)
        except LostClaimError:
            _log.warning("outbox.claim_lost", key=claim.key)
            return "lost"
        except PostponedError as error:
            self._retry_or_park(claim, error, on_parked)
            return "postponed"
        except FlowXpertError as error:  # expected: its words are enough
            reason = f"{error.name}: {error}"
            _log.warning("outbox.task_failed", key=claim.key, attempt=claim.attempts, reason=reason)
            self._retry_or_park(claim, error, on_parked)
            return "failed"
        except Exception as error:  # noqa: BLE001 - a task's entry point
            _log.exception("outbox.task_failed", key=claim.key, attempt=claim.attempts)
            self._retry_or_park(claim, error, on_parked)
            return "failed"
        return "done"

    def _retry_or_park(self, claim: Claim, error: Exception, on_parked: OnParked | None) -> None:
        """Schedule a retry after a pause, or park the task after its last attempt."""
        name = error.name if isinstance(error, FlowXpertError) else type(error).__name__
        reason = f"{name}: {error}"
        excused = isinstance(error, FlowXpertError) and error.retryable
        if claim.attempts >= self.max_attempts and not excused:
            self._park(claim, reason, on_parked)
            return
        pause = min(RETRY_S * 2 ** (claim.attempts - 1), LONGEST_PAUSE_S)
        attempts = max(1, claim.attempts - 1) if excused else claim.attempts
        if isinstance(error, PostponedError):
            pause, attempts = error.after_s, claim.attempts - 1
        values = {
            "runner": None,
            "reason": reason,
            "due_at": time.time() + pause,
            "attempts": attempts,
        }
        with self.database.session() as session:
            session.execute(update(OutboxRow).where(*_owned_by(claim)).values(values))

    def _park(self, claim: Claim, reason: str, on_parked: OnParked | None) -> None:
        values = {"parked_at": time.time(), "reason": reason, "runner": None}
        with self.database.session() as session:
            if (
                execute_and_count(
                    session, update(OutboxRow).where(*_owned_by(claim)).values(values)
                )
                == 0
            ):
                return
            if on_parked is not None:
                on_parked(session, claim.kwargs, reason)
        _log.error("outbox.task_parked", key=claim.key, reason=reason)


def _is_due() -> tuple[ColumnElement[bool], ...]:
    return OutboxRow.due_at <= time.time(), OutboxRow.parked_at.is_(None)


def _owned_by(claim: Claim) -> tuple[Any, ...]:
    return OutboxRow.key == claim.key, OutboxRow.runner == claim.runner
