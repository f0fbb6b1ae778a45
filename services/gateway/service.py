"""The gateway's work: taking tickets in, and telling what became of them."""

import asyncio
import hashlib
import re
import threading
import time
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool

from services.contracts.clarification import Clarification, ClarificationAnswer
from services.contracts.gateway import (
    Accepted,
    CandidateSummary,
    ProgressEvent,
    SourceLines,
    StoredWorkflow,
    Taking,
    TicketDetail,
    TicketPage,
    TicketQuery,
)
from services.contracts.retrieval import Retrieval
from services.contracts.ticket import Fit, TicketStatus
from services.gateway.adoption.holding import give_back, take
from services.gateway.clarify.answering import Answering
from services.gateway.intake.accepting import Intake
from services.gateway.intake.idempotency import DeliveryKey
from services.gateway.intake.pressure import Pressure
from services.gateway.metrics import REJECTED, TICKETS
from services.gateway.settings import GatewaySettings
from services.gateway.sources.delivery import Delivery
from services.gateway.sources.proof import Received
from services.gateway.sources.reading import Reader
from services.gateway.sources.systems.generic import GENERIC
from services.gateway.ticket.addresses import workflow_url
from services.gateway.ticket.events import Events
from services.gateway.ticket.listing.facets import Counts, Facets
from services.gateway.ticket.listing.pages import TicketPages
from services.gateway.ticket.queries import Queries
from services.gateway.ticket.queue import Announcer
from services.gateway.ticket.updates import end_all_alerts, take_back_end
from services.gateway.walk.retrying import Retrying
from services.kit.access.caller import current_caller
from services.kit.errors import InvalidInputError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.model import Span
from services.workflow.model import WorkflowKind

MAX_CITED_LINES = 2000
FIRST_LOOK_S = 0.02

_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_LINES = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


class InvalidKeyError(InvalidInputError):
    """The `Idempotency-Key` is empty, too long, or holds more than visible ASCII."""


class InvalidLinesError(InvalidInputError):
    """The lines asked for are no range such as `3-9`."""


