"""Gateway: tickets, their workflows, and what other services see of them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import AwareDatetime, Field, model_validator

from services.contracts.clarification import Clarification, ClarificationState
from services.contracts.client import ContractClient, route
from services.contracts.scorer import Score
from services.contracts.ticket import Fit, Ticket, TicketStatus
from services.contracts.triage import TriageDecision
from services.contracts.verdict import JudgedTicket, JudgedWorkflow
from services.kit.value import Value
from services.workflow.model import Workflow


class NearestDocument(Value):
    """A passage that came closest to a ticket that no procedure fits."""

    document_id: str
    heading_path: tuple[str, ...] = ()
    start_line: int
    end_line: int
    score: float
    reasons: tuple[str, ...] = ()


class Citing(Value):
    """A ticket whose workflow cites lines of a document, or that came close to these lines."""

    ticket_id: str
    title: str
    status: TicketStatus
    workflow_id: str | None
    """Id of the workflow; None if none was made from the document."""
    lines: tuple[tuple[int, int], ...]
    """First and last line of each range, in their order."""
    created_at: datetime


class NearestPlace(Value):
    """Lines of a document that came close to a ticket."""

    document_id: str
    start_line: int
    end_line: int


class CoverageGroup(Value):
    """Tickets of one family of alerts that no procedure surely fits."""

    family: str
    name: str
    """Alert name or title of the latest ticket."""
    tickets: int
    alerts: int
    """Number of alerts grouped in these tickets."""
    unsure: int
    """Number of tickets that got the closest known procedure."""
    resolved: int
    """Number of tickets whose fault is over."""
    last_at: datetime
    nearest: NearestPlace | None = None
    """Lines that came closest to the latest ticket."""


class CoverageWeek(Value):
    """Number of tickets of a week that got a workflow that surely fits."""

    begins_at: datetime
    """Start of the week: Monday, UTC."""
    tickets: int
    """Number of tickets whose walk is over."""
    sure: int


class Coverage(Value):
    """Gaps in the knowledge: tickets without a fitting procedure."""

    since: datetime
    groups: tuple[CoverageGroup, ...]
    """Groups, those with the most tickets first."""
    weeks: tuple[CoverageWeek, ...]
    """Weeks, the oldest first; weeks without tickets are included."""


class CandidateSummary(JudgedWorkflow):
    """A candidate without its steps."""

    id: str
    title: str
    rank: int
    """Rank of the candidate; 1 is the best. Versions edited by people come behind the candidates of
    their walk.
    """
    planner: str
    """Name of the planner; `person` for an edited version."""
    overall: float
    """Overall score; an edited version has that of its candidate, and its `scores` too."""
    scores: dict[str, float] = Field(default={})
    """The five scores, by name."""
    steps: int
    url: str
    version: int = 1
    """Number of the version; 1 is the candidate itself."""


class StoredWorkflow(JudgedWorkflow):
    """A stored candidate: the workflow, its scores and the findings of the checks."""

    id: str
    ticket_id: str
    rank: int
    workflow: Workflow
    score: Score
    against: tuple[str, ...] = ()
    """Reasons, in words, why the workflow may not fit."""
    findings: tuple[str, ...] = ()
    seconds: dict[str, float] = Field(default={})
    """Seconds that each stage of the walk took."""
    created_at: datetime
    version: int = 1
    """Number of the version; 1 is the candidate itself, later ones were edited by people and keep
    its scores.
    """
    candidate_id: str | None = None
    """Candidate that an edited version goes back to."""
    base_id: str | None = None
    """Workflow that was edited to make this version."""


class RelatedTicket(Value):
    """A ticket that came at about the same time and is related to another one."""

    id: str
    title: str
    status: TicketStatus
    why: str
    """Relation: `same alert` (up to numbers) or `same service`."""
    created_at: datetime


class Sort(StrEnum):
    """Sort order of a list of tickets."""

    NEWEST = "newest"
    OLDEST = "oldest"
    SEVERITY = "severity"
    """The worst first, then the newest; an unknown severity comes after `warning`."""


class Within(StrEnum):
    """Time span of a list, back from now."""

    HOUR = "1h"
    SIX_HOURS = "6h"
    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"

    @property
    def seconds(self) -> int:
        """Length of the span in seconds."""
        return int(self.value[:-1]) * {"h": 3600, "d": 86_400}[self.value[-1]]


_Value = Annotated[str, Field(max_length=200)]
_Values = Annotated[tuple[_Value, ...], Field(max_length=50)]


class TicketQuery(Value):
    """Filter, cursor and sort order of a list of tickets; empty fields do not restrict it.

    A field may have several values, such as `severity=critical&severity=high`: a ticket needs one
    of them. An empty value, as in `service=`, matches tickets that name none.
    """

    status: Annotated[tuple[TicketStatus, ...], Field(max_length=20)] = ()
    fit: Annotated[tuple[Fit, ...], Field(max_length=5)] = ()
    """Fit of the workflow; `unsure`: the closest known procedure, not sure to be the right one."""
    resolved: bool | None = None
    """True for tickets whose fault is over, False for the others."""
    severity: _Values = ()
    source: _Values = ()
    service: _Values = ()
    holder: _Value = ""
    """Name of the assignee; `me`: the caller, `nobody`: unassigned tickets."""
    team: _Values = ()
    """The team that triage or a person chose, or one that the source names."""
    text: _Value = ""
    """Text to find in title, description, alert name, service, labels and external id, ignoring
    case.
    """
    since: AwareDatetime | None = None
    """Earliest arrival of the ticket, inclusive."""
    until: AwareDatetime | None = None
    """Latest arrival of the ticket, exclusive."""
    within: Within | None = None
    """Time span, back from now, in which the ticket arrived."""
    sort: Sort = Sort.NEWEST
    cursor: Annotated[str | None, Field(max_length=80)] = None
    """The `next_cursor` of the page before."""
    limit: Annotated[int | None, Field(ge=1, le=500)] = None

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_fields(cls, fields: Any) -> Any:  # noqa: ANN401 - as pydantic hands it over
        """Drop empty strings: a form sends its empty fields too."""
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value != ""}


class TicketSummary(JudgedTicket):
    """A ticket in a list."""

    id: str
    status: TicketStatus
    title: str
    source: str
    external_id: str
    alert_name: str
    severity: str
    service: str = ""
    teams: tuple[str, ...] = ()
    """Teams that the source names as responsible."""
    team: str | None = None
    """The team that triage or a person chose."""
    created_at: datetime
    updated_at: datetime
    resolved_at: datetime | None
    alerts: int = 1
    """Number of alerts grouped in this ticket: a storm of one alert is one ticket."""
    last_at: datetime | None = None
    """Arrival of the last of these alerts."""
    overall: float | None
    workflow_id: str | None
    proposed: str = ""
    """The title of the workflow that the ticket shows."""
    holder: str | None = None
    """Name of the assignee; None while nobody has taken the ticket."""
    held_at: datetime | None = None
    """Time of the assignment."""


class TicketPage(Value):
    """A page of tickets, in the requested order."""

    tickets: tuple[TicketSummary, ...]
    next_cursor: str | None
    """Value of `cursor` for the next page; None at the end."""


class Taking(Value):
    """Request to assign a ticket to the caller."""

    from_: Annotated[str, Field(alias="from", max_length=200)] = ""
    """Current assignee, to take the ticket over from them; without it a taken ticket is refused."""


class TicketComment(Value):
    """A comment on a ticket in its own system."""

    id: str
    source: str
    author: str
    """Author's name in that system; may be empty."""
    text: str
    at: datetime
    """Time at which the comment arrived here."""
    turn: int | None = None
    """Number of the `Clarification` that the comment answered."""


