"""Runs on the simulated network: do they end right, by evidence, on the right branches?"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml
from fastapi.testclient import TestClient

from services.contracts.execution import RunDetail, RunMode, RunOutcome, RunPhase
from services.deployment.embedded import Embedded
from services.kit.clock import Clock
from services.kit.files import read_bytes, read_json_lines, read_yaml
from services.kit.settings import PlatformSettings
from services.kit.value import Value
from services.simulator.faults import Fault, RepairEffect, variants
from services.simulator.simulation import PAGES, READINGS, Simulation

GOLD = Path(__file__).parents[1] / "material" / "execution.yaml"
WITHIN_S = 120.0
"""Of real time, for one run."""
BY_HAND_S = 20.0
"""Seconds that a person is assumed to take for a command."""
_LOOKED_EVERY_S = 0.05


class Right(Value):
    """What is right to do about a kind of fault."""

    answers: tuple[tuple[str, str], ...]
    """Words of the question, and its answer."""
    tools: tuple[str, ...]
    """In their order; changes after a `!`."""
    end: str
    """`recovered`, `hands` or `closed`."""
    people: tuple[str, ...] = ()
    """Words of questions that no catalogued tool observes: the scripted person answers these."""

    def answer_to(self, question: str) -> str:
        """Return the answer of the longest words that a question has; empty if it has none."""
        matches = [(w, answer) for w, answer in self.answers if w.lower() in question.lower()]
        return max(matches, key=lambda each: len(each[0]))[1] if matches else ""


class Ran(Value):
    """How one run went."""

    fault: str
    device: str
    acts: str
    is_mended: bool
    outcome: str
    why: str
    ended_right: bool
    decisions: Mapping[str, int]
    """By who answered."""
    wrong: int
    """Decisions that took the wrong way."""
    hands: int
    """Steps that a person did, since no tool does them."""
    asked: tuple[str, ...]
    """What else a person was asked."""
    tools: tuple[str, ...]
    expected: tuple[str, ...]
    commands: int
    seconds: float
    """Of the simulated clock."""
    changes: tuple[str, ...]
    """That the devices were sent."""


def rights(gold: Path = GOLD) -> dict[str, Right]:
    """By the kind of fault."""
    return read_yaml(gold, dict[str, Right])


class _TeamTool(Value):
    """An entry of a team's catalogue, as far as it matters here."""

    name: str
    effect: str


class _BoundText(Value):
    """A step of a page and its binding."""

    text: str
    binding: dict[str, Any]


class Team(Value):
    """What a team has written for its faults, beside what comes with the network.

    A folder of `pages/`, and where it has them `tools/*.yaml`, `readings.jsonl` (as exported) and
    `bindings.jsonl` (a step's `text`, and its `binding`).
    """

    pages: Path = PAGES
    tools: tuple[Path, ...] = ()
    changes: tuple[str, ...] = ()
    """Names of its tools that may change something."""
    readings: Path | None = READINGS
    bindings: Mapping[str, Mapping[str, Any]] = {}
    """By the words of the step."""

    @classmethod
    def of_folder(cls, folder: Path) -> "Team":
        """What stands there."""
        tools = tuple(sorted((folder / "tools").glob("*.yaml")))
        entries = [each for path in tools for each in read_yaml(path, list[_TeamTool])]
        readings, bindings = folder / "readings.jsonl", folder / "bindings.jsonl"
        rows = read_json_lines(bindings, _BoundText) if bindings.exists() else ()
        return cls(
            pages=folder / "pages",
            tools=tools,
            changes=tuple(each.name for each in entries if each.effect == "change"),
            readings=readings if readings.exists() else None,
            bindings={row.text: row.binding for _place, row in rows},
        )

    def equip(self, catalogue: Path) -> None:
        """Put its tools beside those of the network, and let them change something."""
        for path in self.tools:
            (catalogue / "tools" / path.name).write_text(path.read_text())
        policy = catalogue / "policy.yaml"
        content = yaml.safe_load(policy.read_text())
        content["changes"]["tools"] += self.changes
        policy.write_text(yaml.safe_dump(content))


