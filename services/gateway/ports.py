"""Protocols through which pages and tools call the gateway, whoever implements them."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.contracts.adoption import (
    Acceptance,
    AcceptanceReport,
    EditRequest,
    LeftBehind,
    MarkPatch,
    NewerReading,
    PageBeside,
    StepJudgement,
    StepMark,
    TakenQuery,
    TakenTicket,
    VersionChanges,
    Work,
)
from services.contracts.clarification import Clarification, ClarificationAnswer
from services.contracts.composing import Compositions
from services.contracts.gateway import (
    Accepted,
    ProgressEvent,
    SourceLines,
    StoredWorkflow,
    Taking,
    TicketDetail,
    TicketPage,
    TicketQuery,
)
from services.contracts.ingestion import Ingestion
from services.contracts.proposals import Proposals
from services.contracts.readings import Readings
from services.contracts.retrieval import Retrieval
from services.contracts.triage import Assignment, Rejection, Team, TriageDecision
from services.gateway.ticket.listing.facets import Counts
from services.kit.access.caller import Caller


class TicketPort(Protocol):
    """Tickets and their workflows: taken in, read, asked about and resolved."""

    def accept_own(self, raw: bytes) -> Accepted:
        """Take in a plain ticket of a caller who is already authenticated."""
        ...

    async def are_over(
        self, ticket_ids: Sequence[str], seconds: float, stopping: threading.Event
    ) -> bool:
        """Wait for all walks; return True if they are over before the time is up."""
        ...

    def tickets(self, query: TicketQuery) -> TicketPage:
        """Return a page of the list; raises `InvalidCursorError`."""
        ...

    def counts(self, query: TicketQuery) -> Counts:
        """Count the tickets that match the query, and those with another value of each filter."""
        ...

    def ticket(self, ticket_id: str) -> TicketDetail:
        """Return a ticket with all that belongs to it; raises `TicketNotFoundError`."""
        ...

    def events(self, ticket_id: str) -> list[ProgressEvent]:
        """Return the events of a ticket, oldest first."""
        ...

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """Return a candidate with its scores; raises `WorkflowNotFoundError`."""
        ...

    def answer(
        self, ticket_id: str, clarification_id: str, answer: ClarificationAnswer
    ) -> Clarification:
        """Take an answer to a question; the ticket is walked again."""
        ...

    def dismiss_questions(self, ticket_id: str) -> list[Clarification]:
        """Stop asking questions about the ticket."""
        ...

    def retry(self, ticket_id: str) -> TicketDetail:
        """Walk a failed ticket again."""
        ...

    def resolve(self, ticket_id: str) -> TicketDetail:
        """Mark the fault as over, as an engineer says."""
        ...

    def assign_to_caller(self, ticket_id: str, request: Taking) -> TicketDetail:
        """Assign the ticket to the caller."""
        ...

    def unassign(self, ticket_id: str) -> TicketDetail:
        """Unassign the ticket from the caller."""
        ...

    def reopen(self, ticket_id: str) -> TicketDetail:
        """Take back that the fault is over."""
        ...

    def source_lines(self, document_id: str, lines: str, context: int | None) -> SourceLines:
        """Return the cited lines of a document and those around them."""
        ...


class Triage(Protocol):
    """Teams, and the decisions which of them a ticket goes to."""

    def teams(self) -> tuple[Team, ...]:
        """Return all declared teams, by name."""
        ...

    def team_names(self) -> tuple[str, ...]:
        """Return the names of all declared teams, and of those that took past tickets."""
        ...

    def reject(self, ticket_id: str, rejection: Rejection) -> TriageDecision:
        """Reject the workflow as the answer and route the ticket to a team."""
        ...

    def hand_over(
        self, ticket_id: str, workflow_id: str, step_id: str | None = None
    ) -> TriageDecision:
        """Hand the ticket over to a team, at a box if one says so; the workflow is not rejected."""
        ...

    def assign(self, ticket_id: str, assignment: Assignment) -> TriageDecision:
        """Assign the ticket to the team that a person chose."""
        ...

    def take_back(self, ticket_id: str) -> TicketDetail:
        """Take back a hand-over, so that the ticket is worked on here again."""
        ...


class Adoption(Protocol):
    """Work on workflows: marks, judgements, edits, and the acceptance rate that follows."""

    def work(self, workflow_id: str) -> Work:
        """Return the progress of the work; raises `WorkflowNotFoundError`."""
        ...

    def left_behind(self, ticket_id: str) -> tuple[LeftBehind, ...]:
        """Return the feedback on a ticket that its workflow does not show as a mark."""
        ...

    def mark(self, workflow_id: str, step_id: str, mark: StepMark | MarkPatch) -> Work:
        """Record what was done with a step."""
        ...

    def linked_page(self, ticket_id: str, document_id: str, *, heading: str = "") -> PageBeside:
        """Return a page that the ticket's page links to, with its boxes."""
        ...

    def marked_linked_pages(self, ticket_id: str) -> tuple[PageBeside, ...]:
        """Return the linked pages of which a box was marked."""
        ...

    def mark_linked_box(
        self, ticket_id: str, document_id: str, box: str, mark: StepMark | MarkPatch
    ) -> PageBeside:
        """Record what was done with a box of a linked page."""
        ...

    def judge(self, workflow_id: str, step_id: str, judgement: StepJudgement) -> Work:
        """Record an engineer's judgement of a step."""
        ...

    def accept(self, workflow_id: str, acceptance: Acceptance) -> Work:
        """Record that the workflow was the answer, or take that back."""
        ...

    def edit(self, workflow_id: str, request: EditRequest) -> str:
        """Create a version of the workflow and return its id."""
        ...

    def changes(self, workflow_id: str) -> VersionChanges:
        """Return the changes that a version makes."""
        ...

    def report(self, weeks: int) -> AcceptanceReport:
        """Return the acceptance rate of the last `weeks` weeks."""
        ...

    def taken(self, query: TakenQuery) -> tuple[TakenTicket, ...]:
        """Return the tickets that one number of the report counts."""
        ...


class Renewal(Protocol):
    """Changes that people made to the pages of a ticket's workflow, and the walk with them."""

    def newer(self, ticket_id: str) -> tuple[NewerReading, ...]:
        """Return the readings that are newer than the ticket's workflow."""
        ...

    def renew(self, ticket_id: str) -> None:
        """Walk the ticket again with the newer readings."""
        ...


@dataclass(frozen=True)
class Knowledge:
    """Clients of the knowledge services: in this process, or over HTTP on behalf of the caller."""

    ingestion: Ingestion
    readings: Callable[[Caller], Readings]
    retrieval: Retrieval
    proposals: Proposals
    composing: Compositions | None = None
