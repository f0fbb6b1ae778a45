"""Tickets on their walk: opened, followed, concluded. Reading is for `queries.py`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit, TicketStatus
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.adoption.usage import count_carried
from services.tickets.clarify.dialogue import Dialogue, text_of
from services.tickets.clarify.question_policy import QuestionPolicy, dialogue_of
from services.tickets.tables import ClarificationRow, EventRow, TicketRow
from services.tickets.ticket.event_kinds import KINDS
from services.tickets.ticket.events import Note, add_events, last_beginning
from services.tickets.ticket.lifecycle import (
    OPEN,
    ConcludedWalk,
    conclude,
    keep_workflow,
    lock_ticket,
    note_progress,
)
from services.tickets.ticket.outcome import FailedOutcome, PlannedOutcome, WalkOutcome
from services.tickets.ticket.queries import TICKET_COLUMNS, ticket_of_row
from services.tickets.ticket.question import QuestionTopic, questions_of
from services.tickets.ticket.queue import (
    CHOOSE_PAGE_TASK,
    LEARN_TICKET_TASK,
    LOOK_TASK,
    Announcer,
    put_search,
)
from services.tickets.walk.activity import BEFORE_WORK, has_human_activity
from services.tickets.walk.catch_up import CatchUp


@dataclass(frozen=True)
class OpenTicket:
    """A ticket that waits for its workflow."""

    ticket: ScreenedTicket
    created_at: float
    """Seconds since the epoch; of a later walk, the time at which it was asked for."""
    walk: int = 1
    dialogue: Dialogue = field(default_factory=Dialogue)
    family: str = ""
    """Family of its alert: equal for alerts that differ in numbers only."""
    is_no_page: bool = False
    """True if its engineer says that no page treats it, and nobody has renewed it since."""
    is_by_choice: bool = False
    """True if it is walked again because a model chose another page: nobody waits for it, and it
    takes the place of nothing that somebody works with.
    """


class WalkStore:
    """Store of tickets on their walk. A ticket is concluded once, however often it is walked."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        announcer: Announcer,
        question_policy: QuestionPolicy,
        catch_up: CatchUp,
        *,
        looks: bool = False,
        searches: bool = False,
    ) -> None:
        """Queue looks at sure fits if `looks`, and searches for causes on refusal if `searches`."""
        self._database = database
        self._outbox = outbox
        self._announcer = announcer
        self._question_policy = question_policy
        self.catch_up = catch_up
        self._looks = looks
        self._searches = searches

    def open(self, ticket_id: str) -> OpenTicket | None:
        """Return the ticket; None if it is concluded already, or unknown."""
        return self._read(TicketRow.id == ticket_id, TicketRow.status.in_(OPEN))

    def concluded(self, ticket_id: str, walk: int) -> OpenTicket | None:
        """Return the ticket as this walk saw it; None if there was a later one."""
        return self._read(TicketRow.id == ticket_id, TicketRow.walks == walk)

    def _read(self, *which: ColumnElement[bool]) -> OpenTicket | None:
        began = func.coalesce(TicketRow.began_at, TicketRow.created_at).label("began")
        columns = (TicketRow.id, TicketRow.walks, TicketRow.family, began, *TICKET_COLUMNS)
        statement = select(*columns).where(*which)
        with self._database.session() as session:
            row = session.execute(statement).one_or_none()
            if row is None:
                return None
            is_again = row.walks > 1
            turns = questions_of(session, row.id) if is_again else ()
            begun_by = last_beginning(session, row.id) if is_again else ""
            is_renewed = any(_is_renewed_since(session, turn) for turn in turns)
        ticket = ticket_of_row(row)
        dialogue = dialogue_of(turns, text_of(ticket.for_person()))
        return OpenTicket(
            ticket,
            row.began,
            row.walks,
            dialogue,
            row.family,
            is_no_page=dialogue.is_no_page and not is_renewed,
            is_by_choice=begun_by == "page_chosen",
        )

    def note(self, ticket_id: str, notes: Sequence[Note]) -> None:
        """Store progress of the walk; do nothing if it is concluded already."""
        with self._database.session() as session:
            note_progress(session, ticket_id, notes)

    def conclude(
        self,
        ticket_id: str,
        outcome: WalkOutcome,
        notes: Sequence[Note] = (),
        *,
        walk: int = 1,
        is_by_choice: bool = False,
    ) -> float | None:
        """Store how the walk ended, with the last events of its progress, all or nothing.

        The walk's task leaves the outbox with it. Where a model words the question, whoever does
        that announces it to the ticket's systems.

        Returns the seconds since the ticket came; None, and nothing is done to the ticket, if it is
        concluded already, or was answered since this `walk` began and is walked anew.

        Raises:
            LostClaimError: Another worker has taken the walk over; nothing is stored.
        """
        with self._database.session() as session:
            if is_by_choice and self._keep_if_in_use(session, ticket_id, outcome, walk):
                self._outbox.finish(session)
                return None
            concluded = conclude(session, ticket_id, outcome, notes, walk=walk)
            if concluded is not None:
                question_events = self._question_policy.ask(session, ticket_id, outcome.questions)
                add_events(session, ticket_id, question_events)
                is_announced = KINDS[outcome.status.value].is_announced
                if is_announced and not (question_events and self._question_policy.is_worded):
                    self._announcer.put(session, ticket_id)
                self._queue_next(session, ticket_id, outcome, concluded)
            self._outbox.finish(session)
        return concluded.seconds if concluded is not None else None

    def _keep_if_in_use(
        self, session: Session, ticket_id: str, outcome: WalkOutcome, walk: int
    ) -> bool:
        """Keep a workflow with which somebody began to work, and offer the new page.

        Returns False, and does nothing, if nobody did or the walk is concluded.
        """
        lock_ticket(session, ticket_id)
        if not has_human_activity(session, ticket_id, besides=BEFORE_WORK):
            return False
        made = outcome.ranked[0].candidate.workflow if isinstance(outcome, PlannedOutcome) else None
        documents = made.provenance.document_ids if made and made.provenance else ()
        page = next(iter(documents), "")
        if not keep_workflow(session, ticket_id, walk, page):
            return False
        by = made.provenance.chosen_by if made and made.provenance else ""
        add_events(session, ticket_id, [Note("page_offered", {"document": page, "by": by})])
        return True

    def _queue_next(
        self, session: Session, ticket_id: str, outcome: WalkOutcome, concluded: ConcludedWalk
    ) -> None:
        """Queue the tasks that follow from the end of a walk."""
        walk, workflow_id = concluded.walk, concluded.workflow_id
        if outcome.degraded:
            self.catch_up.put(session, ticket_id, walk)
        if self._searches and outcome.status is TicketStatus.REFUSED:
            put_search(session, self._outbox, ticket_id)
        if not isinstance(outcome, PlannedOutcome) or workflow_id is None:
            return
        if outcome.asks_page:
            choosing = {"ticket_id": ticket_id, "walk": walk, "since": time.time()}
            key = f"{CHOOSE_PAGE_TASK}:{ticket_id}:{walk}"
            self._outbox.put(session, CHOOSE_PAGE_TASK, choosing, key)
        if self._looks and outcome.verdicts[0].fit is Fit.SURE:
            look = {"ticket_id": ticket_id, "workflow_id": workflow_id}
            self._outbox.put(session, LOOK_TASK, look, f"{LOOK_TASK}:{workflow_id}")
        if walk > 1:
            count_carried(session, workflow_id)
        over = select(TicketRow.resolved_at).where(TicketRow.id == ticket_id)
        if session.scalar(over) is not None:  # resolved before it was planned: learned from again
            key = f"{LEARN_TICKET_TASK}:{ticket_id}:{walk}"
            self._outbox.put(session, LEARN_TICKET_TASK, {"ticket_id": ticket_id}, key)


def _is_renewed_since(session: Session, turn: ClarificationRow) -> bool:
    """Return True if the ticket was renewed after this question about pages was answered."""
    if turn.question["about"] != QuestionTopic.PAGES.value or turn.answered_at is None:
        return False
    later = exists().where(
        EventRow.ticket_id == turn.ticket_id,
        EventRow.kind == "renewed",
        EventRow.at > turn.answered_at,
    )
    return bool(session.scalar(select(later)))


def park(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Fail the ticket of a walk that the queue has given up."""
    conclude(session, arguments["ticket_id"], FailedOutcome(reason))