class World:
    """The platform beside a simulated network, with its pages and what is approved of them."""

    def __init__(
        self,
        client: httpx.Client | TestClient,
        simulation: Simulation,
        team: Team = Team(),  # noqa: B008 - a value
    ) -> None:
        self.client = client
        self.simulation = simulation
        self.team = team
        self._sent = 0

    def ticket(self, alert: Mapping[str, Any]) -> str:
        """The ticket of an alert, once its workflow is there."""
        self._sent += 1
        moment = (
            f"2026-01-01T{self._sent // 3600:02}:{self._sent // 60 % 60:02}:{self._sent % 60:02}Z"
        )
        body = {"version": "4", "alerts": [{**alert, "startsAt": moment}]}
        response = self.client.post("/workflow/alertmanager?wait=60", json=body).json()
        return str(response["tickets"][0]["id"])

    def approve_pages(self) -> None:
        """A person vouches for each procedure, as the team has drawn it."""
        if self.team.readings:
            file = {"file": ("readings.jsonl", read_bytes(self.team.readings))}
            where = "/v1/readings/import?approve=true"
            report = self.client.post(where, files=file).raise_for_status().json()
            if report["refused"]:
                raise ValueError(f"readings were refused: {report['refused']}")
        for each in self.client.get("/v1/readings").json():
            for place in range(each["procedures"]):
                where = f"/v1/readings/{each['text_hash']}/approvals"
                self.client.post(where, json={"procedure": place}).raise_for_status()

    def approve_bindings(self, ticket: str) -> int:
        """A person vouches for what is proposed, or the team has said; how many were proposed."""
        proposals = self.client.get("/v1/bindings", params={"ticket_id": ticket}).json()
        bound = [each for each in proposals if each["binding"]["tool"] and not each["approved_by"]]
        for each in proposals:
            binding = self.team.bindings.get(each["text"])
            if binding is None and each not in bound:
                continue
            body = {
                "ticket_id": ticket,
                "step": each["step"],
                "binding": {**(binding or each["binding"]), "step": each["step"]},
            }
            self.client.post("/v1/bindings", json=body).raise_for_status()
        return len(bound)

    def run(self, ticket: str, right: Right, mode: RunMode = RunMode.SUPERVISED) -> RunDetail:
        """A run until it ends; the scripted person approves, and does what only people can do."""
        body = {"ticket_id": ticket, "mode": mode.value, "confirms_page": True}
        run = RunDetail.model_validate(self.client.post("/v1/runs", json=body).json())
        by = time.monotonic() + WITHIN_S
        while run.phase is not RunPhase.ENDED and time.monotonic() < by:
            run = self._next(run, right)
        return run

    def _next(self, run: RunDetail, right: Right) -> RunDetail:
        if run.approval is not None:
            return self._post(run, "approval", {"digest": run.approval.digest})
        if run.question is not None:
            option = "done" if is_of_hands(run) else "hand over"
            answer = right.answer_to(run.question.text)
            is_theirs = any(words.lower() in run.question.text.lower() for words in right.people)
            if run.question.what == "decide" and is_theirs and answer in run.question.options:
                option = answer
            return self._post(run, "answer", {"question": run.question.seq, "option": option})
        time.sleep(_LOOKED_EVERY_S)
        return RunDetail.model_validate(self.client.get(f"/v1/runs/{run.id}").json())

    def _post(self, run: RunDetail, what: str, body: Mapping[str, Any]) -> RunDetail:
        self.client.post(f"/v1/runs/{run.id}/{what}", json=body)
        return RunDetail.model_validate(self.client.get(f"/v1/runs/{run.id}").json())


def is_of_hands(run: RunDetail) -> bool:
    """Whether the step is one that no catalogued tool does or observes."""
    question = run.question
    step = next((s for s in run.steps if question and s.id == question.step), None)
    return bool(question and step and question.what == "do" and not step.tool)


@contextmanager
def world_in(
    folder: Path,
    speed: float,
    team: Team = Team(),  # noqa: B008 - a value
) -> Iterator[World]:
    """A network with the platform beside it, both gone at the end."""
    clock = Clock(begins_at=time.time(), speed=speed)
    with Simulation(folder / "network", clock=clock) as simulation:
        team.equip(simulation.folder)
        os.environ["FLOWXPERT_EXECUTOR_CATALOGUE"] = str(simulation.folder)
        try:
            with Embedded(PlatformSettings(data_dir=folder / "data")) as platform:
                platform.ingestion.ingest_here(team.pages)
                platform.start()
                with TestClient(platform.app, base_url="http://127.0.0.1") as client:
                    world = World(client, simulation, team)
                    world.approve_pages()
                    yield world
        finally:
            del os.environ["FLOWXPERT_EXECUTOR_CATALOGUE"]