class TicketDetail(Ticket, JudgedTicket):
    """A ticket with the results of its walk."""

    nearest: tuple[NearestDocument, ...] = ()
    """Closest passages, if nothing fits."""
    candidates: tuple[CandidateSummary, ...] = ()
    """Candidates, best first."""
    triage: TriageDecision | None = None
    """The team it went to, with a note, when nothing fits or an engineer rejects the workflow."""
    clarifications: tuple[Clarification, ...] = ()
    """Questions about the ticket, in order; only the last one may be open."""
    alerts: int = 1
    """Number of alerts grouped in this ticket: a storm of one alert is one ticket."""
    last_at: datetime | None = None
    """Arrival of the last of these alerts."""
    related: tuple[RelatedTicket, ...] = ()
    """The nearest related tickets, newest first."""
    asks: bool = True
    """True while questions may be asked about it; False once its engineer went on without them."""
    comments: tuple[TicketComment, ...] = ()
    """Comments on the ticket in its own system, in order; if there are very many, the first
    ones.
    """
    holder: str | None = None
    """Name of the assignee; None while nobody has taken the ticket."""
    held_at: datetime | None = None
    """Time of the assignment."""
    better_page: str = ""
    """A page that a model found to fit better after somebody began to work with the workflow;
    walking the ticket again (`renewal`) takes it.
    """

    @property
    def open_question(self) -> Clarification | None:
        """The question that waits for an answer."""
        latest = self.clarifications[-1:]
        return next((each for each in latest if each.state is ClarificationState.OPEN), None)

    @property
    def page_question(self) -> Clarification | None:
        """The latest question about pages; its cards may be chosen whether it is open or not."""
        questions = (each for each in reversed(self.clarifications) if each.cards)
        return next(
            (each for each in questions if each.state is not ClarificationState.CLOSED), None
        )


