"""Triage on request: teams, past tickets, rejected workflows, assignments."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from services.contracts.adoption import Judgement, Work
from services.contracts.gateway import TicketDetail
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketStatus
from services.contracts.triage import (
    Assignment,
    HandOver,
    Learning,
    PastTicket,
    PastTickets,
    Rejection,
    TriageDecision,
)
from services.kit.access.caller import current_caller
from services.kit.errors import ConflictError, NotFoundError
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import load_teachers, record_teaching, ticket_subject
from services.kit.teaching.teacher import are_enough, is_person
from services.tickets.ticket.assignment import BY_PERSON, forget_decision, store_decision
from services.tickets.ticket.events import TEAM, deliverer_of
from services.tickets.ticket.lifecycle import (
    hand_over,
    hand_over_once,
    mark_rejected,
    undo_hand_over,
)
from services.tickets.ticket.queries import Queries
from services.tickets.ticket.queue import Announcer, put_forgetting, put_search
from services.tickets.triage.handover import note_of_followed, note_of_rejected
from services.tickets.triage.team_router import (
    LEARN_TASK,
    TeamRouter,
    WriteNote,
    case_arguments,
    case_id,
)
from services.tickets.triage.teams import resolve_team

RecordVerdict = Callable[[Session, str, Judgement, str], None]
"""Function of the workflow's id, the verdict and the reason."""
RecordHandOver = Callable[[Session, str, str | None], None]
"""Function of the workflow's id and that of the box that says to hand over, if one does."""
TakeBackHandOver = Callable[[Session, str], None]
"""Function of the workflow's id."""

WorkOf = Callable[[str], Work]
"""Function of the workflow's id."""

_AFTER_ANOTHER_S = 1e-6
"""Seconds between past tickets of one request, so that they keep their order."""


class TicketOpenError(ConflictError):
    """The ticket's walk is not over: there is nothing to reject yet."""


class TicketOverError(ConflictError):
    """The fault is over: nobody has to take the ticket."""


class HandedOverError(ConflictError):
    """The ticket is a team's already, or waits for one."""


class StepOfTicketNotFoundError(NotFoundError):
    """The ticket has no such workflow, or that no such step."""


