"""Tickets: taken in, listed, asked about, assigned, resolved."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from services.contracts.gateway import (
    Accepted,
    SourceLines,
    Taking,
    TicketDetail,
    TicketPage,
    TicketQuery,
)
from services.contracts.retrieval import Retrieval
from services.contracts.ticket import TicketStatus
from services.kit.access.caller import current_caller
from services.kit.errors import InvalidInputError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.model import Span
from services.tickets.adoption.assignment import assign, unassign
from services.tickets.clarify.answer_handler import AnswerHandler
from services.tickets.intake.acknowledgement import current_state, read_tickets
from services.tickets.intake.delivery import Delivery
from services.tickets.intake.idempotency import DeliveryKey
from services.tickets.intake.intake import Intake
from services.tickets.intake.pressure import Pressure
from services.tickets.metrics import REJECTED, TICKETS
from services.tickets.settings import GatewaySettings
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import Events
from services.tickets.ticket.listing.facets import Facets
from services.tickets.ticket.listing.pages import TicketPages
from services.tickets.ticket.queries import Queries
from services.tickets.ticket.queue import Announcer
from services.tickets.ticket.updates import reopen_ticket, resolve_all_alerts
from services.tickets.walk.walk_retry import WalkRetry

MAX_CITED_LINES = 2000
FIRST_LOOK_S = 0.02

_LINES = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


class InvalidLinesError(InvalidInputError):
    """The requested lines are no range such as `3-9`."""


class TicketService:
    """Intake of tickets, queries and actions on them, for routes, pages and tools."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        retrieval: Retrieval,
        settings: GatewaySettings,
        *,
        queries: Queries,
        read_own: Callable[[bytes], Delivery],
        answer_handler: AnswerHandler,
        walk_retry: WalkRetry,
        announcer: Announcer | None = None,
    ) -> None:
        """Take what it works with; `read_own` reads the plain ticket of an authenticated caller.

        Without `announcer` no system is told that a ticket is open again.
        """
        self.settings = settings
        self._database = database
        self._outbox = outbox
        self.answer_handler = answer_handler
        self._walk_retry = walk_retry
        self._announcer = announcer
        self._read_own = read_own
        self.queries = queries
        self._pages, self.facets = TicketPages(database), Facets(database)
        self.event_feed = Events(database)
        self._intake = Intake(database, outbox, repeats_within_s=settings.repeats_within_s)
        self._pressure = Pressure(settings, outbox)
        self._retrieval = retrieval

    def accept(self, delivery: Delivery, key: DeliveryKey | None) -> Accepted:
        """Store the tickets of a delivery and queue their walks.

        Raises:
            IdempotencyKeyReusedError: The key came before with another body.
            TooManyRequestsError: Its source, or all of them, sent too much.
        """
        self._pressure.admit(delivery)
        accepted = self._intake.accept(delivery, key)
        for ticket in accepted.tickets:
            TICKETS.labels(ticket.source, "new" if ticket.created else "known").inc()
        REJECTED.inc(len(accepted.rejected))
        return accepted

    def accept_own(self, raw: bytes) -> Accepted:
        """Take in a plain ticket of an authenticated caller, so that no source must sign it.

        Raises:
            InvalidInputError: The body cannot be used; its class says why.
            TooManyRequestsError: Such tickets, or all of them, came too fast.
        """
        return self.accept(self._read_own(raw), None)

    async def are_over(
        self, ticket_ids: Sequence[str], seconds: float, stopping: threading.Event
    ) -> bool:
        """Wait for all walks; return True if they are over in time, at most `max_wait_s`.

        Polls asynchronously; no worker thread is blocked while waiting.
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
        statuses = select(TicketRow.status).where(TicketRow.id.in_(ticket_ids))
        with self._database.session() as session:
            return all(TicketStatus(status).is_final for status in session.scalars(statuses))

    def with_results(self, accepted: Accepted, *, workflows: bool) -> Accepted:
        """Return the answer with the current state of its tickets, with workflows if wanted."""
        with self._database.session() as session:
            rows = read_tickets(session, [ticket.id for ticket in accepted.tickets])
        tickets = []
        for ticket in accepted.tickets:
            row = rows[ticket.id]
            state = current_state(row)
            if workflows and row.workflow_id:
                state["workflow"] = self.queries.workflow(row.workflow_id)
            tickets.append(ticket.model_copy(update=state))
        return accepted.with_tickets(tuple(tickets))

    def tickets(self, query: TicketQuery) -> TicketPage:
        """Return a page of the list; raises `InvalidCursorError`."""
        return self._pages.page(query, size=query.limit or self.settings.page_size)

    def retry(self, ticket_id: str) -> TicketDetail:
        """Walk a failed ticket again.

        Raises:
            TicketNotFoundError: No such ticket.
            TicketNotFailedError: Its walk is not over, or ended well.
        """
        self._walk_retry.retry_ticket(ticket_id)
        return self.queries.ticket(ticket_id)

    def resolve(self, ticket_id: str) -> TicketDetail:
        """Mark the fault as over, as an engineer says; raises `TicketNotFoundError`."""
        with self._database.session() as session:
            resolve_all_alerts(session, self._outbox, ticket_id)
        return self.queries.ticket(ticket_id)

    def assign_to_caller(self, ticket_id: str, request: Taking) -> TicketDetail:
        """Assign the ticket to the caller.

        Raises:
            TicketNotFoundError: No such ticket.
            HeldByAnotherError: Somebody holds it whom the request does not name.
        """
        with self._database.session() as session:
            assign(session, ticket_id, current_caller(), request)
        return self.queries.ticket(ticket_id)

    def unassign(self, ticket_id: str) -> TicketDetail:
        """Unassign the ticket from the caller.

        Raises:
            TicketNotFoundError: No such ticket.
            HeldByAnotherError: Somebody else holds it.
        """
        with self._database.session() as session:
            unassign(session, ticket_id, current_caller())
        return self.queries.ticket(ticket_id)

    def reopen(self, ticket_id: str) -> TicketDetail:
        """Take back that the fault is over; raises `TicketNotFoundError`."""
        with self._database.session() as session:
            by = current_caller().name
            is_new = reopen_ticket(session, self._outbox, ticket_id, by)
            if is_new and self._announcer is not None:
                self._announcer.put(session, ticket_id)
        return self.queries.ticket(ticket_id)

    def source_lines(self, document_id: str, lines: str, context: int | None) -> SourceLines:
        """Return the cited lines of a document and those around them.

        Raises:
            InvalidLinesError: `lines` is no range.
            NotFoundError: The document is not, or no longer, known.
        """
        start, end = _line_range(lines)
        context_lines = self.settings.context_lines if context is None else context
        first = max(1, start - context_lines)
        span = Span(document_id=document_id, start_line=first, end_line=end + context_lines)
        source = self._retrieval.source(span)
        texts = tuple(source.text.split("\n"))
        if start >= source.span.start_line + len(texts):
            raise InvalidLinesError(f"the document ends before line {start}")
        return SourceLines(
            document_id=document_id,
            document_title=source.document_title,
            first_line=source.span.start_line,
            start_line=start,
            end_line=end,
            lines=texts,
        )


def _line_range(lines: str) -> tuple[int, int]:
    match = _LINES.fullmatch(lines)
    if match is None:
        raise InvalidLinesError(f"expected lines such as 7 or 3-9, got {lines[:40]!r}")
    start = int(match[1])
    end = int(match[2] or start)
    if not 1 <= start <= end < start + MAX_CITED_LINES:
        raise InvalidLinesError(
            f"expected 1 ≤ first ≤ last and at most {MAX_CITED_LINES} lines, got {lines}"
        )
    return start, end
