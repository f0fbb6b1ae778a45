"""Resolved tickets become typical cases of the pages whose procedures they were given.

Only where the platform was sure, or an engineer answered about it, and nobody rejected it: a guess
that is archived would confirm itself. And only where somebody else than who brought the ticket
worked on it: whoever brings it writes its words. Ingestion keeps the cases; what is purged here
goes there.
"""

from collections.abc import Sequence

import structlog
from sqlalchemy import select

from services.contracts.clarification import ClarificationState
from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.ingestion import ForgetCases, Ingestion
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit, TicketStatus
from services.kit.observability.redaction import redact
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import load_teachers, record_teaching, ticket_subject
from services.kit.teaching.teacher import are_enough
from services.knowledge.model import ResolvedCase
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import CASE, Note, add_events, deliverer_of
from services.tickets.ticket.noise_reduction import reduce_noise
from services.tickets.ticket.queries import Queries, TicketNotFoundError
from services.tickets.ticket.queue import ARCHIVE_TASK, put_forgetting

TITLE_CHARACTERS = 200
TEXT_CHARACTERS = 600

_log = structlog.get_logger()


class TicketArchive:
    """Archive of resolved tickets, kept by ingestion. The same ticket again changes nothing."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        ingestion: Ingestion,
        queries: Queries,
        *,
        is_on: bool = True,
    ) -> None:
        """Archive nothing more if `is_on` is false; purged tickets are still forgotten."""
        self._is_on = is_on
        self._database = database
        self._outbox = outbox
        self._queries = queries
        self._ingestion = ingestion

    def put(self, ticket_id: str) -> None:
        """Queue a resolved ticket."""
        if not self._is_on:
            return
        with self._database.session() as session:
            key = f"{ARCHIVE_TASK}:{ticket_id}"
            self._outbox.put(session, ARCHIVE_TASK, {"ticket_id": ticket_id}, key)

    def run(self, ticket_id: str) -> None:
        """Archive the ticket if it has something to teach.

        Raises:
            UnavailableError: Ingestion did not answer.
        """
        case = self._case(ticket_id)
        if case is None or not self._may_teach(ticket_id) or not self._ingestion.archive(case).kept:
            return
        if not self._record(ticket_id, case.document_id):
            self.forget([ticket_id])
            return
        _log.info("gateway.archived", ticket_id=ticket_id)

    def _record(self, ticket_id: str, document_id: str) -> bool:
        """Record that the ticket is archived; return False if it was purged meanwhile."""
        mine = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id).with_for_update()
        with self._database.session() as session:
            ticket = session.execute(mine).first()
            if ticket is None:
                return False
            add_events(session, ticket_id, [Note("archived", {"document": document_id})])
            if ticket.resolved_at is None:  # somebody took it back meanwhile
                put_forgetting(session, self._outbox, [ticket_id])
            self._outbox.finish(session)
        return True

    def forget(self, ticket_ids: Sequence[str]) -> None:
        """Take the cases of purged tickets out; raises as `run` does."""
        self._ingestion.forget_cases(ForgetCases(ids=tuple(ticket_ids)))

    def _may_teach(self, ticket_id: str) -> bool:
        """Return True if who brought the ticket and who worked on it are enough to teach by it."""
        subject = ticket_subject(ticket_id)
        with self._database.session() as session:
            deliverer = deliverer_of(session, ticket_id)
            if deliverer is None or not record_teaching(session, CASE + ticket_id, deliverer):
                return False
            taught = load_teachers(session, [subject, CASE + ticket_id])
            return are_enough({*taught.on(subject), *taught.on(CASE + ticket_id)})

    def _case(self, ticket_id: str) -> ResolvedCase | None:
        try:
            ticket = self._queries.ticket(ticket_id)
        except TicketNotFoundError:  # it was purged meanwhile
            return None
        if ticket.status is not TicketStatus.PLANNED or not ticket.workflow_id:
            return None
        answered = (
            turn for turn in ticket.clarifications if turn.state is ClarificationState.ANSWERED
        )
        answers = [f"{turn.question} {turn.answer}" for turn in answered]
        return _case_of(ticket, self._queries.workflow(ticket.workflow_id), answers)


def _case_of(
    ticket: TicketDetail, stored: StoredWorkflow, answers: Sequence[str]
) -> ResolvedCase | None:
    origin = stored.workflow.provenance
    is_guess = stored.fit is not Fit.SURE and not answers
    if ticket.resolved_at is None or is_guess or origin is None or not origin.document_ids:
        return None
    kept = ScreenedTicket(ticket).for_model()
    title = kept.title or kept.alert_name
    return ResolvedCase(
        id=ticket.id,
        document_id=origin.document_ids[0],
        title=_line(title, TITLE_CHARACTERS),
        text=_line(reduce_noise(title, kept.description), TEXT_CHARACTERS),
        told=_line("; ".join(answers), TEXT_CHARACTERS),
        at=ticket.resolved_at.timestamp(),
    )


def _line(text: str, most: int) -> str:
    return " ".join(redact(text).split())[:most]
