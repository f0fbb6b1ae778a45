"""State of a run: a pure function of its events."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from services.contracts.execution import RunOutcome, RunPhase
from services.execution.runs.events import (
    Event,
    NewEvent,
    QuestionKind,
    RunEventKind,
    StepVisit,
)
from services.execution.runs.run import CitedPassage, Run, ShownDifference
from services.execution.tools.compare import Fields

STOPS_LATER = "it ends when the change that was sent has an end"


@dataclass(frozen=True)
class Observation:
    """Parsed output of a tool."""

    seq: int
    at: float
    place: StepVisit
    purpose: str
    tool: str
    target: str
    arguments: Mapping[str, str]
    fields: Fields
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Approval:
    """An approval that was requested."""

    digest: str
    tool: str
    shown: str
    target: str
    undo: str
    simulated: tuple[str, ...]
    """Output of the tool's own dry run."""
    expires_at: float
    place: StepVisit
    number: int
    """Number of the request at its place: each is approved for itself."""
    at: float
    """Time of the request, or of its approval."""
    passages: tuple[CitedPassage, ...] = ()
    definition: str = ""
    again: str = ""
    """Reason why it is requested again."""
    differences: tuple[ShownDifference, ...] = ()
    """Differences from the request before."""
    warnings: tuple[str, ...] = ()
    state: RunEventKind = RunEventKind.APPROVAL_REQUESTED
    by: str = ""
    by_person: bool = False
    """True if the approver had signed in."""
    why: str = ""
    """Reason of whoever refused it."""
    is_by_policy: bool = False
    """True if nobody has refused it, but what the policy or the page says now."""
    evidence: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """Reason why nothing may be sent, if it was refused or expired."""
        if self.state is RunEventKind.EXPIRED:
            return "nobody approved it in time"
        if not self.by:
            return self.why
        return f"refused by {self.by}: {self.why}" if self.why else f"refused by {self.by}"


@dataclass(frozen=True)
class Question:
    """A question to a person."""

    seq: int
    what: QuestionKind
    text: str
    options: tuple[str, ...]
    evidence: tuple[str, ...]
    place: StepVisit


@dataclass(frozen=True)
class PersonAnswer:
    """A person's answer to a question."""

    question: Question
    option: str
    arguments: Mapping[str, str]
    by: str
    by_id: str
    """Lasting id of the person; empty if they filled nothing in."""


@dataclass(frozen=True)
class SentChange:
    """A change that was sent."""

    place: StepVisit
    tool: str
    target: str
    arguments: Mapping[str, str]
    seq: int
    at: float
    status: RunEventKind
    """`changed`, `not_sent` or `unknown`; `sent` until its outcome is known."""
    why: str = ""
    """Reason why it was not sent, or why its outcome is unknown."""


