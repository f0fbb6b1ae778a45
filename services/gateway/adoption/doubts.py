"""Steps that were rejected or corrected on a ticket are doubts of the readings they came from.

Ingestion keeps them. It is told by a task of the outbox, which looks how the step stands by then:
what is told twice, or late, comes to the same, and nothing is lost while ingestion does not answer.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement
from services.contracts.ingestion import Ingestion
from services.contracts.readings import DoubtReport, DoubtWithdrawal
from services.gateway.adoption.lineage import Lineage, lineage_of, stored_workflow
from services.gateway.tables import MarkRow, WorkflowRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.queries import WorkflowNotFoundError
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.workflow.model import Step

DOUBT_TASK = "gateway.tell_doubt"


def put_doubt(session: Session, outbox: Outbox, line: Lineage, step_id: str) -> None:
    """Queue, in the caller's transaction, that ingestion is told how a step stands by then.

    Each time under a key of its own: a task that is on its way may have looked already.
    """
    key = f"{DOUBT_TASK}:{line.candidate_id}:{time_ordered_id()}"
    arguments = {
        "ticket_id": line.ticket_id,
        "candidate_id": line.candidate_id,
        "step_id": step_id,
    }
    outbox.put(session, DOUBT_TASK, arguments, key)


class Doubts:
    """Tells ingestion."""

    def __init__(self, database: Database, outbox: Outbox, ingestion: Ingestion) -> None:
        self._database = database
        self._outbox = outbox
        self._ingestion = ingestion

    def tell(self, ticket_id: str, candidate_id: str, step_id: str) -> None:
        """Tell how the step of a candidate stands: in doubt, or not any more.

        Raises:
            UnavailableError: Ingestion did not answer.
        """
        report = self._report(candidate_id, step_id)
        if report is None:
            gone = DoubtWithdrawal(tickets=(ticket_id,), step=step_id)
            self._ingestion.withdraw_doubts(gone)
            return
        if not self._ingestion.doubt(report).kept:
            return
        with self._database.session() as session:
            facts: dict[str, object] = {"step": step_id, "document": report.document_id}
            add_events(session, ticket_id, [Note("doubted", facts)])
            self._outbox.finish(session)

    def withdraw(self, ticket_ids: Sequence[str]) -> None:
        """Take the doubts of purged tickets out; raises as `tell` does."""
        self._ingestion.withdraw_doubts(DoubtWithdrawal(tickets=tuple(ticket_ids)))

    def _report(self, candidate_id: str, step_id: str) -> DoubtReport | None:
        """Return None where nobody finds the step wrong, or where it comes from no reading."""
        with self._database.session() as session:
            try:
                line = lineage_of(session, candidate_id)
            except WorkflowNotFoundError:  # it was purged meanwhile
                return None
            step = stored_workflow(session, candidate_id).by_id.get(step_id)
            if step is None or step.block or not step.citations:
                return None
            mark = session.get(MarkRow, (candidate_id, step_id))
            if mark is not None and mark.verdict == Judgement.REJECTED:
                at = mark.judged_at or 0.0
                word, by = mark.word, mark.judged_by
                return _report(line, step, instead="", word=word, by=by, at=at)
            now = stored_workflow(session, line.latest_id).by_id.get(step_id, step)
            if (now.text, now.commands) == (step.text, step.commands):
                return None
            row = session.get_one(WorkflowRow, line.latest_id)
            word = mark.word if mark else ""
            told, at = _told(now), row.created_at
            return _report(line, step, instead=told, word=word, by=row.author, at=at)


def _report(
    line: Lineage, step: Step, *, instead: str, word: str, by: str, at: float
) -> DoubtReport:
    return DoubtReport(
        ticket=line.ticket_id,
        step=step.id,
        document_id=step.citations[0].document_id,
        node=step.node,
        text=_told(step),
        instead=instead,
        word=word,
        by=by,
        at=datetime.fromtimestamp(at, UTC),
    )


def _told(step: Step) -> str:
    """A step in one line, with its commands."""
    return ": ".join(filter(None, (step.text, "; ".join(step.commands))))
