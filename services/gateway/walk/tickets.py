"""Tickets on their walk: opened, followed, concluded. Reading is for `queries.py`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from services.contracts.ticket import Fit, TicketDraft, TicketStatus
from services.gateway.adoption.records import count_carried
from services.gateway.clarify.asking import Asking, asked_about
from services.gateway.clarify.dialogue import Dialogue, text_of
from services.gateway.tables import ClarificationRow, EventRow, TicketRow
from services.gateway.ticket.event_kinds import KINDS
from services.gateway.ticket.events import Note, add_events, last_beginning
from services.gateway.ticket.lifecycle import (
    OPEN,
    conclude,
    keep_workflow,
    lock_ticket,
    note_progress,
)
from services.gateway.ticket.outcome import Failed, Outcome, Planned
from services.gateway.ticket.question import About, questions_of
from services.gateway.ticket.queue import (
    CHOOSE_PAGE_TASK,
    LEARN_TICKET_TASK,
    LOOK_TASK,
    Announcer,
    put_search,
)
from services.gateway.walk.catch_up import CatchUp
from services.gateway.walk.untouched import BEFORE_WORK, is_worked_with
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
    family: str = ""
    """Of alerts that differ in numbers only."""
    is_no_page: bool = False
    """Whether its engineer says that no page treats it, and nobody has renewed it since."""
    is_by_choice: bool = False
    """Whether it is walked again since a model chose another page: nobody waits for it, and it
    takes the place of nothing that somebody works with."""


class Tickets:
    """What the walk writes. A ticket is concluded once, whoever walks it how often."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        announcer: Announcer,
        asking: Asking,
        catching_up: CatchUp,
        *,
        looks: bool = False,
        searches: bool = False,
    ) -> None:
        """`looks`: the executor hears of what surely fits; `searches`: of what is refused."""
        self._database = database
        self._outbox = outbox
        self._announcer = announcer
        self._asking = asking
        self.catching_up = catching_up
        self._looks = looks
        self._searches = searches

    def open(self, ticket_id: str) -> OpenTicket | None:
        """The ticket; None when it is concluded already, or unknown."""
        return self._read(TicketRow.id == ticket_id, TicketRow.status.in_(OPEN))

    def concluded(self, ticket_id: str, walk: int) -> OpenTicket | None:
        """The ticket as this walk saw it; None when there was a later one."""
        return self._read(TicketRow.id == ticket_id, TicketRow.walks == walk)

    def _read(self, *which: ColumnElement[bool]) -> OpenTicket | None:
        began = func.coalesce(TicketRow.began_at, TicketRow.created_at).label("began")
        columns = (TicketRow.id, TicketRow.walks, TicketRow.family, began, *_DRAFT)
        statement = select(*columns).where(*which)
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
            if row is None:
                return None
            is_again = row.walks > 1
            turns = questions_of(session, row.id) if is_again else ()
            begun_by = last_beginning(session, row.id) if is_again else ""
            is_renewed = any(_is_renewed_since(session, turn) for turn in turns)
        fields = dict(row._mapping)
        asked_for, walk, family = (fields.pop(name) for name in ("began", "walks", "family"))
        del fields["id"]
        fields["teams"] = tuple(fields["teams"])
        draft = TicketDraft.model_construct(**fields)
        asked = asked_about(turns, text_of(draft))
        return OpenTicket(
            draft,
            asked_for,
            walk,
            asked,
            family,
            is_no_page=asked.is_no_page and not is_renewed,
            is_by_choice=begun_by == "page_chosen",
        )

    def note(self, ticket_id: str, notes: Sequence[Note]) -> None:
        """Store how far the walk is; nothing when it is concluded already."""
        with self._database.session() as session:
            note_progress(session, ticket_id, notes)

    def conclude(
        self,
        ticket_id: str,
        outcome: Outcome,
        notes: Sequence[Note] = (),
        *,
        walk: int = 1,
        is_by_choice: bool = False,
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
            if is_by_choice and self._is_kept(session, ticket_id, outcome, walk):
                self._outbox.finish(session)
                return None
            concluded = conclude(session, ticket_id, outcome, notes, walk=walk)
            if concluded is not None:
                asked = self._asking.ask(session, ticket_id, outcome.questions)
                add_events(session, ticket_id, asked)
                is_told = KINDS[outcome.status.value].is_told
                if is_told and not (asked and self._asking.is_worded):
                    self._announcer.put(session, ticket_id)
                if outcome.degraded:
                    self.catching_up.put(session, ticket_id, concluded.walk)
                if self._searches and outcome.status is TicketStatus.REFUSED:
                    put_search(session, self._outbox, ticket_id)
                if isinstance(outcome, Planned) and outcome.asks_page:
                    self._put_choice(session, ticket_id, concluded.walk)
                if concluded.workflow_id is not None:
                    self._put_look(session, ticket_id, outcome, concluded.workflow_id)
                    if concluded.walk > 1:
                        count_carried(session, concluded.workflow_id)
                    self._learn_if_over(session, ticket_id, walk)
            self._outbox.finish(session)
        return concluded.seconds if concluded is not None else None

    def _is_kept(self, session: Session, ticket_id: str, outcome: Outcome, walk: int) -> bool:
        """Whether somebody began to work meanwhile, so that the page is offered, and no more."""
        lock_ticket(session, ticket_id)
        if not is_worked_with(session, ticket_id, besides=BEFORE_WORK):
            return False
        made = outcome.ranked[0].candidate.workflow if isinstance(outcome, Planned) else None
        documents = made.provenance.document_ids if made and made.provenance else ()
        page = next(iter(documents), "")
        if not keep_workflow(session, ticket_id, walk, page):
            return False
        by = made.provenance.chosen_by if made and made.provenance else ""
        add_events(session, ticket_id, [Note("page_offered", {"document": page, "by": by})])
        return True

    def _put_choice(self, session: Session, ticket_id: str, walk: int) -> None:
        arguments = {"ticket_id": ticket_id, "walk": walk, "since": time.time()}
        key = f"{CHOOSE_PAGE_TASK}:{ticket_id}:{walk}"
        self._outbox.put(session, CHOOSE_PAGE_TASK, arguments, key)

    def _put_look(
        self, session: Session, ticket_id: str, outcome: Outcome, workflow_id: str
    ) -> None:
        is_sure = isinstance(outcome, Planned) and outcome.verdicts[0].fit is Fit.SURE
        if self._looks and is_sure:
            arguments = {"ticket_id": ticket_id, "workflow_id": workflow_id}
            self._outbox.put(session, LOOK_TASK, arguments, f"{LOOK_TASK}:{workflow_id}")

    def _learn_if_over(self, session: Session, ticket_id: str, walk: int) -> None:
        """A ticket that was resolved before it was planned is learned from again."""
        over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id)
        if session.scalar(over) is not None:
            key = f"{LEARN_TICKET_TASK}:{ticket_id}:{walk}"
            self._outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key)


def _is_renewed_since(session: Session, turn: ClarificationRow) -> bool:
    """Whether somebody had the ticket walked anew after this question about pages was answered."""
    if turn.question["about"] != About.PAGES.value or turn.answered_at is None:
        return False
    later = exists().where(
        EventRow.ticket_id == turn.ticket_id,
        EventRow.kind == "renewed",
        EventRow.at > turn.answered_at,
    )
    return bool(session.scalar(select(later)))


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Mark the ticket of a walk that the queue has given up."""
    conclude(session, arguments["ticket_id"], Failed(reason))
