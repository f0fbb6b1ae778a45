"""Write-back: systems are notified when a ticket is concluded, asked about or handed over.

A task for each system is put into the outbox in the transaction that stores the news, so nothing is
told that is not stored, and nothing is forgotten. Each system is told what is new since it was told
last, and so many times at most. One that does not take it is tried again, and after so many times
the task is parked with its reason. A process that dies after a system took it, and before that is
noted, tells it again under the same `Idempotency-Key`.
"""

from collections.abc import Mapping
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from services.integrations.writeback.note import Digest, TicketNote, build_parts
from services.integrations.writeback.settings import WriteBackSettings
from services.integrations.writeback.targets import DIGESTS, TARGETS, WriteBackTarget
from services.kit.egress.guard import EgressGuard
from services.kit.ids import time_ordered_id
from services.kit.observability.metrics import start_at_zero
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.metrics import WRITE_BACKS
from services.tickets.tables import TicketRow, WriteBackRow
from services.tickets.ticket.events import Note, add_events, last_facts_of_kind, last_id_of_kind
from services.tickets.ticket.queries import Queries, TicketNotFoundError

WRITE_BACK_TASK = "gateway.write_back"

_log = structlog.get_logger()


class WriteBack:
    """Writer of news to the systems that the settings name."""

    def __init__(self, settings: WriteBackSettings, database: Database, outbox: Outbox) -> None:
        """Check the addresses; raise `ForbiddenAddressError` for a host that is not allowed."""
        self._settings = settings
        self._database = database
        self._outbox = outbox
        self._queries = Queries(database)
        self._guard = EgressGuard(
            settings.allowed_hosts,
            allow_private=settings.allow_private,
            timeout_s=settings.timeout_s,
        )
        start_at_zero(WRITE_BACKS, (target.name for target in TARGETS), ("told", "not_told"))
        self._targets = {target.name: target for target in TARGETS if target.address(settings)}
        for target in self._targets.values():
            self._guard.check(str(target.address(settings)))

    @property
    def digest_targets(self) -> tuple[str, ...]:
        """Names of the targets in the settings that get the weekly digest."""
        return tuple(name for name in DIGESTS if name in self._targets)

    def send_digest(self, target: str, digest: Digest) -> None:
        """Send the digest to a target; do nothing if the settings no longer name it.

        Raises:
            NotDeliveredError: It did not take it.
            ForbiddenAddressError: Its host leads to an address that is not allowed.
        """
        if target in self.digest_targets:
            self._guard.send(DIGESTS[target](self._settings, digest))

    def put(self, session: Session, ticket_id: str) -> None:
        """Queue a note to each system that follows the ticket, in the caller's transaction.

        Each time under a key of its own: a task that is on its way may have looked already.
        """
        if not self._targets:
            return
        source = session.scalar(select(TicketRow.source).where(TicketRow.id == ticket_id))
        for target in self._targets.values():
            if target.source in {"", source}:
                arguments = {"ticket_id": ticket_id, "target": target.name}
                key = f"{WRITE_BACK_TASK}:{target.name}:{ticket_id}:{time_ordered_id()}"
                self._outbox.put(session, WRITE_BACK_TASK, arguments, key)

    def run(self, ticket_id: str, target: str) -> None:
        """Send a system what is new; do nothing if the settings no longer name it.

        Raises:
            NotDeliveredError: It did not take it.
            ForbiddenAddressError: Its host leads to an address that is not allowed.
        """
        configured = self._targets.get(target)
        note = self._news(configured, ticket_id) if configured else None
        if configured is None or note is None:
            return
        self._guard.send(configured.request(self._settings, note))
        self._record(configured, note)

    def _news(self, target: WriteBackTarget, ticket_id: str) -> TicketNote | None:
        try:
            ticket = self._queries.ticket(ticket_id)
        except TicketNotFoundError:  # it was purged meanwhile
            return None
        stored = self._queries.workflow(ticket.workflow_id) if ticket.workflow_id else None
        base = str(self._settings.public_url or "").rstrip("/")
        with self._database.session() as session:
            reopened = last_id_of_kind(session, ticket_id, "not_over")
            handed_back = last_id_of_kind(session, ticket_id, "handed_back")
            ran = last_facts_of_kind(session, ticket_id, "ran")
            searched = last_facts_of_kind(session, ticket_id, "searched")
        parts = build_parts(
            ticket,
            stored,
            base,
            takes_comments=bool(target.source),
            reopened=reopened,
            handed_back=handed_back,
            ran=ran,
            searched=searched,
        )
        with self._database.session() as session:
            row = _write_back_row(session, ticket_id, target.name)
            new = tuple(part for part in parts if row.digests.get(part.topic) != part.digest)
        if not new or row.times >= self._settings.most:
            return None
        return TicketNote(ticket, stored, f"{base}/tickets/{ticket_id}" if base else "", new)

    def _record(self, target: WriteBackTarget, note: TicketNote) -> None:
        ticket_id, question = note.ticket.id, note.ticket.open_question
        with self._database.session() as session:
            row = session.merge(_write_back_row(session, ticket_id, target.name))
            row.times += 1
            row.digests = {**row.digests, **{part.topic: part.digest for part in note.parts}}
            if question is not None and any(part.topic == "question" for part in note.parts):
                row.question_id = question.id
            facts: dict[str, object] = {
                "target": target.name,
                "told": [part.topic for part in note.parts],
            }
            add_events(session, ticket_id, [Note("told", facts)])
            self._outbox.finish(session)
        _log.info("gateway.written_back", ticket_id=ticket_id, target=target.name)


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Record on the ticket that a system could not be notified."""
    facts: dict[str, object] = {"target": arguments["target"], "reason": reason}
    add_events(session, arguments["ticket_id"], [Note("not_told", facts)])


def _write_back_row(session: Session, ticket_id: str, target: str) -> WriteBackRow:
    """Return the stored row, or a new one that is not stored yet."""
    row = session.get(WriteBackRow, (ticket_id, target))
    return row or WriteBackRow(
        ticket_id=ticket_id, target=target, times=0, digests={}, question_id=""
    )
