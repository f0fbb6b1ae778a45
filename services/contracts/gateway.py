"""Gateway: tickets in, tickets with their workflows out, and what others see of them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import AwareDatetime, Field, model_validator

from services.contracts.clarification import Clarification, ClarificationState
from services.contracts.scorer import Score
from services.contracts.ticket import Fit, Ticket, TicketStatus
from services.contracts.triage import TriageDecision
from services.contracts.verdict import JudgedTicket, JudgedWorkflow
from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.workflow.model import Workflow, WorkflowKind


class NearestDocument(Value):
    """A passage that came closest to a ticket that nothing fits."""

    document_id: str
    heading_path: tuple[str, ...] = ()
    start_line: int
    end_line: int
    score: float
    reasons: tuple[str, ...] = ()


class Citing(Value):
    """A ticket whose workflow rests on lines of a document, or that these lines came near."""

    ticket_id: str
    title: str
    status: TicketStatus
    workflow_id: str | None
    """None where no workflow was made of it."""
    lines: tuple[tuple[int, int], ...]
    """First and last line, in their order."""
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
    """Alert name or title of the latest of them."""
    tickets: int
    alerts: int
    """That these tickets stand for."""
    unsure: int
    """Of the tickets: those that got the closest known procedure."""
    resolved: int
    """Of the tickets: those whose fault is over."""
    last_at: datetime
    nearest: NearestPlace | None = None
    """What came closest to the latest of them."""


class CoverageWeek(Value):
    """How many tickets of a week got a workflow that surely fits."""

    begins_at: datetime
    """A Monday, UTC."""
    tickets: int
    """Those whose walk is over."""
    sure: int


class Coverage(Value):
    """Where knowledge is missing."""

    since: datetime
    groups: tuple[CoverageGroup, ...]
    """Those with the most tickets first."""
    weeks: tuple[CoverageWeek, ...]
    """The oldest first; weeks without a ticket are there."""


class CandidateSummary(JudgedWorkflow):
    """A candidate without its steps."""

    id: str
    title: str
    rank: int
    """1 is the best; versions that people made come behind the candidates of their walk."""
    planner: str
    """Who wrote it; `person` of a version."""
    overall: float
    """Of a version: its candidate's, and so are `scores`."""
    scores: dict[str, float] = Field(default={})
    """The five, by name."""
    steps: int
    url: str
    version: int = 1
    """1 is the candidate itself."""


class StoredWorkflow(JudgedWorkflow):
    """A candidate as it is kept: the workflow, its scores and what the checks found."""

    id: str
    ticket_id: str
    rank: int
    workflow: Workflow
    score: Score
    against: tuple[str, ...] = ()
    """What speaks against that, in words."""
    findings: tuple[str, ...] = ()
    seconds: dict[str, float] = Field(default={})
    """How long each stage of the walk took."""
    created_at: datetime
    version: int = 1
    """1 is the candidate itself; later ones were edited by people and keep its scores."""
    candidate_id: str | None = None
    """Of a version: the candidate that it goes back to."""
    base_id: str | None = None
    """Of a version: what was edited."""


class RelatedTicket(Value):
    """A ticket that came at about the same time and has to do with another one."""

    id: str
    title: str
    status: TicketStatus
    why: str
    """`same alert` (but for numbers) or `same service`."""
    created_at: datetime


class Sort(StrEnum):
    """In which order tickets are listed."""

    NEWEST = "newest"
    OLDEST = "oldest"
    SEVERITY = "severity"
    """The worst first, then the newest; one of no known meaning comes after `warning`."""


class Within(StrEnum):
    """How far back a list goes."""

    HOUR = "1h"
    SIX_HOURS = "6h"
    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"

    @property
    def seconds(self) -> int:
        """As a number."""
        return int(self.value[:-1]) * {"h": 3600, "d": 86_400}[self.value[-1]]


_Value = Annotated[str, Field(max_length=200)]
_Values = Annotated[tuple[_Value, ...], Field(max_length=50)]


class TicketQuery(Value):
    """Which tickets are listed, from where on, in which order; what is not said restricts nothing.

    Of one kind several values may be given, such as `severity=critical&severity=high`: a ticket
    needs one of them. An empty one, as in `service=`, is for tickets that name none.
    """

    status: Annotated[tuple[TicketStatus, ...], Field(max_length=20)] = ()
    fit: Annotated[tuple[Fit, ...], Field(max_length=5)] = ()
    """`unsure`: the closest known procedure, not sure to be the right one."""
    resolved: bool | None = None
    """Whether the fault is over."""
    severity: _Values = ()
    source: _Values = ()
    service: _Values = ()
    holder: _Value = ""
    """Who has it, by name; `me`: whoever asks, `nobody`: it is nobody's."""
    team: _Values = ()
    """The team that triage or a person chose, or one that the source names."""
    text: _Value = ""
    """Looked for in title, description, alert name, service, labels and external id, whatever the
    case."""
    since: AwareDatetime | None = None
    """When the ticket came at the earliest."""
    until: AwareDatetime | None = None
    """When it came, this moment excluded."""
    within: Within | None = None
    """Came so lately."""
    sort: Sort = Sort.NEWEST
    cursor: Annotated[str | None, Field(max_length=80)] = None
    """The `next_cursor` of the page before."""
    limit: Annotated[int | None, Field(ge=1, le=500)] = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:  # noqa: ANN401 - as pydantic hands it over
        """A form sends its empty fields too."""
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value != ""}


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
    """Whom the source names as responsible."""
    team: str | None = None
    """The one that triage or a person chose."""
    created_at: datetime
    updated_at: datetime
    resolved_at: datetime | None
    alerts: int = 1
    """How many alerts it stands for: a storm of one alert is one ticket."""
    last_at: datetime | None = None
    """When the last of them came."""
    overall: float | None
    workflow_id: str | None
    proposed: str = ""
    """The title of the workflow that it shows."""
    holder: str | None = None
    """Who works on it; None while nobody does."""
    held_at: datetime | None = None
    """Since when."""