@dataclass
class RunState:
    """State that follows from a run's events."""

    seq: int = 0
    now: StepVisit = ("", 0)
    """Current step and visit."""
    begun_at: float = 0.0
    visits: Counter[str] = field(default_factory=Counter)
    observations: list[Observation] = field(default_factory=list)
    failures: dict[tuple[StepVisit, str], list[Event]] = field(default_factory=dict)
    """Failed looks, by place and purpose."""
    calls: Counter[str] = field(default_factory=Counter)
    approvals: dict[StepVisit, Approval] = field(default_factory=dict)
    requests: Counter[StepVisit] = field(default_factory=Counter)
    voided: dict[StepVisit, Approval] = field(default_factory=dict)
    """Latest approval at a place that does not hold any more."""
    revisions: dict[StepVisit, dict[str, ShownDifference]] = field(default_factory=dict)
    """Differences since the latest request at a place, by what differs."""
    renewals: dict[StepVisit, Event] = field(default_factory=dict)
    """Latest event after which a change began anew: looks before it do not count."""
    question: Question | None = None
    """The open question."""
    answers: dict[tuple[StepVisit, QuestionKind], PersonAnswer] = field(default_factory=dict)
    prepared: dict[StepVisit, Event] = field(default_factory=dict)
    """Events that locked the target of a change, by the place of the change."""
    changes: dict[StepVisit, SentChange] = field(default_factory=dict)
    verified: dict[StepVisit, RunEventKind] = field(default_factory=dict)
    decided: dict[StepVisit, Event] = field(default_factory=dict)
    undoing: bool = False
    undone: set[StepVisit] = field(default_factory=set)
    paused_by: str = ""
    later_end: tuple[NewEvent, ...] = ()
    """Event that ends the run once what was sent has an end, if a person wants that."""
    outcome: RunOutcome | None = None
    why: str = ""

    @property
    def phase(self) -> RunPhase:
        """Phase, as lists show it."""
        if self.outcome is not None:
            return RunPhase.ENDED
        if self.paused_by:
            return RunPhase.PAUSED
        if self.question is not None:
            return RunPhase.ASKING
        return RunPhase.APPROVING if self.open_approval is not None else RunPhase.RUNNING

    @property
    def open_approval(self) -> Approval | None:
        """The approval that waits for a person."""
        open_ = (a for a in self.approvals.values() if a.state is RunEventKind.APPROVAL_REQUESTED)
        return next(open_, None)

    @property
    def changes_in_flight(self) -> list[SentChange]:
        """Changes that are being sent."""
        return [each for each in self.changes.values() if each.status is RunEventKind.SENT]

    @property
    def last_change(self) -> float:
        """Time of the last change; 0 before any."""
        return max((change.at for change in self.changes.values()), default=0.0)

    def observations_at(self, place: StepVisit, purpose: str) -> list[Observation]:
        """Return the observations at a place for a purpose, in order, since it began anew."""
        since = self.renewals[place].seq if place in self.renewals else 0
        return [
            each
            for each in self.observations
            if each.place == place and each.purpose == purpose and each.seq > since
        ]

    def latest(
        self,
        tool: str,
        target: str,
        arguments: Mapping[str, str],
        *,
        after: float = 0.0,
        before: float = math.inf,
    ) -> Observation | None:
        """Return the last observation by this call between two moments."""
        for each in reversed(self.observations):
            same = (each.tool, each.target, each.arguments) == (tool, target, arguments)
            if same and after <= each.at <= before:
                return each
        return None

    def latest_field(self, name: str) -> str | None:
        """Return the latest value of a field, named as `tool.field`."""
        tool, _, wanted = name.partition(".")
        for each in reversed(self.observations):
            if each.tool == tool and (value := each.fields.get(wanted)) not in {None, ""}:
                return str(value)
        return None


def state_of(run: Run, events: Iterable[Event]) -> RunState:
    """Return the state after these events."""
    state = RunState(now=(run.workflow.steps[0].id, 0))
    for event in events:
        _apply_event(state, event)
    return state


def _apply_event(state: RunState, event: Event) -> None:  # noqa: C901, PLR0912 - a case a kind
    state.seq = event.seq
    place: StepVisit = (event.step, event.visit)
    facts = event.facts
    _apply_approval_event(state, event, place)
    match event.kind:
        case RunEventKind.STARTED:
            state.begun_at = event.at
        case RunEventKind.ENTERED:
            state.now = place
            state.visits[event.step] += 1
        case RunEventKind.OBSERVED | RunEventKind.CHANGED:
            _observe(state, event, place)
        case RunEventKind.NOT_OBSERVED:
            state.failures.setdefault((place, facts["purpose"]), []).append(event)
        case RunEventKind.PREPARED:
            state.prepared[place] = event
        case RunEventKind.SENT:
            state.changes[place] = SentChange(
                place,
                facts["tool"],
                facts["target"],
                facts["arguments"],
                event.seq,
                event.at,
                event.kind,
            )
        case RunEventKind.NOT_SENT | RunEventKind.UNKNOWN:
            state.changes[place] = replace(
                state.changes[place], at=event.at, status=event.kind, why=facts["why"]
            )
        case RunEventKind.QUESTION_RAISED:
            state.question = Question(
                event.seq,
                QuestionKind(facts["what"]),
                facts["text"],
                tuple(facts["options"]),
                tuple(facts.get("evidence", ())),
                place,
            )
        case RunEventKind.ANSWERED if state.question is not None:
            question_key = (state.question.place, state.question.what)
            state.answers[question_key] = PersonAnswer(
                state.question,
                facts["option"],
                facts.get("arguments", {}),
                event.by,
                facts.get("by_id", ""),
            )
            state.question = None
        case RunEventKind.DECIDED:
            state.decided[place] = event
        case RunEventKind.VERIFIED | RunEventKind.NOT_VERIFIED:
            state.verified[place] = event.kind
        case RunEventKind.UNDOING:
            state.undoing = True
        case RunEventKind.UNDONE:
            state.undone.add(place)
        case RunEventKind.PAUSED:
            state.paused_by = event.by
        case RunEventKind.RESUMED:
            state.paused_by = ""
        case RunEventKind.STOPPING:
            state.later_end = (NewEvent(RunEventKind.ENDED, facts=facts, by=event.by),)
            state.paused_by = ""
        case RunEventKind.TAKEN_OVER:
            state.outcome, state.why = RunOutcome.HANDED_OVER, f"{event.by} took over"
        case RunEventKind.ENDED:
            state.outcome, state.why = RunOutcome(facts["outcome"]), facts["why"]
            state.question = None
        case _:
            pass


