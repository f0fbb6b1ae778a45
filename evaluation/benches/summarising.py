"""Traces become workflows, which are carried out on faults that they were not learned from."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import yaml

from evaluation.benches.execution import GOLD
from evaluation.benches.solving import Gold, Solver, expected
from services.contracts.execution import RunOutcome, RunPhase
from services.execution.adapters.port import ToolAdapter
from services.execution.adapters.ssh import SshAdapter
from services.execution.approved_steps import DocumentTexts
from services.execution.runs.engine import RunEngine
from services.execution.runs.events import NewEvent, QuestionKind, RunEventKind
from services.execution.runs.revisions import Revisions
from services.execution.runs.run import RunTicket
from services.execution.runs.state import RunState
from services.execution.runs.store import RunStore
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.target import Target
from services.execution.tools.tool import SshWay, ToolEffect
from services.investigation.summary.by_model import model_learner
from services.investigation.summary.cases import is_successful
from services.investigation.summary.learned_workflow import LearnedWorkflow
from services.investigation.summary.plan import NotLearnedError
from services.investigation.summary.replay import replay_all, run_of
from services.investigation.summary.summarise import (
    MeasuredWorkflow,
    Summary,
    graph_findings,
    summarise_traces,
)
from services.investigation.summary.trace import Trace, join_traces
from services.kit.clock import Clock
from services.kit.files import read_json_lines
from services.kit.ids import time_ordered_id
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.value import Value
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.llm.chat_model import ChatModel, ModelUnavailableError
from services.simulator.direct import DirectDevices, ManualClock, ReceivedCall
from services.simulator.faults import Fault, RepairEffect, variants
from services.simulator.model import LEAVES, SPINES
from services.simulator.simulation import CATALOGUE, SentLine, Simulation
from services.workflow.model import StepKind

FRESH_SEED = 1_000
"""Of the variants that nothing was learned from."""
FRESH = 5
MOST_TURNS = 400
ALL, SUCCESSFUL = "all", "successful"

Summarise = Callable[[Sequence[Trace], Catalogue, str], Summary]


class FreshRun(Value):
    """One run of a learned workflow."""

    situation: str
    """The fault with what its change does; `nothing wrong`; another fault with the same alert."""
    outcome: str
    is_right: bool
    is_complete: bool
    """It came to an end without asking anybody beside leave, and what to do where nothing shows."""
    wrong_changes: tuple[str, ...]
    why: str = ""


class Case(Value):
    """A workflow that was learned from some traces, and how it did."""

    name: str
    traces: int
    kept: str
    """`all` or `successful`."""
    refused: str = ""
    is_valid: bool
    """Lint and walker find nothing, and every trace replays to its changes."""
    replayed: int
    """Traces whose recorded fields lead to the changes that were made."""
    steps: int
    decisions: int
    tests: tuple[FreshRun, ...]
    missed: int = 0
    """Tests of a case that was refused: there was nothing to run."""

    @property
    def is_right(self) -> bool:
        """Whether every test was."""
        return bool(self.tests) and all(each.is_right for each in self.tests)


class SummaryReport(Value):
    """All cases, and their figures by the number of traces."""

    cases: tuple[Case, ...]
    figures: Mapping[str, Mapping[str, float]]


def golds() -> dict[str, Gold]:
    """What is right about each kind of fault."""
    content = yaml.safe_load(GOLD.read_text())
    return {k: Gold(tools=tuple(each["tools"]), end=each["end"]) for k, each in content.items()}


MIXED: dict[str, tuple[str, ...]] = {
    "BgpSessionDown": (
        "bgp_session_shut",
        "bgp_session_hung",
        "bgp_uplink_shut",
        "bgp_uplink_dark",
    ),
    "FanFailed": ("fan_failed", "false_alarm"),
}
"""Alerts with several faults: their traces are learned from together as well."""
SAME_ALERT: Mapping[str, tuple[str, ...]] = {
    kind: tuple(other for other in kinds if other != kind)
    for kinds in MIXED.values()
    for kind in kinds
}


class TrainingSet(NamedTuple):
    """The traces that a workflow is learned from."""

    name: str
    kinds: Sequence[str]
    traces: Sequence[Trace]
    kept: str
    each: int
    """Traces of each kind."""


@dataclass
class Network:
    """Devices that answer, how they are broken and healed, and the time between."""

    catalogue: Catalogue
    adapter: ToolAdapter
    now: Callable[[], float]
    wait: Callable[[float], None]
    break_: Callable[[Fault | None], None]
    """Heal all, then break this."""
    alert: Callable[[Fault], Mapping[str, str]]
    is_mended: Callable[[Fault], bool]
    sent: Callable[[], Sequence[ReceivedCall]]
    """All that the devices were sent that changes something, by their own log."""
    clock: object


def direct_network() -> Network:
    """In process, without SSH, by a clock that is moved."""
    clock = ManualClock()
    devices = DirectDevices(clock)
    catalogue = direct_catalogue()

    def break_(fault: Fault | None) -> None:
        devices.heal()
        if fault:
            devices.active_faults.inject(fault)

    def is_mended(fault: Fault) -> bool:
        return devices.active_faults.is_mended(fault)  # healing makes it anew

    return Network(
        catalogue=catalogue,
        adapter=devices,
        now=clock.now,
        wait=clock.advance,
        break_=break_,
        alert=lambda fault: fault.alert(devices.world)["labels"],
        is_mended=is_mended,
        sent=lambda: devices.changes(catalogue),
        clock=clock,
    )


@contextmanager
def ssh_network(folder: Path, speed: float) -> Iterator[Network]:
    """The switches over SSH, by a clock that runs so fast."""
    clock = Clock(begins_at=time.time(), speed=speed)
    with Simulation(folder / "network", clock=clock) as simulation:
        shipped = Catalogue.of_folder(simulation.folder)
        free = shipped.policy.model_copy(update={"changes_per_target_and_hour": 1_000})
        catalogue = shipped.model_copy(update={"policy": free})

        def break_(fault: Fault | None) -> None:
            simulation.heal()
            if fault:
                simulation.inject(fault)

        def is_mended(fault: Fault) -> bool:
            return simulation.active_faults.is_mended(fault)

        def sent() -> list[ReceivedCall]:
            """As the wire has it, by the tool whose command it is."""
            return [*_received(simulation.log.sent(), catalogue)]

        yield Network(
            catalogue=catalogue,
            adapter=SshAdapter(),
            now=clock.now,
            wait=lambda seconds: time.sleep(clock.real_seconds(seconds)),
            break_=break_,
            alert=lambda fault: fault.alert(simulation.world)["labels"],
            is_mended=is_mended,
            sent=sent,
            clock=clock,
        )


def _received(lines: Sequence[SentLine], catalogue: Catalogue) -> Iterator[ReceivedCall]:
    """Changes of the catalogue's tools in what devices were sent, line by line."""
    for place, sent in enumerate(lines):
        if not sent.is_change:
            continue
        before = next((x for x in reversed(lines[:place]) if x.device == sent.device), None)
        yield _received_change(sent, before, catalogue)