class TicketPage(Value):
    """Tickets in the order that was asked for."""

    tickets: tuple[TicketSummary, ...]
    next_cursor: str | None
    """Pass it as `cursor` for the tickets after these; None at the end."""


class Taking(Value):
    """Somebody takes a ticket."""

    from_: Annotated[str, Field(alias="from", max_length=200)] = ""
    """Who has it, where it is taken over; otherwise that is refused."""


class TicketComment(Value):
    """What somebody said about a ticket in its own system."""

    id: str
    source: str
    author: str
    """As the system calls them; may be empty."""
    text: str
    at: datetime
    """When it came here."""
    turn: int | None = None
    """Of `Clarification`: the question that it answered."""


class TicketDetail(Ticket, JudgedTicket):
    """A ticket with what the walk brought."""

    nearest: tuple[NearestDocument, ...] = ()
    """Filled when nothing fits: what came closest."""
    candidates: tuple[CandidateSummary, ...] = ()
    """Best first."""
    triage: TriageDecision | None = None
    """The team it went to with a note, when nothing fits or an engineer rejects the workflow."""
    clarifications: tuple[Clarification, ...] = ()
    """What was asked about it, in order; only the last question may be open."""
    alerts: int = 1
    """How many alerts it stands for: a storm of one alert is one ticket."""
    last_at: datetime | None = None
    """When the last of them came."""
    related: tuple[RelatedTicket, ...] = ()
    """The nearest ones, newest first."""
    asks: bool = True
    """Whether more may be asked about it: not once its engineer has gone on without questions."""
    comments: tuple[TicketComment, ...] = ()
    """What was said about it in its own system, in order; of very many the first."""
    holder: str | None = None
    """Who works on it; None while nobody does."""
    held_at: datetime | None = None
    """Since when."""
    better_page: str = ""
    """A page that a model found to fit better, once somebody worked with the workflow; to walk the
    ticket again (`renewal`) takes it."""

    @property
    def open_question(self) -> Clarification | None:
        """The one that waits for an answer."""
        asked = self.clarifications[-1:]
        return next((each for each in asked if each.state is ClarificationState.OPEN), None)

    @property
    def page_question(self) -> Clarification | None:
        """The latest question about pages, whose cards may be taken whether it is open or not."""
        asked = (each for each in reversed(self.clarifications) if each.cards)
        return next((each for each in asked if each.state is not ClarificationState.CLOSED), None)


class AcceptedTicket(JudgedTicket):
    """A ticket that a delivery made, or that it made earlier."""

    id: str
    status: TicketStatus
    reason: str = ""
    status_url: str
    source: str
    external_id: str
    occurrence: str = ""
    created: bool
    """False when an earlier delivery had made it."""
    resolved: bool = False
    """Whether this delivery says that the fault is over."""
    against: tuple[str, ...] = ()
    """What speaks against it, in words."""
    workflow_url: str | None = None
    workflow: StoredWorkflow | None = None
    """Present when the caller waited and it was stored in time."""


class RejectedItem(Value):
    """One item of a delivery that cannot become a ticket."""

    index: int
    """Its place in the delivery, from 0."""
    reason: str