def _apply_approval_event(state: RunState, event: Event, place: StepVisit) -> None:
    """Follow a request for approval, and all that becomes of it until the change is sent."""
    facts = event.facts
    match event.kind:
        case RunEventKind.APPROVAL_REQUESTED:
            state.requests[place] += 1
            state.revisions.pop(place, None)
            state.approvals[place] = _requested(event, place, state.requests[place])
        case RunEventKind.APPROVED | RunEventKind.DENIED | RunEventKind.EXPIRED:
            # What the page does not tell any more is refused before it is shown.
            approval = state.approvals.get(place) or _requested(event, place, 0)
            state.approvals[place] = replace(
                approval,
                state=event.kind,
                at=event.at,
                by=event.by,
                by_person=facts.get("kind") == "person",
                why=facts.get("why", ""),
                is_by_policy=event.kind is RunEventKind.DENIED and "kind" not in facts,
                evidence=tuple(facts.get("evidence", ())),
            )
        case RunEventKind.REVISED:
            differences = state.revisions.setdefault(place, {})
            for each in map(ShownDifference.model_validate, facts["differences"]):
                first = differences.get(each.what, each)
                differences[each.what] = each.model_copy(update={"was": first.was})
            _begin_anew(state, event, place)
            if facts.get("bindings"):  # what was filled in was for the other one
                state.answers.pop((place, QuestionKind.FILL), None)
        case RunEventKind.RENEWED:
            _begin_anew(state, event, place, keeps_approval=facts["keeps_approval"])
        case _:
            pass


def _requested(event: Event, place: StepVisit, number: int) -> Approval:
    """Return the approval that an event requests."""
    facts = event.facts
    return Approval(
        digest=facts.get("digest", ""),
        tool=facts.get("tool", ""),
        shown=facts.get("shown", ""),
        target=facts.get("target", ""),
        undo=facts.get("undo", ""),
        simulated=tuple(facts.get("simulated", ())),
        expires_at=facts.get("expires_at", event.at),
        place=place,
        number=number,
        at=event.at,
        passages=tuple(map(CitedPassage.model_validate, facts.get("passages", ()))),
        definition=facts.get("definition", ""),
        again=facts.get("why", ""),
        differences=tuple(map(ShownDifference.model_validate, facts.get("differences", ()))),
        warnings=tuple(facts.get("warnings", ())),
    )


def _begin_anew(
    state: RunState, event: Event, place: StepVisit, *, keeps_approval: bool = False
) -> None:
    """Let a change that was not sent begin anew, with new looks, and as a rule a new request."""
    state.renewals[place] = event
    state.prepared.pop(place, None)
    state.changes.pop(place, None)
    state.answers.pop((place, QuestionKind.DO), None)
    for key in [key for key in state.failures if key[0] == place]:
        del state.failures[key]
    if not keeps_approval and (approval := state.approvals.pop(place, None)) and approval.number:
        state.voided[place] = approval


def _observe(state: RunState, event: Event, place: StepVisit) -> None:
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
    if event.kind is RunEventKind.CHANGED:
        state.changes[place] = replace(state.changes[place], at=event.at, status=event.kind)