class AcceptedTicket(JudgedTicket):
    """A ticket that a delivery created, or had created earlier."""

    id: str
    status: TicketStatus
    reason: str = ""
    status_url: str
    source: str
    external_id: str
    occurrence: str = ""
    created: bool
    """False if an earlier delivery created it."""
    resolved: bool = False
    """True if this delivery says that the fault is over."""
    against: tuple[str, ...] = ()
    """Reasons, in words, why the workflow may not fit."""
    workflow_url: str | None = None
    workflow: StoredWorkflow | None = None
    """The workflow, if the caller waited and it was stored in time."""


class RejectedItem(Value):
    """An item of a delivery that cannot become a ticket."""

    index: int
    """Index of the item in the delivery, from 0."""
    reason: str


class Accepted(JudgedTicket):
    """Answer to a delivery; everything that it names is stored.

    The fields after `unmatched_resolved` repeat those of the ticket if there is exactly one.
    """

    tickets: tuple[AcceptedTicket, ...]
    rejected: tuple[RejectedItem, ...] = ()
    ignored: tuple[str, ...] = ()
    """Reasons for ignoring events that report no fault, such as a vendor's test."""
    unmatched_resolved: int = 0
    """Number of resolved alerts without a ticket here; if the firing alert arrives later, overtaken
    by its resolution, it is known to be over.
    """
    id: str | None = None
    status_url: str | None = None
    against: tuple[str, ...] = ()
    workflow: StoredWorkflow | None = None

    def with_tickets(self, tickets: tuple[AcceptedTicket, ...]) -> "Accepted":
        """Return the same answer for these tickets."""
        only = tickets[0] if len(tickets) == 1 else None
        repeated = {
            name: getattr(only, name) if only else field.default
            for name, field in type(self).model_fields.items()
            if name in AcceptedTicket.model_fields
        }
        return self.model_copy(update={"tickets": tickets, **repeated})


class SourceLines(Value):
    """Lines of a document around a citation."""

    document_id: str
    document_title: str
    first_line: int
    """Number of the first of `lines`."""
    start_line: int
    """First cited line."""
    end_line: int
    """Last cited line."""
    lines: tuple[str, ...]


