"""Searching: if no workflow fits, experts look for the cause with read-only tools."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.kit.value import Value


class SearchPhase(StrEnum):
    """Phase of a search."""

    SEARCHING = "searching"
    WAITING = "waiting"
    """The model did not answer and is asked again."""
    PAUSED = "paused"
    ENDED = "ended"


class SearchOutcome(StrEnum):
    """Outcome of a search."""

    DIAGNOSED = "found"
    """A cause, with evidence."""
    NOT_FOUND = "not_found"
    TAKEN_OVER = "taken_over"
    """A person continues."""
    CANCELLED = "cancelled"


class NodeState(StrEnum):
    """State of a node of the search tree."""

    OPEN = "open"
    """The expert is at work."""
    INFORMATIVE = "told"
    """The observation has findings; the search may continue from here."""
    NOTHING = "nothing"
    """The observation has nothing of use."""
    FAILED = "failed"
    """No tool was called, or the call failed."""
    REFUTED = "refuted"
    """The observation contradicts the hypothesis."""
    PRUNED = "pruned"
    """A person pruned this branch; its observations do not count."""


class StartSearch(Value):
    """Request to start a search."""

    ticket_id: str = Field(max_length=200)
    at_once: bool = False
    """True if the platform starts it by itself, which the policy has to allow."""


class SearchRequest(Value):
    """Request of a person to look at something next."""

    what: str = Field(min_length=1, max_length=500)
    expert: str = Field(default="", max_length=64)
    """Name of the expert to ask; empty: the one whose role and tools are nearest."""


class SearchPruning(Value):
    """Request to prune a branch."""

    node: int = Field(ge=1)


class SearchObservation(Value):
    """Output of a tool call, as findings cite it."""

    id: str
    """`O1`, `O2`, … within its search."""
    node: int
    tool: str
    target: str
    """Target of the call; empty for a search in documents."""
    arguments: dict[str, str] = Field(default={})
    shown: str
    """The call as it was sent, for people."""
    fields: dict[str, str | int | float | bool | None] = Field(default={})
    lines: tuple[str, ...] = ()
    """Lines of output; citations count them from 1."""
    is_cut: bool = False
    at: datetime


class Cited(Value):
    """Citation of lines and fields of an observation."""

    observation: str
    lines: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()


class SearchFinding(Value):
    """An expert's reading of an observation."""

    id: str
    """`F1`, `F2`, …; empty if the finding was struck."""
    node: int
    text: str
    cited: tuple[Cited, ...]
    supports: tuple[str, ...] = ()
    """Ids of hypotheses."""
    refutes: tuple[str, ...] = ()
    struck: str = ""
    """Reason why it does not count: the cited lines do not say it."""


class HypothesisState(StrEnum):
    """State of a hypothesis."""

    OPEN = "open"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    CONTRADICTED = "contradicted"
    """One finding supports it, another one refutes it."""


class SearchHypothesis(Value):
    """A possible cause."""

    id: str
    """`H1`, `H2`, …."""
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
    """Depth in the tree; 1 is directly below the ticket."""
    expert: str
    subtask: str
    hypothesis: str = ""
    """Id of the hypothesis that it is to confirm or rule out."""
    why: str = ""
    asked_by: str = ""
    """Person who requested it; empty: the search chose it."""
    state: NodeState
    state_why: str = ""
    shown: str = ""
    """The call, for people; empty before there is one."""
    tool: str = ""
    target: str = ""
    observation: SearchObservation | None = None
    findings: tuple[SearchFinding, ...] = ()


class SearchClaim(Value):
    """A statement of the answer, with its citations."""

    text: str
    cited: tuple[Cited, ...]
    struck: str = ""
    """Reason why it does not count."""


class Contradiction(Value):
    """Findings for and against the same hypothesis; both stand."""

    hypothesis: str
    supporting: tuple[str, ...]
    """Ids of findings."""
    refuting: tuple[str, ...]


class Suggestion(Value):
    """A tool of the catalogue that might help; a search never executes it."""

    tool: str
    description: str
    target: str = ""
    arguments: dict[str, str] = Field(default={})
    shown: str = ""
    """The call that would be sent, if all arguments are known and allowed."""
    why: str = ""