def _received_change(sent: SentLine, before: SentLine | None, catalogue: Catalogue) -> ReceivedCall:
    """Return the tool of a line; a line of a configuration belongs to the one before it."""
    for tool in catalogue.tools:
        if tool.effect is not ToolEffect.CHANGE or not isinstance(tool.way, SshWay):
            continue
        *heads, last = tool.way.templates
        arguments = last.match_command(sent.line)
        head = heads[-1].match_command(before.line) if heads and before else {}
        if arguments is not None and head is not None:
            return ReceivedCall(sent.device, tool.name, {**arguments, **head})
    return ReceivedCall(sent.device, sent.line, {})


def direct_catalogue() -> Catalogue:
    """The simulated network's own tools, with targets that need no SSH."""
    return Catalogue.model_validate(
        {
            "tools": yaml.safe_load((CATALOGUE / "switch.yaml").read_text()),
            "policy": {
                **yaml.safe_load((CATALOGUE / "policy.yaml").read_text()),
                "changes_per_target_and_hour": 1_000,
            },
            "targets": [
                Target(name=name, kind="switch", host="127.0.0.1", simulated=True)
                for name in (*LEAVES, *SPINES)
            ],
        }
    ).checked()


class Bench:
    """Learns and tests on one network."""

    def __init__(self, network: Network, say: Callable[[str], None]) -> None:
        self._network = network
        self._say = say
        self._golds = golds()
        self.made: list[Trace] = []
        """Traces that the solver left."""
        self._database = Database.memory()
        self._database.migrate(*ROOMS)
        self._outbox = Outbox(self._database)
        self._store = RunStore(self._database, self._outbox)
        self._labels: Mapping[str, str] = {}
        """Labels of the ticket of the run that is carried out."""
        self._engine = RunEngine(
            self._store,
            lambda: network.catalogue,
            {"ssh": network.adapter},
            network.clock,  # type: ignore[arg-type]
            revisions=Revisions(
                lambda: network.catalogue,
                lambda id_: RunTicket(id=id_, title="", labels=self._labels),
                DocumentTexts(SqlDocumentStore(self._database)),
                lambda _keys: {},
            ),
            is_approved=lambda _workflow, _step: True,
        )

    def traces(self, kind: str, most: int, *, seed: int = 0) -> list[Trace]:
        """What the solver did about so many variants of a fault."""
        network = self._network
        solver = Solver(network.catalogue, network.adapter, network.now, network.wait, seed=seed)
        traces = []
        for number, fault in enumerate(variants(kind, most=most, seed=seed)):
            network.break_(fault)
            network.wait(60)
            labels = network.alert(fault)
            name = f"{kind}-{seed}-{number}"
            traces.append(solver.trace(fault, labels, self._golds[kind], name))
        self.made += traces
        return traces

    def case(self, training_set: TrainingSet, summarise: Summarise = summarise_traces) -> Case:
        """Learn from these, and test on what is fresh."""
        name, kinds, kept, count = (
            training_set.name,
            training_set.kinds,
            training_set.kept,
            training_set.each,
        )
        used = [t for t in training_set.traces if kept == ALL or is_successful(t)]
        summary = summarise(used, self._network.catalogue, name)
        if len(summary.learned) != 1:
            why = "; ".join(summary.refused) or f"{len(summary.learned)} workflows"
            self._say(f"{name} of {count} ({kept}): refused, {why}")
            return Case(
                name=name, traces=count, kept=kept, refused=why, is_valid=False, replayed=0,
                steps=0, decisions=0, tests=(), missed=len(self._situations(kinds)),
            )  # fmt: skip
        learned = summary.learned[0]
        tests = tuple(self._tests(learned, kinds))
        played = replay_all(learned, used, self._network.catalogue)
        steps = learned.workflow().steps
        right = sum(each.is_right for each in tests)
        self._say(f"{name} of {count} ({kept}): {right} of {len(tests)} right")
        return Case(
            name=name,
            traces=count,
            kept=kept,
            is_valid=not graph_findings(learned),
            replayed=sum(each.is_right for each in played),
            steps=len(steps),
            decisions=sum(step.kind is StepKind.DECISION for step in steps),
            tests=tests,
        )

    def _tests(self, learned: LearnedWorkflow, kinds: Sequence[str]) -> list[FreshRun]:
        runs = []
        for fault, kind, own in self._situations(kinds):
            self._network.break_(fault)
            labels = self._network.alert(fault)
            if not kind:
                self._network.break_(None)
            self._network.wait(60)
            runs.append(self._test(learned, fault, kind, labels, own=own))
        return runs

    @staticmethod
    def _situations(kinds: Sequence[str]) -> list[tuple[Fault, str, bool]]:
        """Fresh faults, their kind (empty: only the alert of one), and whether it was learned."""
        own = [
            (fault, kind, True)
            for kind in kinds
            for fault in variants(kind, most=FRESH, seed=FRESH_SEED)
        ]
        silent = [(variants(kinds[0], most=1, seed=FRESH_SEED + 1)[0], "", True)]
        others = {other for kind in kinds for other in SAME_ALERT.get(kind, ())} - set(kinds)
        foreign = [
            (variants(other, most=1, seed=FRESH_SEED)[0], other, False) for other in sorted(others)
        ]
        return [*own, *silent, *foreign]

    def _test(
        self,
        learned: LearnedWorkflow,
        fault: Fault,
        kind: str,
        labels: Mapping[str, str],
        *,
        own: bool,
    ) -> FreshRun:
        network = self._network
        situation = f"{kind} {fault.acts}" if own else f"another fault: {kind}"
        before = len(network.sent())
        state = self._run(learned, labels)
        sent = [
            (e.device, e.tool, tuple(sorted(e.arguments.items()))) for e in network.sent()[before:]
        ]
        is_mended = kind != "" and network.is_mended(fault)
        gold = self._golds.get(kind)
        allowed = self._right_changes(fault, gold) if gold else set()
        wrong = [each for each in sent if each not in allowed]
        tried = any(each in allowed for each in sent)
        outcome = state.outcome
        if kind == "":
            is_right = not sent and outcome in {RunOutcome.HANDED_OVER, RunOutcome.DONE}
        elif not own:
            is_right = not sent and outcome is RunOutcome.HANDED_OVER
        else:
            is_right = not wrong and _as_gold(gold, fault, outcome, is_mended, tried=tried)
        return FreshRun(
            situation=situation if kind else "nothing wrong",
            outcome=outcome.value if outcome else state.phase.value,
            is_right=is_right,
            is_complete=outcome is not None and not self._needs_person,
            wrong_changes=tuple(f"{device}: {tool} {dict(a)}" for device, tool, a in wrong),
            why=state.why,
        )

    def _right_changes(
        self, fault: Fault, gold: Gold
    ) -> set[tuple[str, str, tuple[tuple[str, str], ...]]]:
        """What the solver would send to the same device about the same fault."""
        devices = DirectDevices(clock := ManualClock())
        devices.active_faults.inject(replace(fault, acts=RepairEffect.WORKS, herrings=()))
        solver = Solver(direct_catalogue(), devices, clock.now, clock.advance)
        labels = fault.alert(devices.world)["labels"]
        return expected(fault, [solver.trace(fault, labels, gold, "gold")], gold)

    def _run(self, learned: LearnedWorkflow, labels: Mapping[str, str]) -> RunState:
        """Until it is over; the scripted person gives leave, and hands over whatever is asked."""
        network = self._network
        run = run_of(learned, labels, network.catalogue, at=network.now(), id_=time_ordered_id())
        self._labels = labels
        self._store.start(run, network.now())
        self._needs_person = False
        for _ in range(MOST_TURNS):
            self._engine.advance(run.id)
            stored = self._store.load(run.id)
            state = stored.state
            if state.outcome is not None:
                return state
            if (approval := state.open_approval) is not None:
                facts = {"digest": approval.digest, "kind": "person"}
                self._store.append(
                    stored,
                    [NewEvent(RunEventKind.APPROVED, approval.place, facts, "bench")],
                    network.now(),
                )
            elif (question := state.question) is not None:
                self._needs_person |= question.what is not QuestionKind.FAILED
                answer = {"option": "hand over", "arguments": {}, "word": ""}
                self._store.append(
                    stored,
                    [NewEvent(RunEventKind.ANSWERED, question.place, answer, "bench")],
                    network.now(),
                )
            elif stored.waits_until is not None and state.phase is not RunPhase.PAUSED:
                network.wait(max(0.0, stored.waits_until - network.now()))
        return state


