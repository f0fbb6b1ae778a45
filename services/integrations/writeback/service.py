"""Write-back: systems are notified when a ticket is concluded, asked about or handed over.

A task for each system is put into the outbox in the transaction that stores the news, so nothing is
told that is not stored, and nothing is forgotten. Each system is told what is new since it was told
last, and so many times at most. One that does not take it is tried again, and after so many times
the task is parked with its reason. Where an answer came late, or a process died before it was
noted, the system is asked for the ticket's notes before it is told again; chat and callback, which
cannot be asked, are told again under the same `Idempotency-Key`.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from services.integrations.writeback.note import Digest, NotePart, TicketNote, build_parts
from services.integrations.writeback.settings import WriteBackSettings
from services.integrations.writeback.targets import (
    DIGESTS,
    TARGETS,
    UnusableIdError,
    WriteBackTarget,
)
from services.kit.egress.guard import EgressGuard, NotAnsweredError, RefusedRequestError
from services.kit.ids import time_ordered_id
from services.kit.observability.metrics import start_at_zero
from services.kit.queue.outbox import Outbox, PostponedError
from services.kit.sql.database import Database
from services.tickets.metrics import WRITE_BACKS
from services.tickets.tables import TicketRow, WriteBackRow
from services.tickets.ticket.events import Note, add_events, last_facts_of_kind, last_id_of_kind
from services.tickets.ticket.queries import Queries, TicketNotFoundError

WRITE_BACK_TASK = "gateway_notes.write_back"

UNANSWERED_PAUSE_S = 60.0
"""Pause of all notes to a system that let one of them wait until its time was over."""

_MOST_BYTES = 1_000_000
"""Limit for a system's answer with a ticket's notes."""

_log = structlog.get_logger()


class WriteBack:
    """Writer of news to the systems that the settings name."""

    def __init__(self, settings: WriteBackSettings, database: Database, outbox: Outbox) -> None:
        """Check the addresses; raise `ForbiddenAddressError` for a host that is not allowed."""
        self._settings = settings
        self._database = database
        self._outbox = outbox
        self._queries = Queries(database)
        self._silent_until: dict[str, float] = {}
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
        left_s = self._silent_until.get(target, 0.0) - time.monotonic()
        if left_s > 0:
            raise PostponedError(f"{target} did not answer the last note", after_s=left_s)
        try:
            new = replace(note, parts=self._missing_parts(configured, note))
            if new.parts:
                self._guard.send(configured.request(self._settings, new))
        except UnusableIdError as error:
            self._give_up(ticket_id, target, str(error))
            return
        except NotAnsweredError:
            self._silent_until[target] = time.monotonic() + UNANSWERED_PAUSE_S
            raise
        self._record(configured, note)

    def _missing_parts(self, target: WriteBackTarget, note: TicketNote) -> tuple[NotePart, ...]:
        """Return the parts to send: before a second attempt the system is asked what it has."""
        if target.notes is None or not self._outbox.is_retry:
            return note.parts
        with suppress(RefusedRequestError):  # the login may write notes and not read them
            request = target.notes(self._settings, note)
            there = self._guard.send(request, most_bytes=_MOST_BYTES)
            return tuple(part for part in note.parts if note.mark_of(part).encode() not in there)
        return note.parts

    def _give_up(self, ticket_id: str, target: str, reason: str) -> None:
        """Note on the ticket, once, that it cannot be written to."""
        with self._database.session() as session:
            row = session.merge(_write_back_row(session, ticket_id, target))
            if not row.times:
                row.times = self._settings.most
                park(session, {"ticket_id": ticket_id, "target": target}, reason)
            self._outbox.finish(session)

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
        url = f"{base}/tickets/{ticket_id}" if base else ""
        return TicketNote(ticket, stored, url, new, row.times)

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
