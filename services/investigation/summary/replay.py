"""Replay of a learned workflow on a trace: the state machine itself, fed with recorded outputs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from services.contracts.execution import RunMode, RunOutcome
from services.execution.bindings.targets import choose_target
from services.execution.engine import Emit, Wait
from services.execution.runs.events import Event, NewEvent, QuestionKind, RunEventKind
from services.execution.runs.moves import (
    FILLED,
    RISE_S,
    ApplyChange,
    LockTarget,
    Look,
    next_move,
)
from services.execution.runs.run import Confirmation, Run, RunTicket
from services.execution.runs.state import RunState, state_of
from services.execution.tools.catalogue import Catalogue
from services.investigation.summary.cases import Ending, TraceCase, case_of
from services.investigation.summary.learned_workflow import LearnedWorkflow
from services.investigation.summary.trace import Call, Trace
from services.kit.value import Value

MOST_MOVES = 400


class ReplayResult(Value):
    """Result of one replay."""

    trace: str
    is_right: bool
    """True if it made the same changes of the same targets, or none where none helped."""
    outcome: RunOutcome | None
    changes: tuple[str, ...]
    why: str = ""


def replay(learned: LearnedWorkflow, trace: Trace, catalogue: Catalogue) -> ReplayResult:
    """Carry the workflow out on what the trace recorded; nobody is asked anything."""
    return _Replay(learned, trace, catalogue).run()


def replay_all(
    learned: LearnedWorkflow, traces: Sequence[Trace], catalogue: Catalogue
) -> tuple[ReplayResult, ...]:
    """Replay the workflow on each trace."""
    return tuple(replay(learned, each, catalogue) for each in traces)


class _Replay:
    def __init__(self, learned: LearnedWorkflow, trace: Trace, catalogue: Catalogue) -> None:
        self._case: TraceCase = case_of(trace)
        self._trace = trace
        self._now = 1_000_000.0
        self._events: list[Event] = []
        self._made: list[tuple[str, str, tuple[tuple[str, str], ...]]] = []
        self._run = run_of(learned, trace.labels, catalogue, at=self._now)

    def run(self) -> ReplayResult:
        self._add(NewEvent(RunEventKind.STARTED))
        for _ in range(MOST_MOVES):
            state = state_of(self._run, self._events)
            if state.outcome is not None:
                return self._judge(state.outcome, state.why)
            if state.question is not None:
                self._answer(state)
                continue
            if (approval := state.open_approval) is not None:
                facts = {"digest": approval.digest, "kind": "person"}
                self._add(NewEvent(RunEventKind.APPROVED, approval.place, facts, "replay"))
                continue
            self._move(state)
        return self._judge(None, "it does not come to an end")

    def _move(self, state: RunState) -> None:
        match next_move(self._run, state, self._now):
            case Wait(until=until):
                self._now = max(self._now + 1, until or 0.0)
            case Emit(events=events):
                for event in events:
                    self._add(event)
            case Look() as look:
                self._look(look)
            case LockTarget(change=change):
                self._add(NewEvent(RunEventKind.PREPARED, change.place, change.facts))
            case ApplyChange() as do:
                self._change(do)

    def _answer(self, state: RunState) -> None:
        """Answer a question by handing over, or by the arguments that the trace has for it."""
        question, arguments = state.question, dict[str, str]()
        if question is None:
            return
        option = "hand over" if "hand over" in question.options else question.options[-1]
        coming = self._case.changes[len(self._made) :]
        if question.what is QuestionKind.FILL and coming:
            is_same = coming[0].tool == self._run.binding_of[question.place[0]].tool
            if is_same and coming[0].arguments:
                option, arguments = FILLED, dict(coming[0].arguments)
        facts = {"option": option, "arguments": arguments, "word": ""}
        self._add(NewEvent(RunEventKind.ANSWERED, question.place, facts, "replay"))

    def _look(self, look: Look) -> None:
        facts, recorded = look.facts, self._recorded(look)
        if recorded is None:
            facts |= {"why": "the trace has no such look", "is_final": True}
            self._add(NewEvent(RunEventKind.NOT_OBSERVED, look.place, facts))
            return
        facts |= {"fields": dict(recorded.fields), "lines": []}
        self._add(NewEvent(RunEventKind.OBSERVED, look.place, facts))

    def _recorded(self, look: Look) -> Call | None:
        """Return the recorded call of this look, after as many changes as the replay has made."""
        made = len(self._made)
        if made > len(self._case.changes):
            return None
        calls = [
            each
            for each in self._case.between(made)
            if (each.tool, each.target, dict(each.arguments))
            == (look.tool.name, look.target, dict(look.arguments))
        ]
        if not calls:
            return None
        earlier = [each for each in calls if each.at <= calls[-1].at - RISE_S]
        if made or not earlier or not _needs_rise(look, self._run):
            return calls[-1]
        begun = (
            e.at
            for e in self._events
            if e.kind is RunEventKind.OBSERVED and e.facts["tool"] == look.tool.name
        )
        is_early = self._now < next(begun, self._now) + RISE_S
        return earlier[-1] if is_early else calls[-1]

    def _change(self, do: ApplyChange) -> None:
        facts = do.facts
        self._made.append((do.tool.name, do.target, tuple(sorted(do.arguments.items()))))
        self._add(NewEvent(RunEventKind.SENT, do.place, facts))
        self._add(
            NewEvent(
                RunEventKind.CHANGED,
                do.place,
                {**facts, "purpose": "do", "fields": {}, "lines": []},
            )
        )

    def _judge(self, outcome: RunOutcome | None, why: str) -> ReplayResult:
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
        return ReplayResult(
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
        test.comparison.compares_looks
        for each in run.bindings
        if each.tool == look.tool.name
        for answer in each.answers
        for test in answer.tests
    )


def run_of(
    learned: LearnedWorkflow,
    labels: Mapping[str, str],
    catalogue: Catalogue,
    *,
    at: float,
    id_: str = "replay",
) -> Run:
    """Build a run of the learned workflow for a ticket with these labels, ready to be started."""
    bindings = learned.bindings()
    targets = {
        each.step: target.name
        for each in bindings
        if (target := choose_target(each, catalogue, labels).target) is not None
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