class SearchAnswer(Value):
    """Result of a search."""

    cause: str = ""
    """The cause, in a sentence or two; empty: none was found."""
    cause_struck: str = ""
    """The cause as the model named it, if the evidence does not contain its words."""
    claims: tuple[SearchClaim, ...] = ()
    """Claims, struck ones included."""
    suggestion: Suggestion | None = None
    contradictions: tuple[Contradiction, ...] = ()
    ruled_out: tuple[str, ...] = ()
    """Ids of refuted hypotheses."""


class SearchBounds(Value):
    """Limits at which a search ends by itself."""

    depth: int
    width: int
    calls: int
    questions: int
    """Number of calls to the model."""
    tokens: int
    within_s: float


class SearchSpent(Value):
    """Amount of the limits that is used."""

    calls: int
    questions: int
    tokens: int
    seconds: float
    backtracks: int
    """Number of returns to an earlier node."""


class SearchEvent(Value):
    """An event of a search."""

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
    """Reason for the outcome, or what the search waits for."""
    cause: str = ""
    started_by: str
    started_at: datetime


class SearchDetail(SearchSummary):
    """A search with all its events."""

    experts: tuple[str, ...]
    nodes: tuple[SearchNode, ...]
    """Nodes, in the order in which they were opened."""
    here: int
    """Id of the current node."""
    hypotheses: tuple[SearchHypothesis, ...]
    requests: tuple[str, ...] = ()
    """Requests of people that are still open."""
    answer: SearchAnswer | None = None
    """The answer, once the search is over."""
    bounds: SearchBounds
    spent: SearchSpent
    report: str = ""
    """Markdown report, once the search is over."""
    events: tuple[SearchEvent, ...]


class SearchExpert(Value):
    """An expert as configured."""

    name: str
    role: str
    tools: tuple[str, ...]
    knowledge: tuple[str, ...] = ()


class SearchMeans(Value):
    """Model and experts available to searches."""

    has_model: bool
    experts: tuple[SearchExpert, ...] = ()
    problem: str = ""
    """Reason why no search can be started; empty if one can."""
    at_once: bool = False
    """True if the policy lets searches start by themselves."""


class Searches(Protocol):
    """Searches for causes, in the name of the current caller."""

    def means(self) -> SearchMeans:
        """Return the available experts, and the reason if no search can be started."""

    def start(self, wanted: StartSearch) -> SearchDetail:
        """Start a search for the cause of a ticket.

        Raises:
            NotFoundError: No such ticket.
            ConflictError: It cannot be started: no model, a search is under way; says which.
            InvalidInputError: The catalogue or an expert's file says what cannot be.
        """

    def search(self, search_id: str) -> SearchDetail:
        """Return a search with all its events.

        Raises:
            NotFoundError: No such search.
        """

    def searches(self, ticket_id: str = "") -> list[SearchSummary]:
        """List the searches of one ticket, or the latest of all; 50 at most."""

    def prune(self, search_id: str, pruning: SearchPruning) -> SearchDetail:
        """Prune a branch: its observations do not count, and nothing continues from it.

        Raises:
            NotFoundError: No such search or node.
            ConflictError: The search is over.
        """

    def ask_for(self, search_id: str, request: SearchRequest) -> SearchDetail:
        """Request an observation to be made next; raises as `prune`."""

    def pause(self, search_id: str) -> SearchDetail:
        """Pause the search after the current call; raises as `prune`."""

    def resume(self, search_id: str) -> SearchDetail:
        """Resume the search; raises as `prune`."""

    def take_over(self, search_id: str) -> SearchDetail:
        """End the search, since the caller continues by hand; raises as `prune`."""

    def cancel(self, search_id: str) -> SearchDetail:
        """Cancel the search; raises as `prune`."""


class SearchesClient(ContractClient):
    """`Searches` in another process, over HTTP."""

    means = route(Searches.means, "GET", "/v1/search-means")
    start = route(Searches.start, "POST", "/v1/searches")
    search = route(Searches.search, "GET", "/v1/searches/{search_id}")
    searches = route(Searches.searches, "GET", "/v1/searches")
    prune = route(Searches.prune, "POST", "/v1/searches/{search_id}/pruning")
    ask_for = route(Searches.ask_for, "POST", "/v1/searches/{search_id}/requests")
    pause = route(Searches.pause, "POST", "/v1/searches/{search_id}/pause")
    resume = route(Searches.resume, "POST", "/v1/searches/{search_id}/resumption")
    take_over = route(Searches.take_over, "POST", "/v1/searches/{search_id}/taking-over")
    cancel = route(Searches.cancel, "POST", "/v1/searches/{search_id}/cancellation")
