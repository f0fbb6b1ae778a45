"""Event log of tickets: a watcher may join late or come back.

Each change of a ticket goes into the audit log too, in the same transaction and without content.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import event, func, insert, select
from sqlalchemy.orm import Session

from services.contracts.gateway import ProgressEvent
from services.kit.access.audit import audit_line
from services.kit.access.caller import Caller, CallerKind
from services.kit.sql.database import Database
from services.kit.tables import AuditRow
from services.kit.teaching.ledger import ticket_subject
from services.kit.teaching.recorded_callers import caller_of_id
from services.tickets.tables import EventRow
from services.tickets.ticket.event_kinds import BEGINNINGS, KINDS, PROGRESS

AT_ONCE = 200
"""Most events read at once; the next read brings the rest."""
MOST_OF_TICKET = 1000

CASE = "case "
"""Prefix of the subject of teaching by a resolved ticket as a typical case of a page."""
TEAM = "team of "
"""Prefix of the subject of teaching by a ticket as a past ticket of a team."""


@dataclass(frozen=True)
class Note:
    """Event of a ticket that is yet to be stored."""

    kind: str
    """One of `KINDS`."""
    facts: dict[str, object] = field(default_factory=dict)
    at: float = field(default_factory=time.time)


def add_events(session: Session, ticket_id: str, notes: Iterable[Note]) -> None:
    """Append events to a ticket's log, in the caller's transaction."""
    listed, state, audited = list(notes), None, []
    for note in (each for each in listed if not KINDS[each.kind].is_progress):
        state = state or latest_change(session, ticket_id)
        audited.append(_audit_line(ticket_id, note, state))
        state = note.kind
    _add(session, audited, [(ticket_id, note) for note in listed])


def add_first_events(session: Session, first: Collection[tuple[str, Note, Context]]) -> None:
    """Append the first events of new tickets, each in the context of its request."""
    audited = [context.run(_audit_line, id_, note, None) for id_, note, context in first]
    _add(session, audited, [(id_, note) for id_, note, _ in first])


def _add(
    session: Session,
    audited: Sequence[Mapping[str, object]],
    events: Sequence[tuple[str, Note]],
) -> None:
    """Insert audit lines and events in one statement each; count the changes after the commit."""
    if audited:
        session.execute(insert(AuditRow), audited)
    if events:
        rows = [
            {"ticket_id": id_, "kind": note.kind, "facts": note.facts, "at": note.at}
            for id_, note in events
        ]
        session.execute(insert(EventRow), rows)
    for note in (note for _, note in events if not KINDS[note.kind].is_progress):
        event.listen(session, "after_commit", partial(_count, note), once=True)


def _count(note: Note, _session: Session) -> None:
    counter = KINDS[note.kind].counter(note.facts)
    if counter is not None:
        counter.inc()


def latest_change(session: Session, ticket_id: str) -> str | None:
    """Return the kind of the latest event that is more than progress; None before the first."""
    statement = (
        select(EventRow.kind)
        .where(EventRow.ticket_id == ticket_id, EventRow.kind.not_in(PROGRESS))
        .order_by(EventRow.id.desc())
        .limit(1)
    )
    return session.scalar(statement)


def last_beginning(session: Session, ticket_id: str) -> str:
    """Return the kind of the latest event that began a walk; empty before the first."""
    begins = (EventRow.ticket_id == ticket_id, EventRow.kind.in_(BEGINNINGS))
    latest = select(EventRow.kind).where(*begins).order_by(EventRow.id.desc()).limit(1)
    return session.scalar(latest) or ""


def last_id_of_kind(session: Session, ticket_id: str, kind: str) -> str | None:
    """Return the id of the latest event of this kind; None if there is none."""
    of_kind = (EventRow.ticket_id == ticket_id, EventRow.kind == kind)
    latest = session.scalar(select(func.max(EventRow.id)).where(*of_kind))
    return None if latest is None else str(latest)


def last_facts_of_kind(session: Session, ticket_id: str, kind: str) -> Mapping[str, Any] | None:
    """Return the facts of the latest event of this kind; None if there is none."""
    of_kind = (EventRow.ticket_id == ticket_id, EventRow.kind == kind)
    latest = select(EventRow.facts).where(*of_kind).order_by(EventRow.id.desc()).limit(1)
    return session.scalar(latest)


def _audit_line(ticket_id: str, note: Note, state: str | None) -> dict[str, object]:
    facts = {name: note.facts[name] for name in KINDS[note.kind].audited if name in note.facts}
    return audit_line(
        f"ticket.{note.kind}",
        f"ticket {ticket_id}",
        {"state": state} if state else None,
        {"state": note.kind, **facts},
    )


def deliverer_of(session: Session, ticket_id: str) -> Caller | None:
    """Return who delivered a ticket, by the audit log; None if that is not recorded."""
    row = session.scalar(
        select(AuditRow)
        .where(AuditRow.subject == ticket_subject(ticket_id), AuditRow.action == "ticket.received")
        .order_by(AuditRow.id)
        .limit(1)
    )
    if row is None:
        return None
    return caller_of_id(session, row.caller_id, row.who, CallerKind(row.kind))


class Events:
    """Event log of all tickets, in the order of the ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def after(self, event_id: int, *, ticket_id: str | None = None) -> list[ProgressEvent]:
        """Return events with a higher id, of one ticket or of all, oldest first."""
        statement = select(EventRow).where(EventRow.id > event_id)
        if ticket_id is not None:
            statement = statement.where(EventRow.ticket_id == ticket_id)
        with self._database.session() as session:
            rows = session.scalars(statement.order_by(EventRow.id).limit(AT_ONCE)).all()
        return [_event(row) for row in rows]

    def of_ticket(self, ticket_id: str) -> list[ProgressEvent]:
        """Return a ticket's events, oldest first; of very many the latest."""
        statement = (
            select(EventRow)
            .where(EventRow.ticket_id == ticket_id)
            .order_by(EventRow.id.desc())
            .limit(MOST_OF_TICKET)
        )
        with self._database.session() as session:
            return [_event(row) for row in session.scalars(statement)][::-1]

    def latest(self) -> int:
        """Return the highest event id so far; 0 before the first event."""
        with self._database.session() as session:
            return session.scalar(select(func.max(EventRow.id))) or 0


def _event(row: EventRow) -> ProgressEvent:
    return ProgressEvent(
        id=row.id,
        ticket_id=row.ticket_id,
        kind=row.kind,
        facts=row.facts,
        at=datetime.fromtimestamp(row.at, UTC),
    )
