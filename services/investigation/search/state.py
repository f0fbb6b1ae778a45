"""State of a search with its tree: a pure function of its events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from services.contracts.searching import (
    Cited,
    HypothesisState,
    NodeState,
    SearchAnswer,
    SearchOutcome,
    SearchPhase,
)
from services.execution.tools.compare import Fields
from services.investigation.search.events import Event, SearchEventKind, Stage
from services.investigation.search.search import RETRIEVE
from services.knowledge.screening.screening import screen_message

ROOT = 0
"""Id of the node that represents the ticket."""
LEFT_OUT = "[left out: it speaks to whoever reads it]"
FRUITLESS = frozenset({NodeState.NOTHING, NodeState.FAILED, NodeState.REFUTED})


@dataclass(frozen=True)
class Call:
    """Call of a look: at a target, or into documents."""

    tool: str
    target: str
    arguments: Mapping[str, str]
    shown: str

    @property
    def is_lookup(self) -> bool:
        """True if it looks into documents, not at a target."""
        return self.tool == RETRIEVE

    @property
    def on_target(self) -> str:
        """Target as the end of a sentence; empty for a look into documents."""
        return f" on {self.target}" if self.target else ""

    @property
    def facts(self) -> dict[str, object]:
        """Facts of the events that record it."""
        return {
            "tool": self.tool,
            "target": self.target,
            "arguments": dict(self.arguments),
            "shown": self.shown,
        }


def screen_output(text: str) -> str:
    """Return a text of a tool, or about one, without instructions to a model."""
    screened = screen_message(text).text
    return LEFT_OUT if text.strip() and not screened.strip() else screened


@dataclass(frozen=True)
class ExpertObservation:
    """Output of a look."""

    id: str
    seq: int
    at: float
    node: int
    call: Call
    fields: Fields
    lines: tuple[str, ...]
    is_cut: bool

    def citation_of(self, lines: Iterable[int], fields: Iterable[str]) -> Cited:
        """Build a citation of those lines and fields that exist, each once."""
        return Cited(
            observation=self.id,
            lines=tuple(n for n in dict.fromkeys(lines) if 1 <= n <= len(self.lines)),
            fields=tuple(name for name in dict.fromkeys(fields) if name in self.fields),
        )

    @property
    def read_lines(self) -> tuple[str, ...]:
        """Lines without instructions to a model; their numbers stay."""
        screened = screen_message("\n".join(self.lines)).text.split("\n")
        if len(screened) != len(self.lines):
            return tuple(map(screen_output, self.lines))
        pairs = zip(screened, self.lines, strict=True)
        return tuple(LEFT_OUT if was.strip() and not now.strip() else now for now, was in pairs)

    @property
    def read_fields(self) -> Fields:
        """Fields without instructions to a model."""
        return {
            name: screen_output(value) if isinstance(value, str) and value.strip() else value
            for name, value in self.fields.items()
        }


@dataclass(frozen=True)
class ExpertFinding:
    """Statement of an expert about an observation."""

    id: str
    node: int
    text: str
    cited: tuple[Cited, ...]
    supports: tuple[str, ...]
    refutes: tuple[str, ...]
    struck: str = ""


@dataclass(frozen=True)
class SubtaskNode:
    """Node of the tree: a subtask of an expert."""

    id: int
    parent: int
    depth: int
    expert: str
    subtask: str
    hypothesis: str
    why: str
    requested_by: str
    state: NodeState = NodeState.OPEN
    state_why: str = ""
    call: Call | None = None
    observation: str = ""
    failed: str = ""
    """Reason why the look failed."""
    findings: tuple[ExpertFinding, ...] = ()


@dataclass(frozen=True)
class PendingAnswer:
    """Answer of the model from which nothing has followed yet."""

    stage: Stage
    node: int
    text: str


@dataclass(frozen=True)
class UnusableAnswer:
    """Answer of the model that could not be used."""

    text: str
    why: str


@dataclass(frozen=True)
class LookRequest:
    """A person's request for a look."""

    what: str
    expert: str
    by: str


