"""How far a run has come: a pure function of its events."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from services.contracts.execution import RunOutcome, RunPhase
from services.executor.runs.events import Asking, Event, Kind
from services.executor.runs.run import Run
from services.executor.tools.compare import Fields

Place = tuple[str, int]
"""A step and the number of its visit."""


@dataclass(frozen=True)
class Observation:
    """What a tool told."""

    seq: int
    at: float
    place: Place
    purpose: str
    tool: str
    target: str
    arguments: Mapping[str, str]
    fields: Fields
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Approval:
    """An approval that was asked for."""

    digest: str
    tool: str
    shown: str
    target: str
    undo: str
    simulated: tuple[str, ...]
    """What the tool's own dry run told."""
    expires_at: float
    place: Place
    state: Kind = Kind.APPROVAL_ASKED
    by: str = ""
    by_person: bool = False
    """Whether they had signed in."""
    why: str = ""
    """What whoever refused it said."""

    @property
    def refused(self) -> str:
        """Why nothing may be sent, where it is over."""
        if self.state is Kind.EXPIRED:
            return "nobody approved it in time"
        if not self.by:
            return self.why
        return f"refused by {self.by}: {self.why}" if self.why else f"refused by {self.by}"


@dataclass(frozen=True)
class Question:
    """What a person is asked."""

    seq: int
    what: Asking
    text: str
    options: tuple[str, ...]
    evidence: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Answer:
    """What they said."""

    question: Question
    option: str
    arguments: Mapping[str, str]
    by: str


@dataclass(frozen=True)
class Change:
    """A change that was sent."""

    place: Place
    tool: str
    target: str
    arguments: Mapping[str, str]
    seq: int
    at: float
    came: Kind
    """`changed`, `not_sent` or `unknown`; `sent` while nothing else is known."""


@dataclass
class RunState:
    """What follows from a run's events."""

    seq: int = 0
    now: Place = ("", 0)
    """The step that it is at."""
    begun_at: float = 0.0
    visits: Counter[str] = field(default_factory=Counter)
    observations: list[Observation] = field(default_factory=list)
    failures: dict[tuple[Place, str], list[Event]] = field(default_factory=dict)
    """Looks that failed, by place and purpose."""
    calls: Counter[str] = field(default_factory=Counter)
    approvals: dict[Place, Approval] = field(default_factory=dict)
    question: Question | None = None
    """The open one."""
    answers: dict[tuple[Place, Asking], Answer] = field(default_factory=dict)
    prepared: dict[Place, Event] = field(default_factory=dict)
    """When the run took the target of a change, by its place."""
    changes: dict[Place, Change] = field(default_factory=dict)
    verified: dict[Place, Kind] = field(default_factory=dict)
    decided: dict[Place, Event] = field(default_factory=dict)
    undoing: bool = False
    undone: set[Place] = field(default_factory=set)
    paused_by: str = ""
    outcome: RunOutcome | None = None
    why: str = ""

    @property
    def phase(self) -> RunPhase:
        """What it is about."""
        if self.outcome is not None:
            return RunPhase.ENDED
        if self.paused_by:
            return RunPhase.PAUSED
        if self.question is not None:
            return RunPhase.ASKING
        return RunPhase.APPROVING if self.open_approval is not None else RunPhase.RUNNING

    @property
    def open_approval(self) -> Approval | None:
        """The one that waits for somebody."""
        open_ = (a for a in self.approvals.values() if a.state is Kind.APPROVAL_ASKED)
        return next(open_, None)

    @property
    def last_change(self) -> float:
        """When something was last changed; 0 before that."""
        return max((change.at for change in self.changes.values()), default=0.0)

    def seen(self, place: Place, purpose: str) -> list[Observation]:
        """What was seen at a place for a purpose, in order."""
        return [o for o in self.observations if o.place == place and o.purpose == purpose]

    def latest(
        self, tool: str, target: str, arguments: Mapping[str, str], *, after: float = 0.0
    ) -> Observation | None:
        """The last time that this tool told this, after a moment."""
        for each in reversed(self.observations):
            same = (each.tool, each.target, each.arguments) == (tool, target, arguments)
            if same and each.at >= after:
                return each
        return None

    def told(self, name: str) -> str | None:
        """A field as `tool.field`, as it was last told."""
        tool, _, wanted = name.partition(".")
        for each in reversed(self.observations):
            if each.tool == tool and (value := each.fields.get(wanted)) not in {None, ""}:
                return str(value)
        return None


