"""Tickets on their walk: opened, followed, concluded. Reading is for `queries.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketDraft
from services.gateway.adoption.records import count_carried
from services.gateway.clarify.asking import Asking, asked_about
from services.gateway.clarify.dialogue import Dialogue, text_of
from services.gateway.tables import TicketRow
from services.gateway.ticket.event_kinds import KINDS
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import OPEN, conclude, note_progress
from services.gateway.ticket.outcome import Failed, Outcome
from services.gateway.ticket.question import questions_of
from services.gateway.ticket.queue import LEARN_TICKET_TASK, Announcer
from services.gateway.walk.catch_up import CatchUp
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

_DRAFT = tuple(getattr(TicketRow, name) for name in TicketDraft.model_fields)


@dataclass(frozen=True)
class OpenTicket:
    """A ticket that waits for its workflow."""

    draft: TicketDraft
    created_at: float
    """Seconds since the epoch; of a later walk, when it was asked for."""
    walk: int = 1
    asked: Dialogue = field(default_factory=Dialogue)


class Tickets:
    """What the walk writes. A ticket is concluded once, whoever walks it how often."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        announcer: Announcer,
        asking: Asking,
        catching_up: CatchUp,
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._announcer = announcer
        self._asking = asking
        self.catching_up = catching_up

    def open(self, ticket_id: str) -> OpenTicket | None:
        """The ticket; None when it is concluded already, or unknown."""
        began = func.coalesce(TicketRow.began_at, TicketRow.created_at).label("began")
        statement = select(TicketRow.walks, began, *_DRAFT).where(
            TicketRow.id == ticket_id, TicketRow.status.in_(OPEN)
        )
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
            turns = questions_of(session, ticket_id) if row and row.walks > 1 else ()
        if row is None:
            return None
        fields = dict(row._mapping)
        asked_for, walk = fields.pop("began"), fields.pop("walks")
        fields["teams"] = tuple(fields["teams"])
        draft = TicketDraft.model_construct(**fields)
        return OpenTicket(draft, asked_for, walk, asked_about(turns, text_of(draft)))

    def note(self, ticket_id: str, notes: Sequence[Note]) -> None:
        """Store how far the walk is; nothing when it is concluded already."""
        with self._database.session() as session:
            note_progress(session, ticket_id, notes)

    def conclude(
        self, ticket_id: str, outcome: Outcome, notes: Sequence[Note] = (), *, walk: int = 1
    ) -> float | None:
        """Store how the walk ended, with the last notes of its progress, all or nothing.

        The walk's task leaves the outbox with it. A system is told by whoever words the question,
        where a model does. Returns the seconds since the ticket came;
        None, and nothing is done to the ticket, when it is concluded already, or was answered since
        this `walk` began and is walked anew.

        Raises:
            LostClaimError: Another worker has taken the walk over; nothing is stored.
        """
        with self._database.session() as session:
            concluded = conclude(session, ticket_id, outcome, notes, walk=walk)
            if concluded is not None:
                asked = self._asking.ask(session, ticket_id, outcome.questions)
                add_events(session, ticket_id, asked)
                is_told = KINDS[outcome.status.value].is_told
                if is_told and not (asked and self._asking.is_worded):
                    self._announcer.put(session, ticket_id)
                if outcome.degraded:
                    self.catching_up.put(session, ticket_id, concluded.walk)
                if concluded.workflow_id is not None:
                    if concluded.walk > 1:
                        count_carried(session, concluded.workflow_id)
                    self._learn_if_over(session, ticket_id, walk)
            self._outbox.finish(session)
        return concluded.seconds if concluded is not None else None

    def _learn_if_over(self, session: Session, ticket_id: str, walk: int) -> None:
        """A ticket that was resolved before it was planned is learned from again."""
        over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id)
        if session.scalar(over) is not None:
            key = f"{LEARN_TICKET_TASK}:{ticket_id}:{walk}"
            self._outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key)


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Mark the ticket of a walk that the queue has given up."""
    conclude(session, arguments["ticket_id"], Failed(reason))
