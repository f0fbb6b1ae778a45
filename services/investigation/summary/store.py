"""Summaries in SQL: each change is one transaction with its audit line and its tasks."""

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.contracts.proposals import SourceRun
from services.contracts.summaries import SummaryState
from services.execution.bindings.binding import Binding
from services.execution.bindings.store import BindingStore
from services.execution.runs.store import StoredRun
from services.execution.tables import BindingRow, SummaryRow
from services.investigation.summary.summarise import MeasuredWorkflow, Summary
from services.investigation.summary.trace import Trace, trace_of
from services.kit.access.audit import add_audit
from services.kit.errors import ConflictError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, execute_and_count
from services.kit.tables import OutboxRow
from services.kit.teaching.ledger import run_subject, teacher_of
from services.kit.teaching.recorded_callers import caller_of_id
from services.kit.value import Value

DRAW_TASK = "executor.draw_summary"
PROPOSE_TASK = "executor.propose_summary"


class SummaryNotFoundError(NotFoundError):
    """Error of an unknown summary key."""


class NotProposableError(ConflictError):
    """Error of a summary in which nothing was learned that could be proposed."""


class ProposalRef(Value):
    """Reference to the proposal of a page."""

    id: str
    document_id: str


class StoredSummary(Value):
    """A summary as it is stored."""

    key: str
    title: str
    state: SummaryState
    runs: tuple[SourceRun, ...]
    traces: tuple[Trace, ...]
    workflows: tuple[MeasuredWorkflow, ...]
    refused: tuple[str, ...]
    proposals: tuple[ProposalRef, ...]
    by: str
    proposed_by: str
    at: datetime