class ProgressEvent(Value):
    """An event of a ticket; ids increase."""

    id: int
    ticket_id: str
    kind: str
    """Kind of event: `received`, `planning`, `retrieved`, `candidate` (each as it is written),
    `drafted`, `asked` (a question about the ticket), `answered` (it is walked again),
    `not_known`, `not_settled` (the answer settles nothing), `went_on` (without an answer),
    `commented` (in the ticket's own system), `retried` (its walk failed, and is queued again),
    `caught_up` (a service that did not answer may do so by now, and it is walked again),
    `triaged`, `assigned`, `resolved`, `archived` (as a typical case of a document), `taken`,
    `taken_over` and `given_back` (its assignee changed), `repeated` (more alerts of the same
    fault), `reopened` (the fault is back), `reopened_there` (its own system opened it again),
    `relabelled` and `retitled` (other labels or another title came from there), `told` and
    `not_told` (a system was notified, or could not be),
    `marked` (an engineer did, skipped or reset a step), `marked_beside` (the same
    for a box on a page that the ticket's page links to), `judged` (an engineer judged a step),
    `edited` (an engineer made a version of the workflow), `accepted`, `rejected` or `taken_back`
    (the workflow as a whole), `doubted` (a reading, by feedback on its step), `not_over` (a
    resolution was undone), `handed_back` (a hand-over was undone), `renewed` (it is walked again
    with the page's current reading), `page_chosen` (a model compared the nearest pages, and it
    is walked again with its choice), `page_offered` (somebody works with the workflow, so the
    page that a model prefers is only offered), `ran` (a run of the workflow ended), `looked` (a
    run that asks nobody found evidence for its questions), `searched` (a search for its cause
    ended), or a final status.
    """
    facts: dict[str, Any] = Field(default={})
    at: datetime


class StepSeen(Value):
    """Evidence for a question of a workflow; the question stays undecided."""

    step: str = Field(max_length=200)
    answer: str = Field(max_length=500)
    target: str = Field(max_length=100)
    because: str = Field(max_length=500)
    """The observation, and the condition that it was compared with."""


class RunNote(Value):
    """Result of a run of a ticket's workflow."""

    run_id: str = Field(max_length=64)
    outcome: str = Field(max_length=20)
    by: str = Field(default="", max_length=200)
    """Person who started the run."""
    lines: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=60)
    """Report of what was run, seen, decided and verified; it is written back to the ticket's own
    system too.
    """
    is_open: bool = False
    """True if the fault is surely not over: something was changed and did not help."""
    is_look: bool = False
    """True if the run was read-only and started by itself; the ticket's own system is not
    notified.
    """
    workflow_id: str = Field(default="", max_length=200)
    seen: tuple[StepSeen, ...] = Field(default=(), max_length=200)
    """Evidence of a read-only run for the workflow's questions."""
    left: str = Field(default="", max_length=500)
    """Reason why a read-only run left the rest to a person though it could have looked."""


class SearchNote(Value):
    """Result of a search for the cause of a ticket."""

    search_id: str = Field(max_length=64)
    outcome: str = Field(max_length=20)
    by: str = Field(default="", max_length=200)
    """Person who started the search."""
    cause: str = Field(default="", max_length=600)
    """The cause; empty: none was found."""
    lines: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=60)
    """Report of the evidence and of what was ruled out; it is written back to the ticket's own
    system too.
    """


class Tickets(Protocol):
    """Tickets and their workflows, as other services see them."""

    def note_search(self, ticket_id: str, note: SearchNote) -> None:
        """Store the result of a search on its ticket, once.

        Raises:
            NotFoundError: No such ticket.
        """

    def note_run(self, ticket_id: str, note: RunNote) -> None:
        """Store the result of a run on its ticket, once; a ticket with an open fault is reopened.

        Raises:
            NotFoundError: No such ticket.
        """

    def ticket(self, ticket_id: str) -> TicketDetail:
        """Return a ticket.

        Raises:
            NotFoundError: No such ticket.
        """

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """Return a stored workflow.

        Raises:
            NotFoundError: No such workflow.
        """


class TicketsClient(ContractClient):
    """`Tickets` in another process, over HTTP."""

    ticket = route(Tickets.ticket, "GET", "/v1/tickets/{ticket_id}")
    note_run = route(Tickets.note_run, "PUT", "/v1/tickets/{ticket_id}/runs/{note.run_id}")
    note_search = route(
        Tickets.note_search, "PUT", "/v1/tickets/{ticket_id}/searches/{note.search_id}"
    )
    workflow = route(Tickets.workflow, "GET", "/v1/workflows/{workflow_id}")