def _as_gold(
    gold: Gold | None, fault: Fault, outcome: RunOutcome | None, is_mended: bool, *, tried: bool
) -> bool:
    if gold is None:
        return False
    if gold.end == "closed":
        return outcome is RunOutcome.DONE
    if gold.end == "hands":
        return outcome is RunOutcome.HANDED_OVER
    if fault.acts in {RepairEffect.WORKS, RepairEffect.LATE}:
        return outcome is RunOutcome.RECOVERED and is_mended
    return outcome is RunOutcome.HANDED_OVER and tried


def summarise_faults(
    bench: Bench,
    *,
    counts: Sequence[int],
    kinds: Sequence[str],
    seeds: Sequence[int] = (0,),
    recorded_traces: Sequence[Trace] = (),
    summarise: Summarise = summarise_traces,
) -> list[Case]:
    """Return a case for each kind, number of traces, and part of them that is kept.

    `recorded_traces` take the place of the solver's: their ids begin with the kind of fault.
    """
    wanted: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in kinds or golds()}
    wanted |= {
        alert: own_kinds
        for alert, own_kinds in MIXED.items()
        if not kinds or set(own_kinds) <= set(kinds)
    }
    cases = []
    for seed in seeds:
        for name, own_kinds in wanted.items():
            for count in counts:
                traces = [
                    trace
                    for kind in own_kinds
                    for trace in _of_kind(recorded_traces, kind)[:count]
                    or bench.traces(kind, count, seed=seed)
                ]
                cases += [
                    bench.case(TrainingSet(name, own_kinds, traces, kept, count), summarise)
                    for kept in (ALL, SUCCESSFUL)
                ]
    return cases