class SummaryStore:
    """Store of the summaries of one database."""

    def __init__(self, database: Database, outbox: Outbox, bindings: BindingStore) -> None:
        self._database = database
        self._outbox = outbox
        self._bindings = bindings

    def load(self, key: str) -> StoredSummary:
        """Return a summary.

        Raises:
            SummaryNotFoundError: There is none of this key.
        """
        with self._database.session() as session:
            row = session.get(SummaryRow, key)
            if row is None:
                raise SummaryNotFoundError(f"there is no summary {key!r}")
            return _stored(row)

    def with_teachers(self, runs: Sequence[StoredRun]) -> list[Trace]:
        """Return the traces of runs, each with the teacher that whoever started it counts as.

        What is taken back is left out.
        """
        traces = []
        with self._database.session() as session:
            for each in runs:
                run = each.run
                caller = caller_of_id(session, run.requested_by_id, run.requested_by)
                subject, at = run_subject(run.ticket.id), run.requested_at.timestamp()
                teacher = teacher_of(session, subject, caller, at)
                if teacher is not None:
                    traces.append(trace_of(each).model_copy(update={"teacher": teacher}))
        return traces

    def exists(self, key: str) -> bool:
        """Return True if there is a summary of this key."""
        with self._database.session() as session:
            return session.get(SummaryRow, key) is not None

    def of_tickets(self, ticket_ids: Collection[str]) -> list[StoredSummary]:
        """Return the summaries in which runs of these tickets are."""
        with self._database.session() as session:
            rows = session.scalars(select(SummaryRow))
            return [
                _stored(row)
                for row in rows
                if any(run["ticket_id"] in ticket_ids for run in row.runs)
            ]

    def forget(self, key: str, bindings: Collection[str]) -> None:
        """Delete a summary with its tasks, and these bindings as far as nobody approved them."""
        tasks = [f"{task}:{key}" for task in (DRAW_TASK, PROPOSE_TASK)]
        learned = (BindingRow.step_key.in_(bindings), BindingRow.by == "")
        with self._database.session() as session:
            session.execute(delete(SummaryRow).where(SummaryRow.key == key))
            session.execute(delete(OutboxRow).where(OutboxRow.key.in_(tasks)))
            session.execute(delete(BindingRow).where(*learned))

    def keep(
        self,
        key: str,
        title: str,
        runs: Sequence[SourceRun],
        traces: Sequence[Trace],
        summary: Summary,
        *,
        by: str,
        draws: bool,
    ) -> None:
        """Store what was learned, unless it exists; with `draws` a model is asked too."""
        state = SummaryState.DRAWING if draws else _state(summary)
        row = {
            "key": key,
            "title": title,
            "state": state.value,
            "runs": [each.model_dump(mode="json") for each in runs],
            "traces": [each.model_dump(mode="json") for each in traces],
            **_outcome_columns(summary),
            "proposals": [],
            "by": by,
            "proposed_by": "",
            "at": time.time(),
        }
        statement = (
            self._database.insert(SummaryRow)
            .values(row)
            .on_conflict_do_nothing(index_elements=["key"])
            .returning(SummaryRow.key)
        )
        with self._database.session() as session:
            if session.scalar(statement) is None:
                return
            counts = {"runs": len(runs), "pages": len(summary.workflows)}
            add_audit(session, "summary.made", f"summary {key[:32]}", after=counts)
            if draws:
                self._outbox.put(session, DRAW_TASK, {"key": key}, f"{DRAW_TASK}:{key}")

    def draw(self, key: str, summary: Summary) -> None:
        """Store what the model's drawing added, and end the task."""
        values = {"state": _state(summary).value, **_outcome_columns(summary)}
        is_drawing = (SummaryRow.key == key, SummaryRow.state == SummaryState.DRAWING.value)
        with self._database.session() as session:
            session.execute(update(SummaryRow).where(*is_drawing).values(values))
            self._outbox.finish(session)

    def stop_drawing(self, session: Session, arguments: Mapping[str, Any], _reason: str) -> None:
        """Keep what the rules learned, and stop waiting for a model that could not be asked."""
        row = session.get(SummaryRow, arguments["key"])
        if row is not None and row.state == SummaryState.DRAWING.value:
            row.state = (SummaryState.LEARNED if row.found else SummaryState.REFUSED).value

    def queue_proposal(self, key: str, by: str) -> None:
        """Queue the proposal of the pages, once; a model's answer after that comes too late.

        Raises:
            NotProposableError: There is none.
        """
        states = (SummaryState.LEARNED.value, SummaryState.DRAWING.value)
        if not self.load(key).workflows:
            raise NotProposableError(f"nothing was learned in {key!r} that could be proposed")
        is_learned = (SummaryRow.key == key, SummaryRow.state.in_(states))
        to_proposing = update(SummaryRow).where(*is_learned)
        values = {"state": SummaryState.PROPOSING.value, "proposed_by": by}
        with self._database.session() as session:
            if execute_and_count(session, to_proposing.values(values)) == 1:
                add_audit(session, "summary.proposed", f"summary {key[:32]}")
                self._outbox.put(session, PROPOSE_TASK, {"key": key}, f"{PROPOSE_TASK}:{key}")

    def propose(
        self,
        key: str,
        proposals: Sequence[ProposalRef],
        bindings: Mapping[str, Binding],
        digests: Mapping[str, str],
    ) -> None:
        """Store the references of the proposals and the bindings of their steps; end the task."""
        refs = [each.model_dump() for each in proposals]
        values = {"state": SummaryState.PROPOSED.value, "proposals": refs}
        with self._database.session() as session:
            session.execute(update(SummaryRow).where(SummaryRow.key == key).values(values))
            self._bindings.learn(session, bindings, digests)
            self._outbox.finish(session)

    def give_up_proposing(
        self, session: Session, arguments: Mapping[str, Any], _reason: str
    ) -> None:
        """Let the proposal be requested again."""
        row = session.get(SummaryRow, arguments["key"])
        if row is not None and row.state == SummaryState.PROPOSING.value:
            row.state = SummaryState.LEARNED.value


def _state(summary: Summary) -> SummaryState:
    return SummaryState.LEARNED if summary.workflows else SummaryState.REFUSED


def _outcome_columns(summary: Summary) -> dict[str, Any]:
    return {
        "found": [each.model_dump(mode="json") for each in summary.workflows],
        "refused": list(summary.refused),
    }


def _stored(row: SummaryRow) -> StoredSummary:
    return StoredSummary(
        key=row.key,
        title=row.title,
        state=SummaryState(row.state),
        runs=tuple(SourceRun.model_validate(each) for each in row.runs),
        traces=tuple(Trace.model_validate(each) for each in row.traces),
        workflows=tuple(MeasuredWorkflow.model_validate(each) for each in row.found),
        refused=tuple(row.refused),
        proposals=tuple(ProposalRef.model_validate(each) for each in row.proposals),
        by=row.by,
        proposed_by=row.proposed_by,
        at=datetime.fromtimestamp(row.at, UTC),
    )
