"""Teaching of callers: listed, taken back, and let count again; what rests on it is made anew."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.teaching import TeacherSummary, TeachingWithdrawal
from services.kit.batches import batches
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import TeachingLedger, ticket_subject
from services.tickets.adoption.doubts import queue_doubt
from services.tickets.adoption.step_feedback import lineage_of, stored_workflow
from services.tickets.tables import AdoptionRow, EventRow, WorkflowRow
from services.tickets.ticket.events import CASE
from services.tickets.ticket.queue import put_archiving, put_forgetting


class TeachingService:
    """Implementation of `contracts.teaching.Teaching`.

    What is derived when it is shown follows at once; typical cases and doubts within moments, and
    learned numbers when they are next learned.
    """

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._outbox = outbox
        self._ledger = TeachingLedger(database)

    def teachers(self) -> list[TeacherSummary]:
        """See `Teaching.teachers`."""
        return [TeacherSummary(**vars(each)) for each in self._ledger.counts()]

    def withdraw(self, withdrawal: TeachingWithdrawal) -> list[TeacherSummary]:
        """See `Teaching.withdraw`."""
        with self._database.session() as session:
            tickets = _tickets_of(self._ledger.withdraw(session, withdrawal.caller))
            put_forgetting(session, self._outbox, tickets)
            self._queue_doubts(session, tickets)
        return self.teachers()

    def restore(self, caller: str) -> list[TeacherSummary]:
        """See `Teaching.restore`."""
        with self._database.session() as session:
            tickets = _tickets_of(self._ledger.restore(session, caller))
            put_archiving(session, self._outbox, tickets)
            self._queue_doubts(session, tickets)
        return self.teachers()

    def _queue_doubts(self, session: Session, tickets: Collection[str]) -> None:
        """Queue a new report of each step of these tickets that was reported as doubtful."""
        for some in batches(sorted(tickets)):
            doubted = select(EventRow.ticket_id, EventRow.facts).where(
                EventRow.ticket_id.in_(some), EventRow.kind == "doubted"
            )
            steps: dict[str, set[str]] = {}
            for ticket_id, facts in session.execute(doubted):
                steps.setdefault(ticket_id, set()).add(str(facts["step"]))
            candidates = (
                select(WorkflowRow.id, WorkflowRow.ticket_id)
                .join(AdoptionRow, AdoptionRow.candidate_id == WorkflowRow.id)
                .where(WorkflowRow.ticket_id.in_(steps))
            )
            for id_, ticket_id in session.execute(candidates).all():
                for step in steps[ticket_id] & stored_workflow(session, id_).by_id.keys():
                    queue_doubt(session, self._outbox, lineage_of(session, id_), step)


def _tickets_of(subjects: Collection[str]) -> set[str]:
    prefixes = (ticket_subject(""), CASE)
    return {each.removeprefix(p) for each in subjects for p in prefixes if each.startswith(p)}
