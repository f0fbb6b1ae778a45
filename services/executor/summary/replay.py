"""A learned workflow held against a trace: the state machine itself, fed with what was recorded."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from services.contracts.execution import RunMode, RunOutcome
from services.executor.bindings.proposing import target_of
from services.executor.runs.events import Asking, Event, Kind
from services.executor.runs.moves import (
    FILLED,
    RISE_S,
    Do,
    Look,
    NewEvent,
    Rest,
    Take,
    Write,
    next_move,
)
from services.executor.runs.run import Confirmation, Run, RunTicket
from services.executor.runs.state import RunState, state_of
from services.executor.summary.cases import Case, Ending, case_of
from services.executor.summary.learned import Learned
from services.executor.summary.trace import Call, Trace
from services.executor.tools.catalogue import Catalogue
from services.kit.value import Value

MOST_MOVES = 400


class Replayed(Value):
    """How one replay went."""

    trace: str
    is_right: bool
    """The same changes of the same targets were come to, or none where none helped."""
    outcome: RunOutcome | None
    changes: tuple[str, ...]
    why: str = ""


def replayed(learned: Learned, trace: Trace, catalogue: Catalogue) -> Replayed:
    """Carry the workflow out on what the trace recorded; nothing is asked of anybody."""
    return _Replay(learned, trace, catalogue).done()


def replays(
    learned: Learned, traces: Sequence[Trace], catalogue: Catalogue
) -> tuple[Replayed, ...]:
    """One for each trace."""
    return tuple(replayed(learned, each, catalogue) for each in traces)


class _Replay:
    def __init__(self, learned: Learned, trace: Trace, catalogue: Catalogue) -> None:
        self._case: Case = case_of(trace)
        self._trace = trace
        self._now = 1_000_000.0
        self._events: list[Event] = []
        self._made: list[tuple[str, str, tuple[tuple[str, str], ...]]] = []
        self._run = run_of(learned, trace.labels, catalogue, at=self._now)

    def done(self) -> Replayed:
        self._add(NewEvent(Kind.STARTED))
        for _ in range(MOST_MOVES):
            state = state_of(self._run, self._events)
            if state.outcome is not None:
                return self._judged(state.outcome, state.why)
            if state.question is not None:
                self._answer(state)
                continue
            if (approval := state.open_approval) is not None:
                facts = {"digest": approval.digest, "kind": "person"}
                self._add(NewEvent(Kind.APPROVED, approval.place, facts, "replay"))
                continue
            self._move(state)
        return self._judged(None, "it does not come to an end")

    def _move(self, state: RunState) -> None:
        match next_move(self._run, state, self._now):
            case Rest(until=until):
                self._now = max(self._now + 1, until or 0.0)
            case Write(events=events):
                for event in events:
                    self._add(event)
            case Look() as look:
                self._look(look)
            case Take(change=change):
                self._add(NewEvent(Kind.PREPARED, change.place, change.facts))
            case Do() as do:
                self._change(do)

    def _answer(self, state: RunState) -> None:
        """Nobody is there: what is asked is handed over. What was filled in once is filled in."""
        asked, arguments = state.question, dict[str, str]()
        if asked is None:
            return
        option = "hand over" if "hand over" in asked.options else asked.options[-1]
        if asked.what is Asking.FILL and (filled := self._filled(asked.place[0])):
            option, arguments = FILLED, filled
        facts = {"option": option, "arguments": arguments, "word": ""}
        self._add(NewEvent(Kind.ANSWERED, asked.place, facts, "replay"))

    def _filled(self, step: str) -> dict[str, str]:
        """What the change of this step was told in the trace, where it comes next there."""
        coming = self._case.changes[len(self._made) :]
        tool = self._run.binding_of[step].tool
        return dict(coming[0].arguments) if coming and coming[0].tool == tool else {}

    def _look(self, look: Look) -> None:
        facts, told = look.facts, self._recorded(look)
        if told is None:
            facts |= {"why": "the trace has no such look", "is_final": True}
            self._add(NewEvent(Kind.NOT_OBSERVED, look.place, facts))
            return
        facts |= {"fields": dict(told.fields), "lines": []}
        self._add(NewEvent(Kind.OBSERVED, look.place, facts))

    def _recorded(self, look: Look) -> Call | None:
        """What this look told in the trace, before its changes or after as many."""
        made = len(self._made)
        if made > len(self._case.changes):
            return None
        found = [
            each
            for each in self._case.between(made)
            if (each.tool, each.target, dict(each.arguments))
            == (look.tool.name, look.target, dict(look.arguments))
        ]
        if not found:
            return None
        earlier = [each for each in found if each.at <= found[-1].at - RISE_S]
        if made or not earlier or not _needs_rise(look, self._run):
            return found[-1]
        begun = (
            e.at
            for e in self._events
            if e.kind is Kind.OBSERVED and e.facts["tool"] == look.tool.name
        )
        is_early = self._now < next(begun, self._now) + RISE_S
        return earlier[-1] if is_early else found[-1]

    def _change(self, do: Do) -> None:
        facts = do.facts
        self._made.append((do.tool.name, do.target, tuple(sorted(do.arguments.items()))))
        self._add(NewEvent(Kind.SENT, do.place, facts))
        self._add(
            NewEvent(Kind.CHANGED, do.place, {**facts, "purpose": "do", "fields": {}, "lines": []})
        )

    def _judged(self, outcome: RunOutcome | None, why: str) -> Replayed:
        wanted = [
            (c.tool, c.target, tuple(sorted(c.arguments.items()))) for c in self._case.changes
        ]
        match self._case.ending:
            case Ending.HELPED:
                is_right = self._made == wanted and outcome is RunOutcome.RECOVERED
            case Ending.CLOSED:
                is_right = not self._made and outcome is RunOutcome.DONE
            case Ending.HANDED_OVER:
                is_right = not self._made and outcome is RunOutcome.HANDED_OVER
            case _:  # it may try what was tried, and no more
                is_right = self._made == wanted[: len(self._made)] and outcome is not None
        return Replayed(
            trace=self._trace.id,
            is_right=is_right,
            outcome=outcome,
            changes=tuple(tool for tool, _, _ in self._made),
            why=why,
        )

    def _add(self, new: NewEvent) -> None:
        self._now += 0.01
        self._events.append(
            Event(
                seq=len(self._events) + 1,
                kind=new.kind,
                at=self._now,
                by=new.by,
                step=new.place[0],
                visit=new.place[1],
                facts=dict(new.facts),
            )
        )


def _needs_rise(look: Look, run: Run) -> bool:
    return any(
        test.comparison.is_of_change
        for each in run.bindings
        if each.tool == look.tool.name
        for answer in each.answers
        for test in answer.tests
    )


def run_of(
    learned: Learned,
    labels: Mapping[str, str],
    catalogue: Catalogue,
    *,
    at: float,
    id_: str = "replay",
) -> Run:
    """A run of the learned workflow about a ticket with these labels, as one would be started."""
    bindings = learned.bindings()
    targets = {
        each.step: target.name
        for each in bindings
        if (target := target_of(each, catalogue, labels)) is not None
    }
    moment = datetime.fromtimestamp(at, UTC)
    return Run(
        id=id_,
        ticket=RunTicket(id=id_, title=learned.title, labels=labels),
        workflow_id=id_,
        workflow=learned.workflow(),
        bindings=bindings,
        tools=catalogue.tools,
        targets=targets,
        target_digests={each.name: each.digest for each in catalogue.targets},
        mode=RunMode.SUPERVISED,
        requested_by="summary",
        requested_at=moment,
        confirmation=Confirmation(by="summary", at=moment),
    )
