"""Searching: where no workflow fits, experts look for the cause with tools that change nothing."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field

from services.kit.http.client import ServiceClient
from services.kit.value import Value


class SearchPhase(StrEnum):
    """What a search is about."""

    SEARCHING = "searching"
    WAITING = "waiting"
    """The model did not answer; it is asked again."""
    PAUSED = "paused"
    ENDED = "ended"


class SearchOutcome(StrEnum):
    """How a search ended."""

    FOUND = "found"
    """A cause, with evidence."""
    NOT_FOUND = "not_found"
    TAKEN_OVER = "taken_over"
    """A person goes on."""
    CANCELLED = "cancelled"


class NodeState(StrEnum):
    """What became of a node of the tree."""

    OPEN = "open"
    """Its expert is at work."""
    TOLD = "told"
    """Something was found; it is a point to go on from."""
    NOTHING = "nothing"
    """The look told nothing of use."""
    FAILED = "failed"
    """There was no look, or it did not come about."""
    REFUTED = "refuted"
    """What was seen speaks against what was supposed."""
    PRUNED = "pruned"
    """A person said that this leads nowhere; what was seen there does not count."""


class StartSearch(Value):
    """What is to be searched."""

    ticket_id: str = Field(max_length=200)
    at_once: bool = False
    """The platform starts it by itself: only where the policy lets it."""


class SearchRequest(Value):
    """What a person wants to be looked at."""

    what: str = Field(min_length=1, max_length=500)
    expert: str = Field(default="", max_length=64)
    """Whom they ask; empty: the one whose role and tools are nearest."""


class SearchPruning(Value):
    """A branch that leads nowhere."""

    node: int = Field(ge=1)


class SearchObservation(Value):
    """What a tool told, as it is cited."""

    id: str
    """`O1`, `O2`, … in its search."""
    node: int
    tool: str
    target: str
    """Empty of what was looked up in documents."""
    arguments: dict[str, str] = Field(default={})
    shown: str
    """What was sent, for people."""
    fields: dict[str, str | int | float | bool | None] = Field(default={})
    lines: tuple[str, ...] = ()
    """Counted from 1."""
    is_cut: bool = False
    at: datetime


class Cited(Value):
    """Lines and fields of an observation."""

    observation: str
    lines: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()


class SearchFinding(Value):
    """What an expert says that an observation tells."""

    id: str
    """`F1`, …; empty of one that was struck."""
    node: int
    text: str
    cited: tuple[Cited, ...]
    supports: tuple[str, ...] = ()
    """Ids of hypotheses."""
    refutes: tuple[str, ...] = ()
    struck: str = ""
    """Why it does not count: what it says is not in the lines that it cites."""


class HypothesisState(StrEnum):
    """How a hypothesis stands."""

    OPEN = "open"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    CONTRADICTED = "contradicted"
    """One finding speaks for it, another one against it."""


class SearchHypothesis(Value):
    """What might be the cause."""

    id: str
    """`H1`, …"""
    text: str
    state: HypothesisState
    supported_by: tuple[str, ...] = ()
    """Ids of findings."""
    refuted_by: tuple[str, ...] = ()


class SearchNode(Value):
    """A subtask of an expert; node 0 is the ticket itself."""

    id: int
    parent: int
    depth: int
    """1 right below the ticket."""
    expert: str
    subtask: str
    hypothesis: str = ""
    """Id of what it is to confirm or rule out."""
    why: str = ""
    asked_by: str = ""
    """The person who asked for it; empty: the search chose it."""
    state: NodeState
    state_why: str = ""
    shown: str = ""
    """The call, for people; empty before there is one."""
    tool: str = ""
    target: str = ""
    observation: SearchObservation | None = None
    findings: tuple[SearchFinding, ...] = ()


class SearchClaim(Value):
    """A statement of the answer with what it rests on."""

    text: str
    cited: tuple[Cited, ...]
    struck: str = ""
    """Why it does not count."""


class Contradiction(Value):
    """Findings that speak for and against the same hypothesis; both stand."""

    hypothesis: str
    supporting: tuple[str, ...]
    """Ids of findings."""
    refuting: tuple[str, ...]


class Suggestion(Value):
    """A tool of the catalogue that might help; it is never executed here."""

    tool: str
    description: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    shown: str = ""
    """What would be sent, where all arguments are known and allowed."""
    why: str = ""


class SearchAnswer(Value):
    """What came of a search."""

    cause: str = ""
    """In a sentence or two; empty: nothing was found."""
    cause_struck: str = ""
    """What the model called the cause, where its words are not in the evidence."""
    claims: tuple[SearchClaim, ...] = ()
    """Struck ones too."""
    suggestion: Suggestion | None = None
    contradictions: tuple[Contradiction, ...] = ()
    ruled_out: tuple[str, ...] = ()
    """Ids of refuted hypotheses."""


class SearchBounds(Value):
    """Where a search ends by itself."""

    depth: int
    width: int
    calls: int
    questions: int
    """Put to the model."""
    tokens: int
    within_s: float


class SearchSpent(Value):
    """How much of them is used."""

    calls: int
    questions: int
    tokens: int
    seconds: float
    backtracks: int
    """How often it went back to an earlier point."""


class SearchEvent(Value):
    """Something that happened in a search."""

    seq: int
    kind: str
    at: datetime
    by: str = ""
    node: int = 0
    facts: dict[str, Any] = Field(default={})


class SearchSummary(Value):
    """A search in a list."""

    id: str
    ticket_id: str
    ticket_title: str
    phase: SearchPhase
    outcome: SearchOutcome | None = None
    why: str = ""
    """Why it ended so, or what it waits for."""
    cause: str = ""
    started_by: str
    started_at: datetime


class SearchDetail(SearchSummary):
    """A search with all that happened."""

    experts: tuple[str, ...]
    nodes: tuple[SearchNode, ...]
    """In the order in which they were opened."""
    here: int
    """The point that it stands at."""
    hypotheses: tuple[SearchHypothesis, ...]
    requests: tuple[str, ...] = ()
    """What people asked for and is not looked at yet."""
    answer: SearchAnswer | None = None
    """Once it is over."""
    bounds: SearchBounds
    spent: SearchSpent
    report: str = ""
    """In Markdown; once it is over."""
    events: tuple[SearchEvent, ...]


class SearchExpert(Value):
    """An expert, as it is configured."""

    name: str
    role: str
    tools: tuple[str, ...]
    knowledge: tuple[str, ...] = ()


class SearchMeans(Value):
    """What a search has to search with."""

    has_model: bool
    experts: tuple[SearchExpert, ...] = ()
    problem: str = ""
    """Why no search can be started; empty where one can."""
    at_once: bool = False
    """Whether the policy lets searches begin by themselves."""


class Searching(Protocol):
    """Looks for causes. Whoever calls is the current caller."""

    def means(self) -> SearchMeans:
        """Whether a search can be started, and with which experts."""

    def start(self, wanted: StartSearch) -> SearchDetail:
        """Search for the cause of a ticket.

        Raises:
            NotFoundError: No such ticket.
            ConflictError: It cannot be started: no model, a search is under way; says which.
            InvalidInputError: The catalogue or an expert's file says what cannot be.
        """

    def search(self, search_id: str) -> SearchDetail:
        """Raises `NotFoundError`."""

    def searches(self, ticket_id: str = "") -> list[SearchSummary]:
        """Of one ticket, or the latest of all; 50 at most."""

    def prune(self, search_id: str, pruning: SearchPruning) -> SearchDetail:
        """Leave a branch: what was seen there does not count, and nothing goes on from it.

        Raises:
            NotFoundError: No such search or node.
            ConflictError: The search is over.
        """

    def ask_for(self, search_id: str, request: SearchRequest) -> SearchDetail:
        """Have something looked at next; raises as `prune`."""

    def pause(self, search_id: str) -> SearchDetail:
        """Let it rest after what is asked just now; raises as `prune`."""

    def resume(self, search_id: str) -> SearchDetail:
        """Let it go on; raises as `prune`."""

    def take_over(self, search_id: str) -> SearchDetail:
        """End it, since the caller goes on by hand; raises as `prune`."""

    def cancel(self, search_id: str) -> SearchDetail:
        """End it; raises as `prune`."""


class SearchingClient:
    """`Searching` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def means(self) -> SearchMeans:
        """See `Searching.means`."""
        return SearchMeans.model_validate(self._client.get("/v1/search-means"))

    def start(self, wanted: StartSearch) -> SearchDetail:
        """See `Searching.start`."""
        return SearchDetail.model_validate(self._client.post("/v1/searches", wanted))

    def search(self, search_id: str) -> SearchDetail:
        """See `Searching.search`."""
        return SearchDetail.model_validate(self._client.get(f"/v1/searches/{search_id}"))

    def searches(self, ticket_id: str = "") -> list[SearchSummary]:
        """See `Searching.searches`."""
        found = self._client.get("/v1/searches", ticket_id=ticket_id)
        return [SearchSummary.model_validate(each) for each in found]

    def prune(self, search_id: str, pruning: SearchPruning) -> SearchDetail:
        """See `Searching.prune`."""
        return self._post(search_id, "pruning", pruning)

    def ask_for(self, search_id: str, request: SearchRequest) -> SearchDetail:
        """See `Searching.ask_for`."""
        return self._post(search_id, "requests", request)

    def pause(self, search_id: str) -> SearchDetail:
        """See `Searching.pause`."""
        return self._post(search_id, "pause", {})

    def resume(self, search_id: str) -> SearchDetail:
        """See `Searching.resume`."""
        return self._post(search_id, "resumption", {})

    def take_over(self, search_id: str) -> SearchDetail:
        """See `Searching.take_over`."""
        return self._post(search_id, "taking-over", {})

    def cancel(self, search_id: str) -> SearchDetail:
        """See `Searching.cancel`."""
        return self._post(search_id, "cancellation", {})

    def _post(self, search_id: str, what: str, body: Value | dict[str, str]) -> SearchDetail:
        told = self._client.post(f"/v1/searches/{search_id}/{what}", body)
        return SearchDetail.model_validate(told)
