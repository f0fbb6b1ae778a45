"""Repeats and ends of existing tickets, written in one batch.

They are written last and in the order of the tickets' ids: of two deliveries about the same tickets
neither waits long for the other, and never both.
"""

import time
from collections import Counter
from contextvars import Context, copy_context

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketDraft
from services.kit.queue.outbox import Outbox
from services.tickets.tables import AlertRow, TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import (
    count_repeats,
    mark_unresolved,
    reopen_by_source,
    resolve,
)
from services.tickets.ticket.queries import no_ticket
from services.tickets.ticket.queue import LEARN_TICKET_TASK, put_forgetting


class TicketUpdates:
    """Batch of repeats and ends, collected and then written once."""

    def __init__(self) -> None:
        self._repeats: Counter[str] = Counter()
        self._open_again: set[str] = set()
        self._contexts: dict[str, Context] = {}
        self._ended: set[str] = set()
        self._by_person: set[str] = set()
        self._reopened: dict[str, tuple[TicketDraft, Context]] = {}
        self._drafts: dict[tuple[str, str, str], tuple[TicketDraft, Context]] = {}
        """Alerts that came again, by the id of their ticket, their source and their id there."""

    def repeat(self, ticket_id: str, *, is_open: bool, context: Context | None = None) -> None:
        """Add one more alert of this ticket; `is_open` unless its end came first.

        `context` is the request's, where this transaction stands for several.
        """
        self._repeats[ticket_id] += 1
        if context is not None:
            self._contexts[ticket_id] = context
        if is_open:
            self._open_again.add(ticket_id)

    def relabel(self, ticket_id: str, draft: TicketDraft, *, context: Context) -> None:
        """Add an alert that came again; its ticket gets its labels and title if it is its own.

        One that comes without labels says nothing of them, and of what breaks time and again
        each time has a title of its own.
        """
        if draft.labels or not draft.occurrence:
            self._drafts[ticket_id, draft.source, draft.external_id] = draft, context

    def reopen(
        self, ticket_id: str, draft: TicketDraft, *, is_after_end: bool, context: Context
    ) -> None:
        """Add an alert that came again, to open its ticket if that was over.

        One with an occurrence that is over comes late: when it breaks anew it has another.
        """
        if is_after_end and not draft.occurrence:
            self._reopened[ticket_id] = draft, context

    def end(self, ticket_id: str, *, by_person: bool = False) -> None:
        """Add the end of an alert of this ticket."""
        self._ended.add(ticket_id)
        if by_person:
            self._by_person.add(ticket_id)

    def write(self, session: Session, outbox: Outbox) -> None:
        """Count the repeats, and resolve the tickets of which no alert is left open."""
        session.flush()
        self._write_labels_and_titles(session)
        for ticket_id, (draft, context) in sorted(self._reopened.items()):
            if context.run(reopen_by_source, session, ticket_id):
                is_same = (AlertRow.source == draft.source) & (
                    AlertRow.external_id == draft.external_id
                )
                mine = update(AlertRow).where(is_same, AlertRow.occurrence == draft.occurrence)
                session.execute(mine.values(over_at=None))
                put_forgetting(session, outbox, [ticket_id])
        for ticket_id in sorted(self._repeats.keys() | self._ended):
            if ticket_id in self._repeats:
                more, is_open = self._repeats[ticket_id], ticket_id in self._open_again
                note = count_repeats(session, ticket_id, more, is_open=is_open)
                if note is not None:
                    context = self._contexts.get(ticket_id, copy_context())
                    context.run(add_events, session, ticket_id, [note])
            by_person = ticket_id in self._by_person
            if ticket_id in self._ended and resolve(session, ticket_id, by_person=by_person):
                # Of a ticket that is still walked, nothing can be learned yet.
                key = f"{LEARN_TICKET_TASK}:{ticket_id}"
                outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key, priority=9)

    def _write_labels_and_titles(self, session: Session) -> None:
        """Replace what differs; what a run shows by other labels is shown again."""
        if not self._drafts:
            return
        fields = ("id", "source", "external_id", "labels", "title")
        columns = [getattr(TicketRow, name) for name in fields]
        ids = {ticket_id for ticket_id, _, _ in self._drafts}
        rows = session.execute(select(*columns).where(TicketRow.id.in_(ids)).order_by(TicketRow.id))
        for id_, source, external_id, labels, title in rows.all():
            draft, context = self._drafts.get((id_, source, external_id), (None, None))
            if draft is None or context is None:
                continue
            values, notes = dict[str, object](), list[Note]()
            if draft.labels and draft.labels != labels:
                values["labels"] = dict(draft.labels)
                names = sorted(labels.keys() | draft.labels.keys())
                changed = [each for each in names if labels.get(each) != draft.labels.get(each)]
                notes.append(Note("relabelled", {"labels": ", ".join(changed)}))
            if not draft.occurrence and draft.title != title:
                values["title"] = draft.title
                notes.append(Note("retitled"))
            if values:
                changed_at = {"updated_at": time.time()}
                session.execute(
                    update(TicketRow).where(TicketRow.id == id_).values(values | changed_at)
                )
                context.run(add_events, session, id_, notes)


def reopen_ticket(session: Session, outbox: Outbox, ticket_id: str, by: str) -> bool:
    """Reopen a resolved ticket, and forget what it taught.

    Returns False, and does nothing, if it is open. What triage learned of its team stays: whose
    ticket it is does not change by that.

    Raises:
        TicketNotFoundError: No such ticket.
    """
    if session.get(TicketRow, ticket_id) is None:
        raise no_ticket(ticket_id)
    if not mark_unresolved(session, ticket_id, by):
        return False
    put_forgetting(session, outbox, [ticket_id])
    return True


def resolve_all_alerts(session: Session, outbox: Outbox, ticket_id: str) -> None:
    """End all alerts of a ticket, and with them the ticket: an engineer says that it is over.

    A second call changes nothing; an alert that breaks anew opens the ticket again.

    Raises:
        TicketNotFoundError: No such ticket.
    """
    still_open = (AlertRow.ticket_id == ticket_id, AlertRow.over_at.is_(None))
    session.execute(update(AlertRow).where(*still_open).values(over_at=time.time()))
    if session.get(TicketRow, ticket_id) is None:
        raise no_ticket(ticket_id)
    updates = TicketUpdates()
    updates.end(ticket_id, by_person=True)
    updates.write(session, outbox)