def _of_kind(traces: Sequence[Trace], kind: str) -> list[Trace]:
    return [each for each in traces if each.id.startswith(f"{kind}-")]


def by_the_model(model: ChatModel) -> Summarise:
    """By a model alone, measured on the traces that it was shown; a case of it costs a question."""

    def summarise(traces: Sequence[Trace], catalogue: Catalogue, title: str) -> Summary:
        together = join_traces(traces)
        try:
            learned = model_learner(model, catalogue, title)(together)
        except (NotLearnedError, ModelUnavailableError) as error:
            return Summary(refused=(str(error),))
        right = sum(each.is_right for each in replay_all(learned, together, catalogue))
        return Summary(
            workflows=(MeasuredWorkflow(learned=learned, replayed=right, left_out=None),)
        )

    return summarise


def read_traces(path: Path) -> list[Trace]:
    """Traces of a file of JSON lines."""
    return [trace for _place, trace in read_json_lines(path, Trace)]


def report_of(cases: Sequence[Case]) -> SummaryReport:
    """Figures by the number of traces, of all and of the successful ones."""
    figures = {
        f"{count} traces, {kept}": _figures(
            [c for c in cases if (c.traces, c.kept) == (count, kept)]
        )
        for count in sorted({c.traces for c in cases})
        for kept in (ALL, SUCCESSFUL)
    }
    return SummaryReport(cases=tuple(cases), figures=figures)


def _figures(cases: Sequence[Case]) -> dict[str, float]:
    tests = [test for case in cases for test in case.tests]
    learned = [case for case in cases if not case.refused]
    all_tests = max(1, len(tests) + sum(case.missed for case in cases))
    return {
        "cases": len(cases),
        "refused": len(cases) - len(learned),
        "case rate": sum(case.is_right for case in cases) / max(1, len(cases)),
        "tests": all_tests,
        "test rate": sum(test.is_right for test in tests) / all_tests,
        "execution complete": sum(test.is_complete for test in tests) / all_tests,
        "graph valid": sum(case.is_valid for case in learned) / max(1, len(learned)),
        "replayed": sum(case.replayed for case in learned),
        "wrong changes": sum(len(test.wrong_changes) for test in tests),
        "steps": sum(case.steps for case in learned) / max(1, len(learned)),
        "decisions": sum(case.decisions for case in learned) / max(1, len(learned)),
    }
