"""Write-back: when a ticket is concluded with a workflow, whoever is to know is told once.

A task for each system is put into the outbox in the transaction that stores the workflow, so
nothing is told that is not stored, and nothing is forgotten. A system that does not take it is
tried again, and after so many times the task is parked with its reason. A process that dies after a
system took it, and before that is noted, tells it again under the same `Idempotency-Key`.
"""

from collections.abc import Mapping
from typing import Any

import structlog
from sqlalchemy.orm import Session

from services.gateway.events import Note, add_events
from services.gateway.queries import Queries
from services.gateway.writeback.guard import Guard
from services.gateway.writeback.note import ReadyNote
from services.gateway.writeback.settings import WriteBackSettings
from services.gateway.writeback.targets import TARGETS, Target
from services.kit.database import Database
from services.kit.outbox import Outbox

WRITE_BACK_TASK = "gateway.write_back"

_log = structlog.get_logger()


class WriteBack:
    """Tells the systems that the settings name."""

    def __init__(self, settings: WriteBackSettings, database: Database, outbox: Outbox) -> None:
        """Raises `ForbiddenAddressError` when an address is on a host that is not allowed."""
        self._settings = settings
        self._database = database
        self._outbox = outbox
        self._queries = Queries(database)
        self._guard = Guard(
            settings.allowed_hosts,
            allow_private=settings.allow_private,
            timeout_s=settings.timeout_s,
        )
        self._targets = {target.name: target for target in TARGETS if target.address(settings)}
        for target in self._targets.values():
            self._guard.check(str(target.address(settings)))

    def put(self, session: Session, ticket_id: str, source: str) -> None:
        """Queue, in the caller's transaction, that those who are to know of the ticket are told."""
        for target in self._targets.values():
            if target.source in {"", source}:
                arguments = {"ticket_id": ticket_id, "target": target.name}
                key = f"{WRITE_BACK_TASK}:{target.name}:{ticket_id}"
                self._outbox.put(session, WRITE_BACK_TASK, arguments, key)

    def run(self, ticket_id: str, target: str) -> None:
        """Tell one system; nothing when the settings no longer name it.

        Raises:
            NotDeliveredError: It did not take it.
            ForbiddenAddressError: Its host leads to an address that is not allowed.
        """
        known = self._targets.get(target)
        ticket = self._queries.ticket(ticket_id)
        if known is None or ticket.workflow_id is None:
            return
        stored = self._queries.workflow(ticket.workflow_id)
        note = ReadyNote(ticket, stored, self._page(ticket_id))
        self._guard.send(known.request(self._settings, note))
        self._note(known, ticket_id)

    def _page(self, ticket_id: str) -> str:
        base = self._settings.public_url
        return f"{str(base).rstrip('/')}/tickets/{ticket_id}" if base else ""

    def _note(self, target: Target, ticket_id: str) -> None:
        with self._database.session() as session:
            add_events(session, ticket_id, [Note("told", {"target": target.name})])
            self._outbox.finish(session)
        _log.info("gateway.written_back", ticket_id=ticket_id, target=target.name)


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Note on the ticket that a system could not be told."""
    facts: dict[str, object] = {"target": arguments["target"], "reason": reason}
    add_events(session, arguments["ticket_id"], [Note("not_told", facts)])
