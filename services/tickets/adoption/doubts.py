"""Doubts about readings: the steps of theirs that were rejected or corrected on a ticket.

Ingestion keeps them. An outbox task reports each one with the state that the step has by then:
reports sent twice or late come to the same, and none is lost while ingestion does not answer.
"""

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement
from services.contracts.ingestion import Ingestion
from services.contracts.readings import DoubtReport, DoubtWithdrawal
from services.contracts.retrieval import Retrieval
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import load_teachers, ticket_subject
from services.kit.teaching.teacher import is_person
from services.tickets.adoption.step_feedback import Lineage, lineage_of, stored_workflow
from services.tickets.page_texts import PageTexts
from services.tickets.parameters import TicketValues
from services.tickets.tables import MarkRow, TicketRow, WorkflowRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.queries import WorkflowNotFoundError
from services.workflow.model import Step

DOUBT_TASK = "gateway.tell_doubt"


def queue_doubt(session: Session, outbox: Outbox, line: Lineage, step_id: str) -> None:
    """Queue, in the caller's transaction, a report to ingestion on how a step stands by then.

    Each report has a key of its own: a task already on its way may have read the older state.
    """
    key = f"{DOUBT_TASK}:{line.candidate_id}:{time_ordered_id()}"
    arguments = {
        "ticket_id": line.ticket_id,
        "candidate_id": line.candidate_id,
        "step_id": step_id,
    }
    outbox.put(session, DOUBT_TASK, arguments, key)


class DoubtReporter:
    """Reporter of doubtful steps to ingestion."""

    def __init__(
        self, database: Database, outbox: Outbox, ingestion: Ingestion, retrieval: Retrieval
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._ingestion = ingestion
        self._retrieval = retrieval

    def report(self, ticket_id: str, candidate_id: str, step_id: str) -> None:
        """Report the step of a candidate to ingestion: in doubt, or no longer so.

        The report has no value of the ticket in it: people read it on tickets of others.

        Raises:
            UnavailableError: Ingestion did not answer.
        """
        raw = self._report(candidate_id, step_id)
        report = self._without_values(raw) if raw else None
        if report is None:
            gone = DoubtWithdrawal(tickets=(ticket_id,), step=step_id)
            self._ingestion.withdraw_doubts(gone)
            return
        if not self._ingestion.doubt(report).kept:
            return
        with self._database.session() as session:
            facts: dict[str, object] = {"step": step_id, "document": report.document_id}
            is_there = session.get(TicketRow, ticket_id, with_for_update=True) is not None
            if is_there:
                add_events(session, ticket_id, [Note("doubted", facts)])
            self._outbox.finish(session)
        if not is_there:  # it was purged meanwhile
            self._ingestion.withdraw_doubts(DoubtWithdrawal(tickets=(ticket_id,), step=step_id))

    def _report(self, candidate_id: str, step_id: str) -> DoubtReport | None:
        """Build the report; None if no person finds it wrong, or it comes from no reading."""
        with self._database.session() as session:
            try:
                line = lineage_of(session, candidate_id)
            except WorkflowNotFoundError:  # it was purged meanwhile
                return None
            step = stored_workflow(session, candidate_id).by_id.get(step_id)
            if step is None or step.block or not step.citations:
                return None
            mark = session.get(MarkRow, (candidate_id, step_id))
            subject = ticket_subject(line.ticket_id)
            teachers = load_teachers(session, [subject])
            if mark is not None and mark.verdict == Judgement.REJECTED:
                at = mark.judged_at or 0.0
                word, by = mark.word, mark.judged_by
                report = _report(line, step, instead="", word=word, by=by, at=at)
                return report if is_person(teachers.of(subject, by)) else None
            now = stored_workflow(session, line.latest_id).by_id.get(step_id, step)
            row = session.get_one(WorkflowRow, line.latest_id)
            is_same = (now.text, now.commands) == (step.text, step.commands)
            if is_same or not is_person(teachers.of(subject, row.author)):
                return None
            word = mark.word if mark else ""
            correction, at = _one_line(now), row.created_at
            return _report(line, step, instead=correction, word=word, by=row.author, at=at)

    def _without_values(self, report: DoubtReport) -> DoubtReport | None:
        """Return the report with parameters for the ticket's values; None if nothing is left of it.

        Nothing is left of a correction that only filled values in, or if the ticket was purged.
        """
        page = PageTexts(self._retrieval).of([report.document_id])
        with self._database.session() as session:
            ticket = session.get(TicketRow, report.ticket)
            if ticket is None:
                return None
            values = TicketValues.of(ticket, page)
        texts = {"text": report.text, "instead": report.instead, "word": report.word}
        safe = {name: values.parameterise(text) for name, text in texts.items()}
        return report.model_copy(update=safe) if safe["instead"] != safe["text"] else None


def _report(
    line: Lineage, step: Step, *, instead: str, word: str, by: str, at: float
) -> DoubtReport:
    return DoubtReport(
        ticket=line.ticket_id,
        step=step.id,
        document_id=step.citations[0].document_id,
        node=step.node,
        text=_one_line(step),
        instead=instead,
        word=word,
        by=by,
        at=datetime.fromtimestamp(at, UTC),
    )


def _one_line(step: Step) -> str:
    """Render a step in one line, with its commands."""
    return ": ".join(filter(None, (step.text, "; ".join(step.commands))))