class TriageService:
    """Triage decisions and hand-overs, for routes, pages and tools."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        team_router: TeamRouter,
        queries: Queries,
        announcer: Announcer | None = None,
        *,
        record_verdict: RecordVerdict | None = None,
        record_hand_over: RecordHandOver | None = None,
        take_back_hand_over: TakeBackHandOver | None = None,
        work_of: WorkOf | None = None,
        searches: bool = False,
    ) -> None:
        """Create the service; without `announcer` no ticket system learns of a decision.

        `searches` says that causes are searched for, and that the search learns of rejections.

        `record_verdict` counts a workflow as rejected, with the engineer's reason, or no longer so.
        `record_hand_over` records that the work on a page ended so, perhaps at one of its boxes.
        `work_of` returns what was done of a workflow, for the note to the team.
        """
        self._announcer = announcer
        self._record_verdict = record_verdict
        self._record_hand_over = record_hand_over
        self._take_back_hand_over = take_back_hand_over
        self._work_of = work_of
        self._searches = searches
        self._database = database
        self._outbox = outbox
        self.team_router = team_router
        self._queries = queries

    def learn(self, past: PastTickets) -> Learning:
        """Queue past tickets for the graph; they are stored when this returns."""
        now = time.time()
        cases = [
            case_arguments(ticket, now + place * _AFTER_ANOTHER_S)
            for place, ticket in enumerate(past.tickets)
        ]
        with self._database.session() as session:
            self._outbox.put(session, LEARN_TASK, {"cases": cases}, _key())
        return Learning(tickets=len(cases))

    def reject(self, ticket_id: str, rejection: Rejection) -> TriageDecision:
        """Reject the workflow for an engineer and hand the ticket over to a team.

        It is handed over if a team is likely enough; else it has its note and waits for a person to
        choose. A person's assignment is not changed.

        Raises:
            TicketNotFoundError: No such ticket.
            TicketOpenError: Its walk is not over.
        """
        ticket = self._queries.ticket(ticket_id)
        if not ticket.status.is_final:
            raise TicketOpenError("the walk of this ticket is not over; wait for its workflow")
        # Recorded before the hand-over, which may be requested again.
        if ticket.workflow_id:
            with self._database.session() as session:
                if self._record_verdict:
                    verdict, reason = Judgement.REJECTED, rejection.reason
                    self._record_verdict(session, ticket.workflow_id, verdict, reason)
                put_forgetting(session, self._outbox, [ticket.id])
                if self._searches:
                    put_search(session, self._outbox, ticket.id)
        if ticket.triage and ticket.triage.by == BY_PERSON:
            return ticket.triage
        note = partial(note_of_rejected, ticket=ticket, reason=rejection.reason)
        decision = self._decide(ticket, note)
        self._store(ticket_id, decision)
        return decision

    def hand_over(
        self, ticket_id: str, workflow_id: str, step_id: str | None = None
    ) -> TriageDecision:
        """Hand the ticket over by one of its workflows, which is not rejected, and end the work.

        `step_id` is the box that says to hand over; it is ticked. If no team is likely enough the
        ticket has its note and waits for a person to choose; a team that a person chose before
        takes it.

        Raises:
            TicketNotFoundError: No such ticket.
            WorkflowNotFoundError: No such workflow.
            StepOfTicketNotFoundError: It is no workflow of the ticket, or has no such step.
            TicketOpenError: Its walk is not over.
            TicketOverError: The fault is over.
            HandedOverError: It was handed over before, or waits for its team.
        """
        ticket = self._queries.ticket(ticket_id)
        stored = self._queries.workflow(workflow_id)
        step = stored.workflow.by_id.get(step_id) if step_id else None
        if stored.ticket_id != ticket_id or (step_id and step is None):
            raise StepOfTicketNotFoundError("the ticket has no workflow with this step")
        _check_can_hand_over(ticket)
        work = self._work_of(workflow_id) if self._work_of else None
        note = partial(note_of_followed, ticket=ticket, stored=stored, step=step, work=work)
        previous = ticket.triage
        if previous and previous.by == BY_PERSON:
            changes = {"note": note(previous.note.asked), "at": datetime.now(UTC)}
            decision = previous.model_copy(update=changes)
        else:
            decision = self._decide(ticket, note)
        with self._database.session() as session:
            if not hand_over_once(session, ticket_id, has_team=decision.team is not None):
                raise HandedOverError("the ticket has just been handed over, ended or walked again")
            if self._record_hand_over:
                self._record_hand_over(session, workflow_id, step_id)
            store_decision(session, ticket_id, decision)
            if self._announcer:
                self._announcer.put(session, ticket_id)
        return decision

    def _decide(self, ticket: TicketDetail, note: WriteNote) -> TriageDecision:
        """Return the router's decision; without one, as nothing was learned, a person chooses."""
        decision = self.team_router.decide(ScreenedTicket(ticket), note)
        if decision is not None:
            return decision
        note_of_title = note(ticket.title)
        return TriageDecision(team=None, by="ranker", note=note_of_title, at=datetime.now(UTC))

    def assign(self, ticket_id: str, assignment: Assignment) -> TriageDecision:
        """Assign the ticket to the team that a person names; triage learns it.

        Nothing is learned from a key that nobody holds, nor beyond the bound of a day.

        Raises:
            TicketNotFoundError: No such ticket.
            UnknownTeamError: No such team; it must be declared first.
        """
        ticket = self._queries.ticket(ticket_id)
        team = resolve_team(assignment.team, self.team_router.team_names())
        previous = ticket.triage
        decision = TriageDecision(
            team=team,
            chance=1.0,
            candidates=previous.candidates if previous else (),
            by=BY_PERSON,
            note=previous.note if previous else HandOver(asked=ticket.title),
            at=datetime.now(UTC),
        )
        with self._database.session() as session:
            counts = record_teaching(session, TEAM + ticket_id)
        is_lesson = counts and is_person(current_caller().teacher)
        self._store(ticket_id, decision, [_case(ticket, team)] if is_lesson else [])
        return decision

    def take_back(self, ticket_id: str) -> TicketDetail:
        """Undo the hand-over: the ticket is worked on here again; repeating it changes nothing.

        The rejection of the workflow is undone too. What triage has learned of the team stays until
        another one is named.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        ticket = self._queries.ticket(ticket_id)
        workflow_id = ticket.workflow_id
        with self._database.session() as session:
            if undo_hand_over(session, ticket_id):
                if workflow_id and self._record_verdict:
                    self._record_verdict(session, workflow_id, Judgement.NONE, "")
                if self._take_back_hand_over:
                    for each in ticket.candidates:
                        self._take_back_hand_over(session, each.id)
                forget_decision(session, ticket_id, current_caller().name)
                if self._announcer:
                    self._announcer.put(session, ticket_id)
        return self._queries.ticket(ticket_id)

    def learn_ticket(self, ticket_id: str) -> None:
        """Learn a resolved ticket whose source names its team; a person's was learned at once.

        A label makes no team known: one that nobody declared, nor chose before, needs somebody else
        who worked on the ticket.
        """
        ticket = self._queries.ticket(ticket_id)
        named = ticket.labels.get("team", "").strip()[:200]
        if not named or (ticket.triage and ticket.triage.by == BY_PERSON):
            return
        subject = TEAM + ticket_id
        with self._database.session() as session:
            deliverer = deliverer_of(session, ticket_id)
            if deliverer is None or not record_teaching(session, subject, deliverer):
                return
            taught = load_teachers(session, [subject, ticket_subject(ticket_id)])
        teachers = {*taught.on(subject), *taught.on(ticket_subject(ticket_id))}
        if named in self.team_router.team_names() or are_enough(teachers):
            self.team_router.learn_cases([_case(ticket, named)])

    def _store(
        self,
        ticket_id: str,
        decision: TriageDecision,
        cases: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Store the decision."""
        with self._database.session() as session:
            store_decision(session, ticket_id, decision)
            if decision.team:
                hand_over(session, ticket_id)
            else:
                mark_rejected(session, ticket_id)
            if self._announcer:
                self._announcer.put(session, ticket_id)
            if cases:
                self._outbox.put(session, LEARN_TASK, {"cases": list(cases)}, _key())


def _key() -> str:
    return f"{LEARN_TASK}:{time_ordered_id()}"


def _check_can_hand_over(ticket: TicketDetail) -> None:
    """Raise the refusal if the ticket is still walked, over, or handed over already."""
    if not ticket.status.is_final:
        raise TicketOpenError("the walk of this ticket is not over; wait for its workflow")
    if ticket.status is TicketStatus.HANDED_OVER:
        team = f" to the team {ticket.triage.team}" if ticket.triage and ticket.triage.team else ""
        raise HandedOverError(f"the ticket is handed over already{team}")
    if ticket.status is TicketStatus.REJECTED:
        raise HandedOverError("the ticket waits to be handed over already: choose its team")
    if ticket.resolved_at is not None:
        raise TicketOverError("the fault is over: open the ticket again to hand it over")


def _case(ticket: TicketDetail, team: str) -> dict[str, Any]:
    past = PastTicket(
        id=case_id(ticket.id),
        title=ticket.title or ticket.alert_name,
        description=ticket.description,
        team=team,
    )
    return case_arguments(past, ticket.created_at.timestamp())