@dataclass
class SearchState:
    """State that follows from a search's events."""

    seq: int = 0
    begun_at: float = 0.0
    nodes: dict[int, SubtaskNode] = field(default_factory=dict)
    """Nodes without the root."""
    open: int = ROOT
    """Node whose expert is at work; the root if none is."""
    here: int = ROOT
    """Point at which the search is."""
    hypotheses: dict[str, str] = field(default_factory=dict)
    observations: dict[str, ExpertObservation] = field(default_factory=dict)
    pending: PendingAnswer | None = None
    misread: list[UnusableAnswer] = field(default_factory=list)
    """Unusable answers to the open question, in order."""
    requests: list[LookRequest] = field(default_factory=list)
    steered_at: int = 0
    """Number of the latest event by which a person changed the tree."""
    calls: int = 0
    tried: list[tuple[int, Call]] = field(default_factory=list)
    """Looks with the numbers of their events, failed ones too."""
    questions: int = 0
    tokens: int = 0
    backtracks: int = 0
    silences: int = 0
    """Questions in a row without an answer."""
    silent_at: float = 0.0
    silent_why: str = ""
    is_refused: bool = False
    """True if the model will not answer however often it is asked."""
    paused_by: str = ""
    outcome: SearchOutcome | None = None
    why: str = ""
    answer: SearchAnswer | None = None

    @property
    def phase(self) -> SearchPhase:
        """Phase, as lists show it."""
        if self.outcome is not None:
            return SearchPhase.ENDED
        if self.paused_by:
            return SearchPhase.PAUSED
        return SearchPhase.WAITING if self.silences else SearchPhase.SEARCHING

    def children(self, point: int) -> list[SubtaskNode]:
        """Return the nodes below a point, in the order in which they were opened."""
        return [node for node in self.nodes.values() if node.parent == point]

    def depth(self, point: int) -> int:
        """Return the number of looks from the root to a point, itself included."""
        return self.nodes[point].depth if point else 0

    def path(self, point: int) -> Iterator[int]:
        """Yield the point and those above it; the root comes last."""
        while point:
            yield point
            point = self.nodes[point].parent
        yield ROOT

    @property
    def findings(self) -> list[ExpertFinding]:
        """Findings that are not struck, without pruned nodes."""
        return [
            finding
            for node in self.nodes.values()
            if node.state is not NodeState.PRUNED
            for finding in node.findings
            if not finding.struck
        ]

    @property
    def citable(self) -> Mapping[str, ExpertObservation]:
        """Observations of nodes that are not pruned, by their ids."""
        return {
            id_: each
            for id_, each in self.observations.items()
            if self.nodes[each.node].state is not NodeState.PRUNED
        }

    def findings_on(self, hypothesis: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the ids of the findings for a hypothesis, and of those against it."""
        findings = self.findings
        return (
            tuple(each.id for each in findings if hypothesis in each.supports),
            tuple(each.id for each in findings if hypothesis in each.refutes),
        )

    def hypothesis_state(self, hypothesis: str) -> HypothesisState:
        """Return the state of a hypothesis, by the findings on it."""
        supporting, refuting = self.findings_on(hypothesis)
        if supporting and refuting:
            return HypothesisState.CONTRADICTED
        if refuting:
            return HypothesisState.REFUTED
        return HypothesisState.SUPPORTED if supporting else HypothesisState.OPEN


def state_of(events: Iterable[Event]) -> SearchState:
    """Return the state after these events."""
    state = SearchState()
    for event in events:
        _apply_event(state, event)
    return state


def _apply_event(state: SearchState, event: Event) -> None:  # noqa: C901, PLR0912, PLR0915 - a case a kind
    state.seq = event.seq
    facts: Mapping[str, Any] = event.facts
    match event.kind:
        case SearchEventKind.STARTED:
            state.begun_at = event.at
        case SearchEventKind.ANSWERED:
            state.questions += 1
            state.tokens += int(facts["tokens"])
            state.silences, state.silent_why = 0, ""
            if facts["after"] >= state.steered_at:  # a person changed what it was asked of
                state.pending = PendingAnswer(Stage(facts["stage"]), event.node, facts["text"])
        case SearchEventKind.NOT_ANSWERED:
            state.questions += 1
            state.silences += 1
            state.silent_at, state.silent_why = event.at, facts["why"]
            state.is_refused = state.is_refused or bool(facts["is_final"])
        case SearchEventKind.MISREAD:
            state.pending = None
            state.misread.append(UnusableAnswer(facts["text"], facts["why"]))
        case SearchEventKind.OPENED:
            _open_node(state, event)
        case SearchEventKind.CALLED:
            _replace_node(state, event.node, call=_call(facts))
            _clear_pending(state)
        case SearchEventKind.OBSERVED:
            _observe(state, event)
        case SearchEventKind.NOT_OBSERVED:
            state.calls += 1
            state.tried.append((event.seq, _call(facts)))
            _replace_node(state, event.node, failed=facts["why"])
        case SearchEventKind.REFLECTED:
            findings = tuple(_finding(event.node, each) for each in facts["findings"])
            _replace_node(state, event.node, findings=findings)
            _clear_pending(state)
        case SearchEventKind.SETTLED:
            if state.nodes[event.node].state is NodeState.OPEN:
                became = {"state": NodeState(facts["state"]), "state_why": facts["why"]}
                _replace_node(state, event.node, **became)
            if state.open == event.node:
                state.open = ROOT
            _clear_pending(state)
        case SearchEventKind.MOVED:
            state.here = facts["to"]
            state.backtracks += bool(facts["is_back"])
        case SearchEventKind.PRUNED:
            _prune(state, event)
        case SearchEventKind.REQUESTED:
            state.requests.append(LookRequest(facts["what"], facts["expert"], event.by))
            _note_steering(state, event.seq)
        case SearchEventKind.PAUSED:
            state.paused_by = event.by
        case SearchEventKind.RESUMED:
            state.paused_by = ""
            state.silences = 0
        case SearchEventKind.TAKEN_OVER:
            state.outcome, state.why = SearchOutcome.TAKEN_OVER, f"{event.by} took over"
        case SearchEventKind.ENDED:
            state.outcome, state.why = SearchOutcome(facts["outcome"]), facts["why"]
            state.answer = SearchAnswer.model_validate(facts["answer"])


def _open_node(state: SearchState, event: Event) -> None:
    facts = event.facts
    if supposes := facts.get("supposes"):
        state.hypotheses[facts["hypothesis"]] = supposes
    parent = facts["parent"]
    state.nodes[event.node] = SubtaskNode(
        event.node,
        parent,
        state.depth(parent) + 1,
        facts["expert"],
        facts["subtask"],
        facts["hypothesis"],
        facts["why"],
        facts["asked_by"],
    )
    state.open = event.node
    if facts["asked_by"]:
        state.requests = state.requests[1:]
    _clear_pending(state)


def _observe(state: SearchState, event: Event) -> None:
    facts = event.facts
    id_ = f"O{len(state.observations) + 1}"
    call = _call(facts)
    state.observations[id_] = ExpertObservation(
        id_,
        event.seq,
        event.at,
        event.node,
        call,
        facts["fields"],
        tuple(facts["lines"]),
        facts["is_cut"],
    )
    state.calls += 1
    state.tried.append((event.seq, call))
    _replace_node(state, event.node, observation=id_)


def _prune(state: SearchState, event: Event) -> None:
    gone = {event.node}
    for node in state.nodes.values():  # those below come after it
        if node.parent in gone:
            gone.add(node.id)
    for id_ in gone:
        _replace_node(state, id_, state=NodeState.PRUNED, state_why=f"left by {event.by}")
    if state.open in gone:
        state.open = ROOT
        state.pending, state.misread = None, []
    if state.here in gone:
        state.here = state.nodes[event.node].parent
        state.backtracks += 1
    _note_steering(state, event.seq)


def _note_steering(state: SearchState, seq: int) -> None:
    """Discard a pending plan, to be asked for anew; an expert's current look is finished."""
    if state.open == ROOT:
        state.steered_at = seq
        if state.pending is not None and state.pending.stage is Stage.PLAN:
            state.pending = None
        state.misread = []


def _clear_pending(state: SearchState) -> None:
    """Clear the pending answer: it has been turned into events."""
    state.pending, state.misread = None, []


def _replace_node(of: SearchState, id_: int, **values: Any) -> None:  # noqa: ANN401 - as of `replace`
    of.nodes[id_] = replace(of.nodes[id_], **values)


def _call(facts: Mapping[str, Any]) -> Call:
    return Call(facts["tool"], facts["target"], facts["arguments"], facts["shown"])


def _finding(node: int, fields: Mapping[str, Any]) -> ExpertFinding:
    return ExpertFinding(
        fields["id"],
        node,
        fields["text"],
        tuple(Cited.model_validate(each) for each in fields["cited"]),
        tuple(fields["supports"]),
        tuple(fields["refutes"]),
        fields["struck"],
    )
