"""Runs and their events in SQL: each addition is one transaction with its audit lines and tasks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.contracts.execution import (
    FailedCommand,
    RunMode,
    RunOutcome,
    RunPhase,
    RunSummary,
    Suspended,
)
from services.executor import metrics
from services.executor.driving import Driven, Driving
from services.executor.runs.events import AUDITED, Event, Kind
from services.executor.runs.failures import failed_commands
from services.executor.runs.moves import NewEvent
from services.executor.runs.run import Run
from services.executor.runs.state import RunState, state_of
from services.executor.tables import (
    IntentRow,
    RunEventRow,
    RunRow,
    SuspensionRow,
    TargetLockRow,
)
from services.kit.access.audit import add_audit
from services.kit.errors import ConflictError, FlowXpertError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.sql.rows import changed
from services.kit.value import Value

ADVANCE_TASK = "executor.advance"
REPORT_TASK = "executor.report"


class RunNotFoundError(NotFoundError):
    """There is no run of that id."""


class RunMovedError(ConflictError):
    """Something else happened in the run meanwhile: look again."""


class LostRunError(FlowXpertError):
    """Another worker drives the run now: what this one would add is void."""


class TargetTakenError(ConflictError):
    """Another run changes the target."""


_DRIVEN = Driven("run", RunRow, ADVANCE_TASK, "run_id", RunMovedError, LostRunError)


class StoredRun(Value):
    """A run with its events."""

    run: Run
    events: tuple[Event, ...]
    waits_until: float | None = None
    waits_for: str = ""

    @property
    def state(self) -> RunState:
        """How far it has come."""
        return state_of(self.run, self.events)


class RunStore:
    """The runs of one database; safe to share between threads and processes."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self.driving = Driving(database, outbox, _DRIVEN)

    # Reading

    def load(self, run_id: str) -> StoredRun:
        """Raises `RunNotFoundError`."""
        events = select(RunEventRow).where(RunEventRow.run_id == run_id).order_by(RunEventRow.seq)
        with self._database.session() as session:
            row = session.get(RunRow, run_id)
            if row is None:
                raise RunNotFoundError(f"there is no run {run_id!r}")
            return StoredRun(
                run=Run.model_validate(row.run),
                events=tuple(_event(each) for each in session.scalars(events)),
                waits_until=row.waits_until,
                waits_for=row.waits_for,
            )

    def of_ticket(self, ticket_id: str, *, most: int = 50) -> list[RunSummary]:
        """Its runs, the latest first."""
        mine = select(RunRow).where(RunRow.ticket_id == ticket_id)
        with self._database.session() as session:
            rows = session.scalars(mine.order_by(RunRow.created_at.desc()).limit(most))
            return [_summary(row) for row in rows]

    def latest(self, *, most: int = 50) -> list[RunSummary]:
        """Runs: those that are not over before the others, the latest first."""
        newest = (RunRow.outcome.is_not(None), RunRow.created_at.desc())
        with self._database.session() as session:
            rows = session.scalars(select(RunRow).order_by(*newest).limit(most))
            return [_summary(row) for row in rows]

    def suspension(self) -> Suspended | None:
        """Whether all runs stand still."""
        with self._database.session() as session:
            row = session.scalar(select(SuspensionRow).limit(1))
        if row is None:
            return None
        return Suspended(by=row.by, why=row.why, at=datetime.fromtimestamp(row.at, UTC))

    def changes_since(self, target: str, since: float) -> int:
        """How often the target was changed, or may have been."""
        sent = (IntentRow.target == target, IntentRow.at >= since)
        was = IntentRow.state.in_(("sent", "observed", "unknown"))
        with self._database.session() as session:
            count = select(func.count()).select_from(IntentRow).where(*sent, was)
            return session.scalar(count) or 0

    def failed_commands(self, since: float) -> list[FailedCommand]:
        """Of pages, in runs of these events; see `failures.failed_commands`."""
        return failed_commands(self._database, since)

    # Writing

    def start(self, run: Run, at: float) -> None:
        """Keep a run with its first event, and have it driven.

        Raises:
            RunMovedError: There is a run of its id.
        """
        row = RunRow(
            id=run.id,
            ticket_id=run.ticket.id,
            run=run.model_dump(mode="json"),
            phase="running",
            outcome=None,
            waits_until=None,
            waits_for="",
            created_at=at,
            ended_at=None,
        )
        facts = {"mode": run.mode.value, "workflow": run.workflow_id}
        with self._database.session() as session:
            session.add(row)
            try:
                session.flush()
            except IntegrityError as error:
                raise RunMovedError(f"there is a run {run.id} already") from error
            started = [NewEvent(Kind.STARTED, facts=facts, by=run.requested_by)]
            self._add(session, run, 0, started, at)

    def append(
        self, stored: StoredRun, events: Sequence[NewEvent], at: float, *, driver: str | None = None
    ) -> None:
        """Add what follows from the events that `stored` has.

        Raises:
            RunMovedError: It has others by now.
            LostRunError: `driver` does not drive it any more.
        """
        with self._database.session() as session:
            self.driving.fence(session, stored.run.id, driver)
            self._add(session, stored.run, _last(stored), events, at, wakes=driver is None)

    def record(self, run: Run, event: NewEvent, at: float) -> None:
        """Add what was seen, whatever else has happened meanwhile."""
        while True:
            try:
                with self._database.session() as session:
                    newest = select(func.max(RunEventRow.seq)).where(RunEventRow.run_id == run.id)
                    self._came(session, run, event)
                    self._add(session, run, session.scalar(newest) or 0, [event], at, wakes=False)
            except RunMovedError:
                continue
            return

    def prepare(
        self, stored: StoredRun, event: NewEvent, digest: str, at: float, *, driver: str
    ) -> None:
        """Note that a change is about to be sent, and take its target.

        Raises:
            TargetTakenError: Another run has it.
            RunMovedError, LostRunError: As of `append`.
        """
        run, target = stored.run, str(event.facts["target"])
        lock = self._database.insert(TargetLockRow).values(target=target, run_id=run.id, at=at)
        intent = self._database.insert(IntentRow).values(
            run_id=run.id,
            step=event.place[0],
            visit=event.place[1],
            digest=digest,
            target=target,
            state="prepared",
            at=at,
        )
        with self._database.session() as session:
            self.driving.fence(session, run.id, driver)
            session.execute(lock.on_conflict_do_nothing())
            holder = session.scalar(
                select(TargetLockRow.run_id).where(TargetLockRow.target == target)
            )
            if holder != run.id:
                raise TargetTakenError(f"the run {holder} changes {target}")
            session.execute(intent.on_conflict_do_nothing())
            self._add(session, run, _last(stored), [event], at, wakes=False)

    def send(
        self, stored: StoredRun, event: NewEvent, digest: str, at: float, *, driver: str
    ) -> None:
        """Note that it is being sent; whoever comes here second does not send it.

        Raises:
            RunMovedError: It was sent before, or something happened meanwhile, or runs stand still.
            LostRunError: As of `append`.
        """
        run = stored.run
        mine = (
            IntentRow.run_id == run.id,
            IntentRow.step == event.place[0],
            IntentRow.visit == event.place[1],
            IntentRow.digest == digest,
        )
        to_sent = update(IntentRow).where(*mine, IntentRow.state == "prepared")
        with self._database.session() as session:
            self.driving.fence(session, run.id, driver)
            if session.scalar(select(SuspensionRow.id).limit(1)) is not None:
                raise RunMovedError("all runs stand still")
            if changed(session, to_sent.values(state="sent", at=at)) != 1:
                raise RunMovedError("this change was sent before")
            self._add(session, run, _last(stored), [event], at, wakes=False)

    def suspend(self, by: str, why: str, at: float) -> None:
        """Let all runs stand still; what is being sent is not called back."""
        row = {"id": 1, "by": by, "why": why, "at": at}
        with self._database.session() as session:
            insert = self._database.insert(SuspensionRow).values(row)
            session.execute(insert.on_conflict_do_nothing())
            add_audit(session, "run.all_suspended", "runs", after={"why": why[:200]})

    def release(self, at: float) -> None:
        """Let them go on."""
        with self._database.session() as session:
            session.execute(delete(SuspensionRow))
            add_audit(session, "run.all_released", "runs")
            open_ = select(RunRow.id).where(RunRow.outcome.is_(None))
            for run_id in session.scalars(open_).all():
                self.driving.wake(session, run_id, f"released:{at}")

    def _came(self, session: Session, run: Run, event: NewEvent) -> None:
        """What became of a change that was sent."""
        came = {Kind.CHANGED: "observed", Kind.NOT_SENT: "not sent", Kind.UNKNOWN: "unknown"}
        if event.kind in came:
            mine = (
                IntentRow.run_id == run.id,
                IntentRow.step == event.place[0],
                IntentRow.visit == event.place[1],
            )
            session.execute(update(IntentRow).where(*mine).values(state=came[event.kind]))

    def _add(
        self,
        session: Session,
        run: Run,
        after: int,
        events: Sequence[NewEvent],
        at: float,
        *,
        wakes: bool = True,
    ) -> None:
        rows = [
            RunEventRow(
                run_id=run.id,
                seq=seq,
                kind=event.kind.value,
                at=at,
                by=event.by,
                step=event.place[0],
                visit=event.place[1],
                facts=dict(event.facts),
            )
            for seq, event in enumerate(events, after + 1)
        ]
        for event in events:
            if event.kind in AUDITED:
                told = {k: event.facts[k] for k in _TOLD if k in event.facts}
                told |= {"step": event.place[0]} if event.place[0] else {}
                add_audit(session, f"run.{event.kind.value}", f"run {run.id}", after=told)
        self.driving.add(session, run.id, rows)
        self._follow(session, run, events, at)
        if wakes:
            self.driving.wake(session, run.id, str(after + len(events)))

    def _follow(self, session: Session, run: Run, events: Sequence[NewEvent], at: float) -> None:
        """The row, the locks and the report follow from the events."""
        rows = select(RunEventRow).where(RunEventRow.run_id == run.id).order_by(RunEventRow.seq)
        state = state_of(run, (_event(row) for row in session.scalars(rows)))
        values: dict[str, Any] = {"phase": state.phase.value, "waits_until": None, "waits_for": ""}
        for event in events:
            _count(event)
        if state.outcome is not None and any(e.kind in _ENDS for e in events):
            values |= {"outcome": state.outcome.value, "ended_at": at, "waits_for": state.why}
            session.execute(delete(TargetLockRow).where(TargetLockRow.run_id == run.id))
            key = f"{REPORT_TASK}:{run.id}"
            self._outbox.put(session, REPORT_TASK, {"run_id": run.id}, key)
            metrics.RUNS.labels(state.outcome.value).inc()
        session.execute(update(RunRow).where(RunRow.id == run.id).values(values))


