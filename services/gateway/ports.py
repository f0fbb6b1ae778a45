"""What pages and tools ask of the gateway, whoever answers it."""

import threading
from collections.abc import Sequence
from typing import Protocol

from services.contracts.adoption import (
    Acceptance,
    AcceptanceReport,
    EditRequest,
    LeftBehind,
    NewerReading,
    PageBeside,
    PartOfMark,
    StepJudgement,
    StepMark,
    TakenQuery,
    TakenTicket,
    VersionChanges,
    Work,
)
from services.contracts.clarification import Clarification, ClarificationAnswer
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
from services.contracts.triage import Assignment, Rejection, Team, TriageDecision
from services.gateway.ticket.listing.facets import Counts


class Tickets(Protocol):
    """Tickets and their workflows: taken in, read, asked about and resolved."""

    def accept_own(self, raw: bytes) -> Accepted:
        """Take in a plain ticket of a caller that the gate knows."""
        ...

    async def are_over(
        self, ticket_ids: Sequence[str], seconds: float, stopping: threading.Event
    ) -> bool:
        """Whether every walk is over before the time is up."""
        ...

    def tickets(self, query: TicketQuery) -> TicketPage:
        """A page of a list; raises `InvalidCursorError`."""
        ...

    def counts(self, query: TicketQuery) -> Counts:
        """How many tickets the query finds, and would find with another value of each kind."""
        ...

    def ticket(self, ticket_id: str) -> TicketDetail:
        """A ticket with all that hangs on it; raises `TicketNotFoundError`."""
        ...

    def events(self, ticket_id: str) -> list[ProgressEvent]:
        """What happened to a ticket, oldest first."""
        ...

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """A candidate with its scores; raises `WorkflowNotFoundError`."""
        ...

    def answer(
        self, ticket_id: str, clarification_id: str, given: ClarificationAnswer
    ) -> Clarification:
        """Take an answer to a question; the ticket is walked again."""
        ...

    def dismiss_questions(self, ticket_id: str) -> list[Clarification]:
        """Ask no more about the ticket."""
        ...

    def retry(self, ticket_id: str) -> TicketDetail:
        """Walk a failed ticket again."""
        ...

    def resolve(self, ticket_id: str) -> TicketDetail:
        """Take an engineer's word that the fault is over."""
        ...

    def take(self, ticket_id: str, given: Taking) -> TicketDetail:
        """The caller works on it."""
        ...

    def give_back(self, ticket_id: str) -> TicketDetail:
        """Nobody does any more."""
        ...

    def reopen(self, ticket_id: str) -> TicketDetail:
        """Take the word back that the fault is over."""
        ...

    def source_lines(self, document_id: str, lines: str, context: int | None) -> SourceLines:
        """The cited lines of a document and those around them."""
        ...


class Triage(Protocol):
    """Whose tickets are."""

    def teams(self) -> tuple[Team, ...]:
        """All declared teams, by name."""
        ...

    def known_teams(self) -> tuple[str, ...]:
        """Names of all declared teams, and of those that took past tickets."""
        ...

    def reject(self, ticket_id: str, rejection: Rejection) -> TriageDecision:
        """The workflow is not the answer: the ticket goes to a team."""
        ...

    def hand_over(
        self, ticket_id: str, workflow_id: str, step_id: str | None = None
    ) -> TriageDecision:
        """The ticket goes to a team, maybe as a box says; the workflow is not rejected."""
        ...

    def assign(self, ticket_id: str, assignment: Assignment) -> TriageDecision:
        """A person says whose ticket it is."""
        ...

    def take_back(self, ticket_id: str) -> TicketDetail:
        """The ticket is worked on here again."""
        ...


class Adoption(Protocol):
    """The work on workflows."""

    def work(self, workflow_id: str) -> Work:
        """How far it is; raises `WorkflowNotFoundError`."""
        ...

    def left_behind(self, ticket_id: str) -> tuple[LeftBehind, ...]:
        """What people did and said on a ticket that its workflow does not show as a mark."""
        ...

    def mark(self, workflow_id: str, step_id: str, mark: StepMark | PartOfMark) -> Work:
        """What was done with a step."""
        ...

    def beside(self, ticket_id: str, document_id: str, *, heading: str = "") -> PageBeside:
        """Return a page that the ticket's page leads to, with its boxes."""
        ...

    def marked_beside(self, ticket_id: str) -> tuple[PageBeside, ...]:
        """Return those of which a box was marked."""
        ...

    def mark_beside(
        self, ticket_id: str, document_id: str, box: str, mark: StepMark | PartOfMark
    ) -> PageBeside:
        """Take down what was done with a box of one."""
        ...

    def judge(self, workflow_id: str, step_id: str, judgement: StepJudgement) -> Work:
        """What is thought of a step."""
        ...

    def accept(self, workflow_id: str, acceptance: Acceptance) -> Work:
        """The workflow was the answer, or that is taken back."""
        ...

    def edit(self, workflow_id: str, request: EditRequest) -> str:
        """Make a version; returns its id."""
        ...

    def changes(self, workflow_id: str) -> VersionChanges:
        """What a version changes."""
        ...

    def report(self, weeks: int) -> AcceptanceReport:
        """The acceptance rate of so many weeks."""
        ...

    def taken(self, query: TakenQuery) -> tuple[TakenTicket, ...]:
        """The tickets that a number of it counts."""
        ...


class Renewal(Protocol):
    """What people did to the pages of a ticket's workflow."""

    def newer(self, ticket_id: str) -> tuple[NewerReading, ...]:
        """Since the workflow was made."""
        ...

    def renew(self, ticket_id: str) -> None:
        """Walk the ticket again with it."""
        ...
