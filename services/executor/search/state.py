"""How far a search has come: its tree, a pure function of its events."""

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
from services.executor.search.events import Event, Kind, Stage
from services.executor.search.experts import RETRIEVE
from services.executor.tools.compare import Fields, Scalar
from services.knowledge.screening.screening import screen_message

ROOT = 0
"""The node that stands for the ticket."""
LEFT_OUT = "[left out: it speaks to whoever reads it]"
FRUITLESS = frozenset({NodeState.NOTHING, NodeState.FAILED, NodeState.REFUTED})


@dataclass(frozen=True)
class Call:
    """A look: at a target, or into documents."""

    tool: str
    target: str
    arguments: Mapping[str, str]
    shown: str

    @property
    def is_lookup(self) -> bool:
        """Whether documents are asked, and no target."""
        return self.tool == RETRIEVE

    @property
    def on_target(self) -> str:
        """As a sentence ends with it; empty where documents are asked."""
        return f" on {self.target}" if self.target else ""

    @property
    def facts(self) -> dict[str, object]:
        """Of the events that tell of it."""
        return {
            "tool": self.tool,
            "target": self.target,
            "arguments": dict(self.arguments),
            "shown": self.shown,
        }


def _read(value: Scalar) -> Scalar:
    if not isinstance(value, str) or not value.strip():
        return value
    told = screen_message(value).text
    return told if told.strip() else LEFT_OUT


@dataclass(frozen=True)
class Observation:
    """What a look told."""

    id: str
    seq: int
    at: float
    node: int
    call: Call
    fields: Fields
    lines: tuple[str, ...]
    is_cut: bool

    def cited(self, lines: Iterable[int], fields: Iterable[str]) -> Cited:
        """Those of them that are there, each once."""
        return Cited(
            observation=self.id,
            lines=tuple(n for n in dict.fromkeys(lines) if 1 <= n <= len(self.lines)),
            fields=tuple(name for name in dict.fromkeys(fields) if name in self.fields),
        )

    @property
    def read_lines(self) -> tuple[str, ...]:
        """The lines as a model reads them: without what speaks to it; their numbers stay."""
        told = screen_message("\n".join(self.lines)).text.split("\n")
        if len(told) != len(self.lines):
            told = [screen_message(line).text for line in self.lines]
        pairs = zip(told, self.lines, strict=True)
        return tuple(LEFT_OUT if was.strip() and not now.strip() else now for now, was in pairs)

    @property
    def read_fields(self) -> Fields:
        """The fields as a model reads them: one that speaks to it is left out as its line is."""
        return {name: _read(value) for name, value in self.fields.items()}


@dataclass(frozen=True)
class Finding:
    """What an expert says that an observation tells."""

    id: str
    node: int
    text: str
    cited: tuple[Cited, ...]
    supports: tuple[str, ...]
    refutes: tuple[str, ...]
    struck: str = ""