def state_of(run: Run, events: Iterable[Event]) -> RunState:
    """How far the run has come."""
    state = RunState(now=(run.workflow.steps[0].id, 0))
    for event in events:
        _take_in(state, event)
    return state


def _take_in(state: RunState, event: Event) -> None:  # noqa: C901, PLR0912 - a case a kind
    state.seq = event.seq
    place: Place = (event.step, event.visit)
    facts = event.facts
    match event.kind:
        case Kind.STARTED:
            state.begun_at = event.at
        case Kind.ENTERED:
            state.now = place
            state.visits[event.step] += 1
        case Kind.OBSERVED | Kind.CHANGED:
            _observe(state, event, place)
        case Kind.NOT_OBSERVED:
            state.failures.setdefault((place, facts["purpose"]), []).append(event)
        case Kind.APPROVAL_ASKED:
            state.approvals[place] = Approval(
                facts["digest"],
                facts["tool"],
                facts["shown"],
                facts["target"],
                facts["undo"],
                tuple(facts["simulated"]),
                facts["expires_at"],
                place,
            )
        case Kind.APPROVED | Kind.DENIED | Kind.EXPIRED:
            asked = state.approvals[place]
            by_person = facts.get("kind") == "person"
            state.approvals[place] = replace(
                asked,
                state=event.kind,
                by=event.by,
                by_person=by_person,
                why=facts.get("why", ""),
            )
        case Kind.PREPARED:
            state.prepared[place] = event
        case Kind.SENT:
            state.changes[place] = _change(event, place)
        case Kind.NOT_SENT | Kind.UNKNOWN:
            state.changes[place] = replace(state.changes[place], at=event.at, came=event.kind)
        case Kind.ASKED:
            state.question = Question(
                event.seq,
                Asking(facts["what"]),
                facts["text"],
                tuple(facts["options"]),
                tuple(facts.get("evidence", ())),
                place,
            )
        case Kind.ANSWERED if state.question is not None:
            asked_of = (state.question.place, state.question.what)
            state.answers[asked_of] = Answer(
                state.question, facts["option"], facts.get("arguments", {}), event.by
            )
            state.question = None
        case Kind.DECIDED:
            state.decided[place] = event
        case Kind.VERIFIED | Kind.NOT_VERIFIED:
            state.verified[place] = event.kind
        case Kind.UNDOING:
            state.undoing = True
        case Kind.UNDONE:
            state.undone.add(place)
        case Kind.PAUSED:
            state.paused_by = event.by
        case Kind.RESUMED:
            state.paused_by = ""
        case Kind.TAKEN_OVER:
            state.outcome, state.why = RunOutcome.HANDED_OVER, f"{event.by} took over"
        case Kind.ENDED:
            state.outcome, state.why = RunOutcome(facts["outcome"]), facts["why"]
            state.question = None
        case _:
            pass


def _observe(state: RunState, event: Event, place: Place) -> None:
    facts: Mapping[str, Any] = event.facts
    seen = Observation(
        event.seq,
        event.at,
        place,
        facts["purpose"],
        facts["tool"],
        facts["target"],
        facts["arguments"],
        facts["fields"],
        tuple(facts["lines"]),
    )
    state.observations.append(seen)
    state.calls[seen.tool] += 1
    if event.kind is Kind.CHANGED:
        state.changes[place] = replace(state.changes[place], at=event.at, came=event.kind)


def _change(event: Event, place: Place) -> Change:
    facts = event.facts
    return Change(
        place, facts["tool"], facts["target"], facts["arguments"], event.seq, event.at, event.kind
    )
