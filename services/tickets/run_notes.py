"""Traffic between tickets and the executor: outcomes of runs, and diagnostic runs to start."""

from collections.abc import Callable

from sqlalchemy import select

from services.contracts.execution import Execution, LookAtOnce
from services.contracts.gateway import RunNote, SearchNote, StoredWorkflow, TicketDetail
from services.kit.errors import NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.tables import EventRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.queries import Queries
from services.tickets.ticket.queue import Announcer
from services.tickets.ticket.updates import reopen_ticket


class RunNotes:
    """Notes that runs and searches leave on tickets; implements `contracts.gateway.Tickets`."""

    def __init__(
        self, database: Database, outbox: Outbox, queries: Queries, announcer: Announcer | None
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._announcer = announcer
        self._queries = queries

    def ticket(self, ticket_id: str) -> TicketDetail:
        """See `Tickets.ticket`."""
        return self._queries.ticket(ticket_id)

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """See `Tickets.workflow`."""
        return self._queries.workflow(workflow_id)

    def note_run(self, ticket_id: str, note: RunNote) -> None:
        """See `Tickets.note_run`."""
        self._queries.ticket(ticket_id)
        if note.is_look:
            self._note_look(ticket_id, note)
            return
        facts: dict[str, object] = {
            "run": note.run_id,
            "outcome": note.outcome.replace("_", " "),
            "by": note.by,
            "lines": list(note.lines),
        }
        earlier_runs = select(EventRow.facts).where(
            EventRow.ticket_id == ticket_id, EventRow.kind == "ran"
        )
        with self._database.session() as session:
            if any(each["run"] == note.run_id for each in session.scalars(earlier_runs)):
                return
            add_events(session, ticket_id, [Note("ran", facts)])
            if note.is_open:
                reopen_ticket(session, self._outbox, ticket_id, note.by)
            if self._announcer is not None:
                self._announcer.put(session, ticket_id)

    def _note_look(self, ticket_id: str, note: RunNote) -> None:
        """Record the evidence of a diagnostic run for the ticket's page.

        No ticket system is told, and nothing is decided by it.
        """
        facts: dict[str, object] = {
            "run": note.run_id,
            "workflow": note.workflow_id,
            "seen": [each.model_dump() for each in note.seen],
            "left": note.left,
        }
        facts_of_ticket = select(EventRow.facts).where(EventRow.ticket_id == ticket_id)
        with self._database.session() as session:
            earlier_looks = session.scalars(facts_of_ticket.where(EventRow.kind == "looked"))
            if all(each["run"] != note.run_id for each in earlier_looks):
                add_events(session, ticket_id, [Note("looked", facts)])

    def note_search(self, ticket_id: str, note: SearchNote) -> None:
        """See `Tickets.note_search`."""
        self._queries.ticket(ticket_id)
        facts: dict[str, object] = {
            "search": note.search_id,
            "outcome": note.outcome.replace("_", " "),
            "by": note.by,
            "cause": note.cause,
            "lines": list(note.lines),
        }
        of_kind = (EventRow.ticket_id == ticket_id, EventRow.kind == "searched")
        with self._database.session() as session:
            earlier_searches = session.scalars(select(EventRow.facts).where(*of_kind))
            if any(each["search"] == note.search_id for each in earlier_searches):
                return
            add_events(session, ticket_id, [Note("searched", facts)])
            if self._announcer is not None:
                self._announcer.put(session, ticket_id)


class DiagnosticRunStarter:
    """Starter of diagnostic runs for workflows that surely fit; repeating a request is harmless."""

    def __init__(self, execution: Callable[[], Execution]) -> None:
        self._execution = execution

    def run(self, ticket_id: str, workflow_id: str) -> None:
        """Start a diagnostic run of this workflow; do nothing if the ticket was purged."""
        request = LookAtOnce(ticket_id=ticket_id, workflow_id=workflow_id)
        try:
            self._execution().look_at_once(request)
        except NotFoundError:
            return