class Accepted(JudgedTicket):
    """The answer to a delivery; all that it names is stored.

    The fields after `unmatched_resolved` repeat the ticket's, where there is exactly one.
    """

    tickets: tuple[AcceptedTicket, ...]
    rejected: tuple[RejectedItem, ...] = ()
    ignored: tuple[str, ...] = ()
    """Events that tell of no fault, such as a vendor's test: why each was let go."""
    unmatched_resolved: int = 0
    """Resolved alerts that have no ticket here; one that begins later, by a webhook that was
    overtaken, is known to be over."""
    id: str | None = None
    status_url: str | None = None
    against: tuple[str, ...] = ()
    workflow: StoredWorkflow | None = None

    def of(self, tickets: tuple[AcceptedTicket, ...]) -> "Accepted":
        """The same answer about these tickets."""
        only = tickets[0] if len(tickets) == 1 else None
        return self.model_copy(
            update={
                "tickets": tickets,
                "id": only.id if only else None,
                "status": only.status if only else None,
                "status_url": only.status_url if only else None,
                "fit": only.fit if only else None,
                "is_checked": bool(only and only.is_checked),
                "conditions": only.conditions if only else 0,
                "doubtful": only.doubtful if only else 0,
                "page_origin": only.page_origin if only else "",
                "kind": only.kind if only else WorkflowKind.PROCEDURE,
                "edited_by": only.edited_by if only else "",
                "against": only.against if only else (),
                "workflow": only.workflow if only else None,
            }
        )


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
    """Something that happened to a ticket; ids grow."""

    id: int
    ticket_id: str
    kind: str
    """`received`, `planning`, `retrieved`, `candidate` (each as it is written), `drafted`, `asked`
    (a question about the ticket), `answered` (it is walked again), `not_known`, `not_settled` (its
    words settle nothing), `went_on` (without an answer), `commented` (somebody did, in the
    ticket's own system), `retried` (its walk broke, and is queued again), `caught_up` (what did
    not answer may do so by now, and it is walked again), `triaged`, `assigned`, `resolved`,
    `archived` (as a typical case of a document), `taken`, `taken_over` and `given_back` (who works
    on it), `repeated` (more alerts of the same fault), `reopened` (it broke again), `told` and
    `not_told` (a system was told what is new, or could not be), `marked` (an engineer did, skipped
    or took back a step), `marked_beside` (the same of a box on a page that the ticket's page leads
    to), `judged` (said what they think of a step), `edited` (made a version of the workflow),
    `accepted`, `rejected` or `taken_back` (the workflow as a whole), `doubted` (a
    reading, by what was said of its step), `not_over` (somebody took back that it is resolved),
    `handed_back` (a hand-over was taken back), `renewed` (it is walked again with the page's
    reading as it is now), `page_chosen` (a model compared the nearest pages, and it is walked again
    by what it chose), `page_offered` (somebody works with the workflow: the page that a model finds
    better is told and no more), `ran` (a run of the workflow ended), `looked` (a run that asks
    nobody told what answers its questions), `searched` (a search for its cause ended), or a final
    status."""
    facts: dict[str, Any] = Field(default={})
    at: datetime


class StepSeen(Value):
    """What evidence tells of a question of a workflow; nobody has decided it by that."""

    step: str = Field(max_length=200)
    answer: str = Field(max_length=500)
    target: str = Field(max_length=100)
    because: str = Field(max_length=500)
    """What the look told, and what it was held against."""


class RunNote(Value):
    """How a run of a ticket's workflow ended."""

    run_id: str = Field(max_length=64)
    outcome: str = Field(max_length=20)
    by: str = Field(default="", max_length=200)
    """Who started it."""
    lines: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=60)
    """What was run, seen, decided and verified: told to the ticket's own system too."""
    is_open: bool = False
    """Whether the fault is surely not over: something was changed and did not help."""
    is_look: bool = False
    """Whether it only looked, by itself: the ticket's own system is not told of it."""
    workflow_id: str = Field(default="", max_length=200)
    seen: tuple[StepSeen, ...] = Field(default=(), max_length=200)
    """Of a look: what it tells of the workflow's questions."""


class SearchNote(Value):
    """What came of a search for the cause of a ticket."""

    search_id: str = Field(max_length=64)
    outcome: str = Field(max_length=20)
    by: str = Field(default="", max_length=200)
    """Who started it."""
    cause: str = Field(default="", max_length=600)
    """Empty: nothing was found."""
    lines: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=60)
    """What it rests on and what was ruled out: told to the ticket's own system too."""


class Tickets(Protocol):
    """Tickets and their workflows, as other services look at them."""

    def note_search(self, ticket_id: str, note: SearchNote) -> None:
        """Keep what came of a search, once.

        Raises:
            NotFoundError: No such ticket.
        """

    def note_run(self, ticket_id: str, note: RunNote) -> None:
        """Keep how a run ended, once; a ticket that is not over is opened again.

        Raises:
            NotFoundError: No such ticket.
        """

    def ticket(self, ticket_id: str) -> TicketDetail:
        """Raises `NotFoundError`."""

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """Raises `NotFoundError`."""


class TicketsClient:
    """`Tickets` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def ticket(self, ticket_id: str) -> TicketDetail:
        """See `Tickets.ticket`."""
        return TicketDetail.model_validate(self._client.get(f"/v1/tickets/{ticket_id}"))

    def note_run(self, ticket_id: str, note: RunNote) -> None:
        """See `Tickets.note_run`."""
        self._client.put(f"/v1/tickets/{ticket_id}/runs/{note.run_id}", note)

    def note_search(self, ticket_id: str, note: SearchNote) -> None:
        """See `Tickets.note_search`."""
        self._client.put(f"/v1/tickets/{ticket_id}/searches/{note.search_id}", note)

    def workflow(self, workflow_id: str) -> StoredWorkflow:
        """See `Tickets.workflow`."""
        return StoredWorkflow.model_validate(self._client.get(f"/v1/workflows/{workflow_id}"))
