"""Runs and their events in SQL: each addition is one transaction with its audit and its tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
from services.execution import metrics
from services.execution.event_store import EventStore, StoredWork
from services.execution.leases import LeaseKind
from services.execution.runs.events import (
    AUDITED,
    Event,
    NewEvent,
    QuestionKind,
    RunEventKind,
)
from services.execution.runs.failures import failed_commands
from services.execution.runs.run import Basis, Run
from services.execution.runs.state import STOPS_LATER, RunState, state_of
from services.execution.tables import (
    IntentRow,
    RunEventRow,
    RunRow,
    SuspensionRow,
    TargetLockRow,
)
from services.kit.access.audit import add_audit
from services.kit.access.caller import Caller
from services.kit.errors import ConflictError, FlowXpertError, NotFoundError
from services.kit.sql.database import execute_and_count
from services.kit.teaching.ledger import record_teaching, run_subject
from services.kit.teaching.recorded_callers import is_first_pair_of_eyes

ADVANCE_TASK = "executor.advance"
REPORT_TASK = "executor.report"


class RunNotFoundError(NotFoundError):
    """Error of an unknown run id."""


class RunMovedError(ConflictError):
    """Error of events that do not follow the latest one: load the run again."""


class LostRunError(FlowXpertError):
    """Error of a worker whose lease another has now: what it would add is void."""


class TargetTakenError(ConflictError):
    """Error of a target that another run has locked."""


@dataclass(frozen=True, kw_only=True)
class StoredRun(StoredWork[Event, RunState]):
    """A run with its events."""

    run: Run


class RunStore(EventStore[RunRow, Event, StoredRun, RunSummary]):
    """Store of the runs of one database, with the changes that they make."""

    kind = LeaseKind(
        "run", RunRow, ADVANCE_TASK, "run_id", RunMovedError, LostRunError, "executor.run_lost"
    )
    unknown = RunNotFoundError
    row = RunRow
    event_row = RunEventRow
    event = Event
    audited = AUDITED
    audited_facts = ("mode", "tool", "target", "digest", "option", "outcome", "step")
    report_task = REPORT_TASK

    # Reading

    def suspension(self) -> Suspended | None:
        """Return the suspension of all runs, if there is one."""
        with self._database.session() as session:
            row = session.scalar(select(SuspensionRow).limit(1))
        if row is None:
            return None
        return Suspended(by=row.by, why=row.why, at=datetime.fromtimestamp(row.at, UTC))

    def changes_since(self, target: str, since: float) -> int:
        """Count how often the target was changed, or may have been."""
        sent = (IntentRow.target == target, IntentRow.at >= since)
        was = IntentRow.state.in_(("sent", "observed", "unknown"))
        with self._database.session() as session:
            count = select(func.count()).select_from(IntentRow).where(*sent, was)
            return session.scalar(count) or 0

    def failed_commands(self, since: float) -> list[FailedCommand]:
        """Return commands of pages that failed since then; see `failures.failed_commands`."""
        return failed_commands(self._database, since)

    def is_first_pair_of_eyes(self, caller: Caller, id_: str, names: str) -> bool:
        """Tell whether a caller is who started a run or filled something in, by any key."""
        with self._database.session() as session:
            return is_first_pair_of_eyes(session, caller, id_, names)

    # Writing

    def start(self, run: Run, at: float) -> None:
        """Store a run with its first event, and queue it.

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
        stored = StoredRun(id=run.id, run=run, state=state_of(run, ()))
        started = NewEvent(RunEventKind.STARTED, facts=facts, by=run.requested_by)
        with self._database.session() as session:
            session.add(row)
            try:
                session.flush()
            except IntegrityError as error:
                raise RunMovedError(f"there is a run {run.id} already") from error
            self._add(session, stored, [started], at, wakes=True)
            if run.mode is not RunMode.DRY:
                record_teaching(session, run_subject(run.ticket.id))

    def prepare(
        self, stored: StoredRun, event: NewEvent, digest: str, at: float, *, driver: str
    ) -> None:
        """Record that a change is about to be sent, and lock its target.

        Raises:
            TargetTakenError: Another run has locked it.
            RunMovedError, LostRunError: See `append`.
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
            self.leases.fence(session, run.id, driver)
            session.execute(lock.on_conflict_do_nothing())
            holder = session.scalar(
                select(TargetLockRow.run_id).where(TargetLockRow.target == target)
            )
            if holder != run.id:
                raise TargetTakenError(f"the run {holder} changes {target}")
            key = (IntentRow.run_id, IntentRow.step, IntentRow.visit, IntentRow.digest)
            again = intent.on_conflict_do_update(
                index_elements=[each.name for each in key],
                set_={"state": "prepared", "at": at},
                where=IntentRow.state == "not sent",
            )
            session.execute(again)
            self._add(session, stored, [event], at, wakes=False)

    def send(
        self, stored: StoredRun, event: NewEvent, digest: str, at: float, *, driver: str
    ) -> None:
        """Record that the change is being sent; only the first caller may send it.

        Raises:
            RunMovedError: It was sent before, another event was added, or runs are suspended.
            LostRunError: See `append`.
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
            self.leases.fence(session, run.id, driver)
            if session.scalar(select(SuspensionRow.id).limit(1)) is not None:
                raise RunMovedError("all runs stand still")
            if execute_and_count(session, to_sent.values(state="sent", at=at)) != 1:
                raise RunMovedError("this change was sent before")
            self._add(session, stored, [event], at, wakes=False)

    def suspend(self, by: str, why: str, at: float) -> None:
        """Suspend all runs; what is being sent is not called back."""
        row = {"id": 1, "by": by, "why": why, "at": at}
        with self._database.session() as session:
            insert = self._database.insert(SuspensionRow).values(row)
            session.execute(insert.on_conflict_do_nothing())
            add_audit(session, "run.all_suspended", "runs")

    def release(self, at: float) -> None:
        """Release all runs from the suspension."""
        with self._database.session() as session:
            session.execute(delete(SuspensionRow))
            add_audit(session, "run.all_released", "runs")
            open_ = select(RunRow.id).where(RunRow.outcome.is_(None))
            for run_id in session.scalars(open_).all():
                self.leases.enqueue(session, run_id, f"released:{at}")

    def _stored(self, row: RunRow, events: Iterable[Event]) -> StoredRun:
        events = tuple(events)
        run = _revised(Run.model_validate(row.run), events)
        return StoredRun(
            id=row.id,
            run=run,
            events=events,
            state=state_of(run, events),
            waits_until=row.waits_until,
            waits_for=row.waits_for,
        )

    def _follow(self, stored: StoredRun, events: Sequence[Event]) -> StoredRun:
        run, events = _revised(stored.run, events), (*stored.events, *events)
        return replace(stored, run=run, events=events, state=state_of(run, events))

    def _columns(
        self, session: Session, stored: StoredRun, added: Sequence[Event]
    ) -> dict[str, Any]:
        """Count events, update the states of sent changes, and unlock the targets at the end."""
        for event in added:
            if event.kind is RunEventKind.DECIDED:
                metrics.DECISIONS.labels(event.facts["by"]).inc()
            if event.kind in {RunEventKind.APPROVED, RunEventKind.DENIED, RunEventKind.EXPIRED}:
                metrics.APPROVALS.labels(event.kind.value).inc()
            if event.kind in _INTENT_STATES:
                digest = event.facts.get("digest")  # without one it is what was being sent
                is_sent = IntentRow.digest == digest if digest else IntentRow.state == "sent"
                place = (IntentRow.step == event.step, IntentRow.visit == event.visit)
                mine = update(IntentRow).where(IntentRow.run_id == stored.id, *place, is_sent)
                session.execute(mine.values(state=_INTENT_STATES[event.kind]))
            if event.kind in {RunEventKind.ENDED, RunEventKind.TAKEN_OVER}:
                session.execute(delete(TargetLockRow).where(TargetLockRow.run_id == stored.id))
                metrics.RUNS.labels(str(stored.state.outcome)).inc()
            is_put_off = event.facts.get("what") == QuestionKind.DO.value
            if event.kind is RunEventKind.QUESTION_RAISED and is_put_off:
                # A person takes their time, and nothing was sent: others may have the target.
                changed = {
                    each.target
                    for each in stored.state.changes.values()
                    if each.status is not RunEventKind.NOT_SENT
                }
                of_run = delete(TargetLockRow).where(TargetLockRow.run_id == stored.id)
                session.execute(of_run.where(TargetLockRow.target.not_in(changed)))
        return {"waits_for": STOPS_LATER} if stored.state.later_end else {}

    def _summary(self, row: RunRow) -> RunSummary:
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


def _revised(run: Run, events: Iterable[Event]) -> Run:
    for event in events:
        if event.kind is RunEventKind.REVISED:
            run = run.revised(Basis.model_validate(event.facts))
    return run


_INTENT_STATES = {
    RunEventKind.CHANGED: "observed",
    RunEventKind.NOT_SENT: "not sent",
    RunEventKind.UNKNOWN: "unknown",
}
"""States of a sent change, by the events that tell how it ended."""