def run_faults(
    world: World,
    gold: Mapping[str, Right],
    wanted: Sequence[str],
    each: int,
    say: Callable[[str], None],
) -> list[Ran]:
    """A run for each variant of these kinds, or of all that the gold knows."""
    runs = []
    for kind in wanted or gold:
        for fault in variants(kind, most=each):
            world.simulation.heal()
            world.simulation.inject(fault)
            ticket = world.ticket(fault.alert(world.simulation.world))
            world.approve_bindings(ticket)
            before, begun = len(world.simulation.log.changes()), world.simulation.clock.now()
            run = world.run(ticket, gold[kind])
            seconds = world.simulation.clock.now() - begun
            changes = [f"{c.device}: {c.line}" for c in world.simulation.log.changes()[before:]]
            ran = _ran(fault, gold[kind], run, world.simulation.active_faults.is_mended(fault))
            ran = ran.model_copy(update={"seconds": seconds, "changes": tuple(changes)})
            wrong = "" if ran.ended_right else ", which is wrong"
            say(f"{kind} {fault.device} {fault.acts}: {ran.outcome}{wrong}")
            runs.append(ran)
    return runs


def _ran(fault: Fault, right: Right, run: RunDetail, is_mended: bool) -> Ran:
    texts = {step.id: step.text for step in run.steps}
    decided = [e for e in run.events if e.kind == "decided"]
    called = [e for e in run.events if e.kind in {"observed", "changed"}]
    questions = [e for e in run.events if e.kind == "asked"]
    by_hand = [e for e in run.events if e.kind == "left" and e.facts["how"] == "by_person"]
    outcome = run.outcome.value if run.outcome else run.phase.value
    answers = [(texts[e.step], str(e.facts["answer"])) for e in decided]
    tools = [
        ("!" if e.kind == "changed" else "") + str(e.facts["tool"])
        for e in called
        if e.facts["purpose"] in {"look", "do"}
    ]
    return Ran(
        fault=fault.kind,
        device=fault.device,
        acts=fault.acts.value,
        is_mended=is_mended,
        outcome=outcome,
        why=run.why,
        ended_right=_ended_right(fault, right, run, is_mended),
        decisions=Counter(str(e.facts["by"]) for e in decided),
        wrong=sum(right.answer_to(question) != answer for question, answer in answers),
        hands=len(by_hand),
        asked=tuple(
            str(e.facts["text"]) for e in questions if e.step not in {left.step for left in by_hand}
        ),
        tools=tuple(dict.fromkeys(tools)),
        expected=right.tools,
        commands=len(called),
        seconds=0.0,
        changes=(),
    )


def _ended_right(fault: Fault, right: Right, run: RunDetail, is_mended: bool) -> bool:
    if right.end == "recovered" and fault.acts in {RepairEffect.WORKS, RepairEffect.LATE}:
        return run.outcome is RunOutcome.RECOVERED and is_mended
    if right.end == "recovered":
        return run.outcome is RunOutcome.HANDED_OVER
    if right.end == "hands":
        return run.outcome in {RunOutcome.HANDED_OVER, RunOutcome.DONE} and "team" in run.why
    return run.outcome is RunOutcome.DONE and "false alarm" in run.why


class ExecutionReport(Value):
    """The runs, and what they say together."""

    runs: tuple[Ran, ...]
    figures: Mapping[str, float]


def report_of(runs: Sequence[Ran]) -> ExecutionReport:
    """Shares of all runs."""
    decisions = sum((Counter(run.decisions) for run in runs), Counter())
    total = sum(decisions.values())
    common = sum(len(set(run.tools) & set(run.expected)) for run in runs)
    made, wanted = (
        sum(len(set(t)) for t in each)
        for each in zip(*((r.tools, r.expected) for r in runs), strict=True)
    )
    by_hand = sum(run.commands for run in runs) * BY_HAND_S
    return ExecutionReport(
        runs=tuple(runs),
        figures={
            "runs": len(runs),
            "ended right": sum(run.ended_right for run in runs) / len(runs),
            "decisions": total,
            "by evidence": decisions["evidence"] / max(1, total),
            "wrong branch": sum(run.wrong for run in runs) / max(1, total),
            "asked beside hands": sum(len(run.asked) for run in runs),
            "done by hand": sum(run.hands for run in runs),
            "tool precision": common / max(1, made),
            "tool recall": common / max(1, wanted),
            "tool F1": 2 * common / max(1, made + wanted),
            "seconds a run": sum(run.seconds for run in runs) / len(runs),
            "seconds by hand (20 s a command)": by_hand / len(runs),
        },
    )