@dataclass(frozen=True)
class Node:
    """A subtask of an expert."""

    id: int
    parent: int
    depth: int
    expert: str
    subtask: str
    hypothesis: str
    why: str
    asked_by: str
    state: NodeState = NodeState.OPEN
    state_why: str = ""
    call: Call | None = None
    observation: str = ""
    failed: str = ""
    """Why the look did not come about."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Pending:
    """An answer of the model from which nothing has followed yet."""

    stage: Stage
    node: int
    text: str


@dataclass(frozen=True)
class Misread:
    """An answer that could not be used."""

    text: str
    why: str


@dataclass(frozen=True)
class Request:
    """What a person wants looked at."""

    what: str
    expert: str
    by: str


@dataclass
class SearchState:
    """What follows from a search's events."""

    seq: int = 0
    begun_at: float = 0.0
    nodes: dict[int, Node] = field(default_factory=dict)
    """Without the root."""
    open: int = ROOT
    """The node whose expert is at work; the root: none."""
    here: int = ROOT
    """The point that it stands at."""
    hypotheses: dict[str, str] = field(default_factory=dict)
    observations: dict[str, Observation] = field(default_factory=dict)
    pending: Pending | None = None
    misread: list[Misread] = field(default_factory=list)
    """Answers to the question that is open, in order."""
    requests: list[Request] = field(default_factory=list)
    steered_at: int = 0
    """The number of the latest event by which a person changed the tree."""
    calls: int = 0
    tried: list[tuple[int, Call]] = field(default_factory=list)
    """Looks with the numbers of their events, those that failed too."""
    questions: int = 0
    tokens: int = 0
    backtracks: int = 0
    silences: int = 0
    """In a row."""
    silent_at: float = 0.0
    silent_why: str = ""
    is_refused: bool = False
    """The model will not answer however often it is asked."""
    paused_by: str = ""
    outcome: SearchOutcome | None = None
    why: str = ""
    answer: SearchAnswer | None = None

    @property
    def phase(self) -> SearchPhase:
        """What it is about."""
        if self.outcome is not None:
            return SearchPhase.ENDED
        if self.paused_by:
            return SearchPhase.PAUSED
        return SearchPhase.WAITING if self.silences else SearchPhase.SEARCHING

    def children(self, point: int) -> list[Node]:
        """In the order in which they were opened."""
        return [node for node in self.nodes.values() if node.parent == point]

    def depth(self, point: int) -> int:
        """How many looks lie above, itself included."""
        return self.nodes[point].depth if point else 0

    def path(self, point: int) -> Iterator[int]:
        """The point and those above it; the root comes last."""
        while point:
            yield point
            point = self.nodes[point].parent
        yield ROOT

    @property
    def findings(self) -> list[Finding]:
        """All that stand: of what was not pruned."""
        return [
            finding
            for node in self.nodes.values()
            if node.state is not NodeState.PRUNED
            for finding in node.findings
            if not finding.struck
        ]

    @property
    def citable(self) -> Mapping[str, Observation]:
        """Observations that count, by their ids."""
        return {
            id_: each
            for id_, each in self.observations.items()
            if self.nodes[each.node].state is not NodeState.PRUNED
        }

    def bearing(self, hypothesis: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Ids of the findings for it, and of those against it."""
        found = self.findings
        return (
            tuple(each.id for each in found if hypothesis in each.supports),
            tuple(each.id for each in found if hypothesis in each.refutes),
        )

    def standing(self, hypothesis: str) -> HypothesisState:
        """How it stands."""
        supporting, refuting = self.bearing(hypothesis)
        if supporting and refuting:
            return HypothesisState.CONTRADICTED
        if refuting:
            return HypothesisState.REFUTED
        return HypothesisState.SUPPORTED if supporting else HypothesisState.OPEN


def state_of(events: Iterable[Event]) -> SearchState:
    """How far the search has come."""
    state = SearchState()
    for event in events:
        _take_in(state, event)
    return state


def _take_in(state: SearchState, event: Event) -> None:  # noqa: C901, PLR0912, PLR0915 - a case a kind
    state.seq = event.seq
    facts: Mapping[str, Any] = event.facts
    match event.kind:
        case Kind.STARTED:
            state.begun_at = event.at
        case Kind.ANSWERED:
            state.questions += 1
            state.tokens += int(facts["tokens"])
            state.silences, state.silent_why = 0, ""
            if facts["after"] >= state.steered_at:  # a person changed what it was asked of
                state.pending = Pending(Stage(facts["stage"]), event.node, facts["text"])
        case Kind.NOT_ANSWERED:
            state.questions += 1
            state.silences += 1
            state.silent_at, state.silent_why = event.at, facts["why"]
            state.is_refused = state.is_refused or bool(facts["is_final"])
        case Kind.MISREAD:
            state.pending = None
            state.misread.append(Misread(facts["text"], facts["why"]))
        case Kind.OPENED:
            _open(state, event)
        case Kind.CALLED:
            _change(state, event.node, call=_call(facts))
            _is_used(state)
        case Kind.OBSERVED:
            _observe(state, event)
        case Kind.NOT_OBSERVED:
            state.calls += 1
            state.tried.append((event.seq, _call(facts)))
            _change(state, event.node, failed=facts["why"])
        case Kind.REFLECTED:
            found = tuple(_finding(event.node, each) for each in facts["findings"])
            _change(state, event.node, findings=found)
            _is_used(state)
        case Kind.SETTLED:
            if state.nodes[event.node].state is NodeState.OPEN:
                became = {"state": NodeState(facts["state"]), "state_why": facts["why"]}
                _change(state, event.node, **became)
            if state.open == event.node:
                state.open = ROOT
            _is_used(state)
        case Kind.MOVED:
            state.here = facts["to"]
            state.backtracks += bool(facts["is_back"])
        case Kind.PRUNED:
            _prune(state, event)
        case Kind.REQUESTED:
            state.requests.append(Request(facts["what"], facts["expert"], event.by))
            _steer(state, event.seq)
        case Kind.PAUSED:
            state.paused_by = event.by
        case Kind.RESUMED:
            state.paused_by = ""
            state.silences = 0
        case Kind.TAKEN_OVER:
            state.outcome, state.why = SearchOutcome.TAKEN_OVER, f"{event.by} took over"
        case Kind.ENDED:
            state.outcome, state.why = SearchOutcome(facts["outcome"]), facts["why"]
            state.answer = SearchAnswer.model_validate(facts["answer"])


def _open(state: SearchState, event: Event) -> None:
    facts = event.facts
    if supposes := facts.get("supposes"):
        state.hypotheses[facts["hypothesis"]] = supposes
    parent = facts["parent"]
    state.nodes[event.node] = Node(
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
    _is_used(state)


def _observe(state: SearchState, event: Event) -> None:
    facts = event.facts
    id_ = f"O{len(state.observations) + 1}"
    call = _call(facts)
    state.observations[id_] = Observation(
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
    _change(state, event.node, observation=id_)


def _prune(state: SearchState, event: Event) -> None:
    gone = {event.node}
    for node in state.nodes.values():  # those below come after it
        if node.parent in gone:
            gone.add(node.id)
    for id_ in gone:
        _change(state, id_, state=NodeState.PRUNED, state_why=f"left by {event.by}")
    if state.open in gone:
        state.open = ROOT
        state.pending, state.misread = None, []
    if state.here in gone:
        state.here = state.nodes[event.node].parent
        state.backtracks += 1
    _steer(state, event.seq)


def _steer(state: SearchState, seq: int) -> None:
    """A plan that was asked for before is asked for anew; what an expert does now is done."""
    if state.open == ROOT:
        state.steered_at = seq
        if state.pending is not None and state.pending.stage is Stage.PLAN:
            state.pending = None
        state.misread = []


def _is_used(state: SearchState) -> None:
    """What the model answered has been turned into events."""
    state.pending, state.misread = None, []


def _change(of: SearchState, id_: int, **values: Any) -> None:  # noqa: ANN401 - as of `replace`
    of.nodes[id_] = replace(of.nodes[id_], **values)


def _call(facts: Mapping[str, Any]) -> Call:
    return Call(facts["tool"], facts["target"], facts["arguments"], facts["shown"])


def _finding(node: int, told: Mapping[str, Any]) -> Finding:
    return Finding(
        told["id"],
        node,
        told["text"],
        tuple(Cited.model_validate(each) for each in told["cited"]),
        tuple(told["supports"]),
        tuple(told["refutes"]),
        told["struck"],
    )