class GatewayService:
    """Everything behind the gateway's addresses."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        retrieval: Retrieval,
        settings: GatewaySettings,
        *,
        reader: Reader,
        answering: Answering,
        retrying: Retrying,
        announcer: Announcer | None = None,
    ) -> None:
        """Without `announcer` no system is told that a ticket is open again."""
        self.settings = settings
        self._database = database
        self._outbox = outbox
        self._answering = answering
        self._retrying = retrying
        self._announcer = announcer
        self._reader = reader
        self._queries = Queries(database)
        self._pages, self._facets = TicketPages(database), Facets(database)
        self._events = Events(database)
        self._intake = Intake(database, outbox, repeats_within_s=settings.repeats_within_s)
        self._pressure = Pressure(settings, outbox)
        self._retrieval = retrieval

    def accept(self, received: Received, *, source: str | None, key: str | None) -> Accepted:
        """Store the tickets of a delivery and queue their walks.

        Raises:
            WrongSignatureError: The source has a secret, and the delivery does not show it.
            InvalidInputError: The body cannot be used; its class says why.
            UnknownSourceError: No source has that name.
            IdempotencyKeyReusedError: The key came before with another body.
            TooManyRequestsError: Its source, or all of them, sent too much.
        """
        delivery = self._reader.receive(received, source)
        return self._take_in(delivery, _delivery_key(key, source, received.raw))

    def accept_own(self, raw: bytes) -> Accepted:
        """Take in a plain ticket of a caller that the gate knows, so that no source must sign it.

        Raises as `accept` does.
        """
        return self._take_in(self._reader.read(raw, GENERIC.name), None)

    def _take_in(self, delivery: Delivery, key: DeliveryKey | None) -> Accepted:
        self._pressure.admit(delivery)
        accepted = self._intake.accept(delivery, key)
        for ticket in accepted.tickets:
            TICKETS.labels(ticket.source, "new" if ticket.created else "known").inc()
        REJECTED.inc(len(accepted.rejected))
        return accepted

    async def are_over(
        self, ticket_ids: Sequence[str], seconds: float, stopping: threading.Event
    ) -> bool:
        """Whether every walk is over before the time is up, at most that of the settings.

        It is a request that waits, never a thread.
        """
        until = time.monotonic() + min(seconds, self.settings.max_wait_s)
        pause = FIRST_LOOK_S
        while not await run_in_threadpool(self._are_final, ticket_ids):
            left = until - time.monotonic()
            if left <= 0 or stopping.is_set():
                return False
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, self.settings.event_poll_s)
        return True

    def _are_final(self, ticket_ids: Sequence[str]) -> bool:
        standing = self._queries.standing(ticket_ids)
        return all(TicketStatus(row.status).is_final for row in standing.values())

    def with_results(self, accepted: Accepted, *, workflows: bool) -> Accepted:
        """The answer with what its tickets have come to by now."""
        standing = self._queries.standing([ticket.id for ticket in accepted.tickets])
        tickets = []
        for ticket in accepted.tickets:
            row = standing[ticket.id]
            found = {
                "status": TicketStatus(row.status),
                "reason": row.reason,
                "fit": Fit(row.fit) if row.fit else None,
                "is_checked": row.is_checked,
                "conditions": row.conditions,
                "doubtful": row.doubtful,
                "page_origin": row.page_origin,
                "kind": WorkflowKind(row.kind),
                "edited_by": row.edited_by,
                "against": tuple(row.against),
                "workflow_url": workflow_url(row.workflow_id) if row.workflow_id else None,
            }
            if workflows and row.workflow_id:
                found["workflow"] = self._queries.workflow(row.workflow_id)
            tickets.append(ticket.model_copy(update=found))
        return accepted.of(tuple(tickets))

    def tickets(self, query: TicketQuery) -> TicketPage:
        """A page of a list; raises `InvalidCursorError`."""
        return self._pages.page(query, size=query.limit or self.settings.page_size)

    def counts(self, query: TicketQuery) -> Counts:
        """How many tickets the query finds, and would find with another value of each kind."""
        return self._facets.counts(query)

    def ticket(self, ticket_id: str) -> TicketDetail:
        """A ticket with all that hangs on it; raises `TicketNotFoundError`."""
        return self._queries.ticket(ticket_id)

    def answer(
        self, ticket_id: str, clarification_id: str, given: ClarificationAnswer
    ) -> Clarification:
        """Take an answer; raises as `Answering.answer` does."""
        return self._answering.answer(ticket_id, clarification_id, given)

    def dismiss_questions(self, ticket_id: str) -> list[Clarification]:
        """Ask no more about the ticket; raises `TicketNotFoundError`."""
        return self._answering.dismiss(ticket_id)

    def retry(self, ticket_id: str) -> TicketDetail:
        """Walk a failed ticket again; raises as `Retrying.ticket` does."""
        self._retrying.ticket(ticket_id)
        return self.ticket(ticket_id)

    def resolve(self, ticket_id: str) -> TicketDetail:
        """Take an engineer's word that the fault is over; raises `TicketNotFoundError`."""
        with self._database.session() as session:
            end_all_alerts(session, self._outbox, ticket_id)
        return self.ticket(ticket_id)

    def take(self, ticket_id: str, given: Taking) -> TicketDetail:
        """Make the ticket the caller's; raises as `holding.take` does."""
        with self._database.session() as session:
            take(session, ticket_id, current_caller(), given)
        return self.ticket(ticket_id)

    def give_back(self, ticket_id: str) -> TicketDetail:
        """Make it nobody's again; raises as `holding.give_back` does."""
        with self._database.session() as session:
            give_back(session, ticket_id, current_caller())
        return self.ticket(ticket_id)

    def reopen(self, ticket_id: str) -> TicketDetail:
        """Take the word back that the fault is over; raises `TicketNotFoundError`."""
        with self._database.session() as session:
            by = current_caller().name
            is_new = take_back_end(session, self._outbox, ticket_id, by)
            if is_new and self._announcer is not None:
                self._announcer.put(session, ticket_id)
        return self.ticket(ticket_id)

    def events(self, ticket_id: str) -> list[ProgressEvent]:
        """What happened to a ticket, oldest first; of very much the latest."""
        return self._events.of_ticket(ticket_id)

    def events_after(self, event_id: int, *, ticket_id: str | None = None) -> list[ProgressEvent]:
        """What happened after an event, to one ticket or to any, oldest first."""
        return self._events.after(event_id, ticket_id=ticket_id)

    def latest_event(self) -> int:
        """The id of the latest event; 0 before the first."""
        return self._events.latest()

    def workflow_json(self, workflow_id: str) -> str:
        """The same as `workflow` gives, as JSON."""
        return self._queries.workflow_json(workflow_id)

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """A candidate with its scores; raises `WorkflowNotFoundError`."""
        return self._queries.workflow(workflow_id)

    def candidates(self, workflow_id: str) -> tuple[CandidateSummary, ...]:
        """All that competed with this workflow, itself included; raises as `workflow` does."""
        return self._queries.candidates(workflow_id)

    def source_lines(self, document_id: str, lines: str, context: int | None) -> SourceLines:
        """The cited lines and those around them.

        Raises:
            InvalidLinesError: `lines` is no range.
            NotFoundError: The document is not, or no longer, known.
        """
        start, end = _line_range(lines)
        around = self.settings.context_lines if context is None else context
        first = max(1, start - around)
        span = Span(document_id=document_id, start_line=first, end_line=end + around)
        found = self._retrieval.source(span)
        texts = tuple(found.text.split("\n"))
        if start >= found.span.start_line + len(texts):
            raise InvalidLinesError(f"the document ends before line {start}")
        return SourceLines(
            document_id=document_id,
            document_title=found.document_title,
            first_line=found.span.start_line,
            start_line=start,
            end_line=end,
            lines=texts,
        )


def _delivery_key(key: str | None, source: str | None, raw: bytes) -> DeliveryKey | None:
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise InvalidKeyError("an Idempotency-Key is 1 to 255 visible ASCII characters")
    request_hash = hashlib.sha256(f"{source or ''}\n".encode() + raw).hexdigest()
    return DeliveryKey(key, request_hash)


def _line_range(lines: str) -> tuple[int, int]:
    found = _LINES.fullmatch(lines)
    if found is None:
        raise InvalidLinesError(f"expected lines such as 7 or 3-9, got {lines[:40]!r}")
    start = int(found[1])
    end = int(found[2] or start)
    if not 1 <= start <= end < start + MAX_CITED_LINES:
        raise InvalidLinesError(
            f"expected 1 ≤ first ≤ last and at most {MAX_CITED_LINES} lines, got {lines}"
        )
    return start, end