_ENDS = frozenset({Kind.ENDED, Kind.TAKEN_OVER})
_TOLD = ("mode", "tool", "target", "digest", "option", "outcome", "why")
"""Of an event's facts, in the audit log."""


def _summary(row: RunRow) -> RunSummary:
    run = row.run
    return RunSummary(
        id=row.id,
        ticket_id=row.ticket_id,
        ticket_title=run["ticket"]["title"],
        title=run["workflow"]["title"],
        mode=RunMode(run["mode"]),
        phase=RunPhase(row.phase),
        outcome=RunOutcome(row.outcome) if row.outcome else None,
        why=row.waits_for,
        requested_by=run["requested_by"],
        requested_at=run["requested_at"],
    )


def _count(event: NewEvent) -> None:
    if event.kind is Kind.DECIDED:
        metrics.DECISIONS.labels(event.facts["by"]).inc()
    if event.kind in {Kind.APPROVED, Kind.DENIED, Kind.EXPIRED}:
        metrics.APPROVALS.labels(event.kind.value).inc()


def _last(stored: StoredRun) -> int:
    return stored.events[-1].seq if stored.events else 0


def _event(row: RunEventRow) -> Event:
    return Event(
        seq=row.seq,
        kind=Kind(row.kind),
        at=row.at,
        by=row.by,
        step=row.step,
        visit=row.visit,
        facts=row.facts,
    )
