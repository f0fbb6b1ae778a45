"""Changes of a page or its reading while a ticket shows a workflow of it: offered, never taken.

An engineer who works with the workflow is told, and says when the ticket is walked again with it.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from services.contracts.adoption import NewerReading
from services.contracts.gateway import StoredWorkflow
from services.contracts.ingestion import Ingestion
from services.contracts.readings import ReadingQuery, Readings
from services.kit.access.caller import Caller, current_caller
from services.kit.errors import ConflictError, NotFoundError, UnavailableError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.runbook.ports import Event, Happening
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import FINAL, walk_again
from services.tickets.ticket.queries import Queries, no_ticket

_CORRECTS = {Happening.REPLACED, Happening.ANSWERED, Happening.IMPORTED}

ReadingChange = tuple[Literal["corrected", "approved", "withdrawn"], Event]


class NotRenewableError(ConflictError):
    """A team has the ticket: a workflow would be made that nobody waits for."""


class WorkflowRefresh:
    """Newer readings of a ticket's pages, and new walks with them."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        queries: Queries,
        readings: Callable[[Caller], Readings] | None = None,
        ingestion: Ingestion | None = None,
    ) -> None:
        """Look at no readings without `readings`, and at no pages without `ingestion`."""
        self._database = database
        self._outbox = outbox
        self._readings = readings
        self._ingestion = ingestion
        self._queries = queries

    def newer(self, ticket_id: str) -> tuple[NewerReading, ...]:
        """Return what became of the pages of the ticket's workflow since it was made.

        The answer is empty if ingestion or the readings do not answer now.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        workflow_id = self._queries.ticket(ticket_id).workflow_id
        if workflow_id is None:
            return ()
        stored = self._queries.workflow(workflow_id)
        if stored.candidate_id:  # a version is as old as the reading of its candidate
            stored = self._queries.workflow(stored.candidate_id)
        try:
            read = (
                _newer_readings(self._readings(current_caller()), stored) if self._readings else ()
            )
            return (*_page_changes(self._ingestion, stored), *read)
        except (NotFoundError, UnavailableError):
            return ()

    def renew(self, ticket_id: str) -> None:
        """Walk the ticket again with the readings as they are now; nothing while it is walked.

        Raises:
            TicketNotFoundError: No such ticket.
            NotRenewableError: It was handed over.
        """
        with self._database.session() as session:
            self._database.lock(session, [ticket_id])
            row = session.get(TicketRow, ticket_id)
            if row is None:
                raise no_ticket(ticket_id)
            if row.status not in FINAL:
                return
            if not walk_again(session, self._outbox, ticket_id):
                raise NotRenewableError("the ticket was handed over: it is not walked again")
            add_events(session, ticket_id, [Note("renewed", {"by": current_caller().name})])


def _page_changes(ingestion: Ingestion | None, stored: StoredWorkflow) -> Iterator[NewerReading]:
    """Yield a notice if the page of a checklist has changed or is gone."""
    page = stored.workflow.page
    if page is None or ingestion is None:
        return
    try:
        now = ingestion.contents(page.document_id)
    except NotFoundError:
        yield NewerReading(
            document=page.document_id,
            text_hash="",
            what="page gone",
            by="",
            at=stored.created_at,
        )
        return
    if now.shown_page.text.rstrip() != page.text.rstrip():
        yield NewerReading(
            document=page.document_id,
            text_hash=now.document.text_hash,
            what="page changed",
            by="",
            at=now.document.updated_at,
        )


def _newer_readings(readings: Readings, stored: StoredWorkflow) -> Iterator[NewerReading]:
    origin = stored.workflow.provenance
    # The pages were read before the workflow was stored, by what the walk took.
    since = stored.created_at - timedelta(seconds=sum(stored.seconds.values()))
    for document in origin.document_ids if origin else ():
        for page in readings.find(ReadingQuery(document=document)):
            if page.updated_at < since:
                continue
            last = last_change(readings.history(page.text_hash), since)
            if last is not None:
                what, event = last
                yield NewerReading(
                    document=document,
                    text_hash=page.text_hash,
                    what=what,
                    by=event.who,
                    at=event.at,
                )


def last_change(history: Sequence[Event], since: datetime) -> ReadingChange | None:
    """Return what the events since then come to, with its event; None if they cancel out."""
    later = [event for event in history if event.at >= since]
    kept = [event for event in later if not event.is_undone]
    for event in kept:
        if event.what in _CORRECTS:
            return "corrected", event
    for event in kept:
        if event.what is Happening.APPROVED:
            return "approved", event
    undoings = [event for event in kept if event.what is Happening.UNDONE]
    done_and_undone = [event for event in later if event.is_undone]
    return ("withdrawn", undoings[0]) if len(undoings) > len(done_and_undone) else None
