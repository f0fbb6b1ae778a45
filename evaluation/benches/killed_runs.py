"""Changing runs whose platform is killed at any moment: what the devices were sent decides."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from evaluation.benches.execution import World, is_of_hands
from services.contracts.execution import RunDetail, RunPhase
from services.kit.clock import Clock
from services.kit.value import Value
from services.simulator.faults import variants
from services.simulator.simulation import PAGES, Simulation

STARTS_WITHIN_S = 60.0
ENDS_WITHIN_S = 120.0
KINDS = (
    "bgp_session_shut",
    "bgp_session_hung",
    "default_route_deleted",
    "link_flapping",
    "process_cpu",
)
"""Faults that one change mends."""


class KilledRuns(Value):
    """What became of the runs."""

    kills: int
    runs: int
    ended: int
    asked: int
    """Runs in which a person was asked whether a change had been made."""
    repeated: int
    """Changes that a device was sent again by the same run."""
    unapproved: int
    """Changes that a device was sent without leave."""
    locked: int
    """Runs that wait for a target although nobody else runs."""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost or done twice."""
        return self.ended == self.runs and not (self.repeated or self.unapproved or self.locked)


class Platform:
    """The embedded platform in a process of its own."""

    def __init__(self, folder: Path, catalogue: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._data = folder / "data"
        self._log = folder / "platform.log"
        self._environment = os.environ | {"FLOWXPERT_EXECUTOR_CATALOGUE": str(catalogue)}
        self._process: subprocess.Popen[bytes] | None = None
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=60)

    def start(self) -> None:
        """Until it is ready."""
        self._process = self._run("up", "--port", str(self._port))
        by = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < by:
            try:
                if self.client.get("/readyz").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise TimeoutError("the platform did not start")

    def ingest(self) -> None:
        """The pages of the simulated network."""
        self._run("ingest", str(PAGES)).wait(STARTS_WITHIN_S)

    def kill(self) -> None:
        """At once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _run(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "services.cli", *arguments, "--data-dir", str(self._data)]
        with self._log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=self._environment)  # noqa: S603


@contextmanager
def platform_in(folder: Path, simulation: Simulation) -> Iterator[Platform]:
    """Killed at the end, whatever happens."""
    platform = Platform(folder, simulation.folder)
    try:
        platform.ingest()
        platform.start()
        yield platform
    finally:
        platform.kill()
        platform.client.close()


def kill_runs(folder: Path, kills: int, seed: int, say: Callable[[str], None]) -> KilledRuns:
    """So many kills, at most one in each run, at random moments of it."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    clock = Clock(begins_at=time.time(), speed=20)
    outcomes: list[dict[str, Any]] = []
    with (
        Simulation(folder / "network", clock=clock) as simulation,
        platform_in(folder, simulation) as platform,
    ):
        world = World(platform.client, simulation)
        world.approve_pages()
        for number in range(kills):
            fault = variants(KINDS[number % len(KINDS)])[0]
            simulation.heal()
            simulation.inject(fault)
            ticket = world.ticket(fault.alert(simulation.world))
            world.approve_bindings(ticket)
            outcomes.append(_run_and_kill(world, platform, ticket, chance.uniform(0, 2.5)))
            say(f"{number + 1}: {fault.kind} {outcomes[-1]}")
    return KilledRuns(
        kills=kills,
        runs=len(outcomes),
        ended=sum(each["ended"] for each in outcomes),
        asked=sum(each["asked"] for each in outcomes),
        repeated=sum(each["repeated"] for each in outcomes),
        unapproved=sum(each["unapproved"] for each in outcomes),
        locked=sum(each["locked"] for each in outcomes),
    )


def _run_and_kill(world: World, platform: Platform, ticket: str, after_s: float) -> dict[str, Any]:
    before = len(world.simulation.log.changes())
    body = {"ticket_id": ticket, "mode": "supervised", "confirms_page": True}
    run_id = platform.client.post("/v1/runs", json=body).json()["id"]
    kill_at, by = time.monotonic() + after_s, time.monotonic() + ENDS_WITHIN_S
    killed = is_unsure_of_change = False
    run = None
    while (run is None or run.phase is not RunPhase.ENDED or not killed) and time.monotonic() < by:
        if not killed and time.monotonic() >= kill_at:
            platform.kill()
            platform.start()
            killed = True
        run = RunDetail.model_validate(platform.client.get(f"/v1/runs/{run_id}").json())
        is_unsure_of_change |= _answer(platform, run)
        time.sleep(0.02)
    sent = [f"{each.device} {each.line}" for each in world.simulation.log.changes()[before:]]
    events = run.events if run else ()
    approved = sum(event.kind == "approved" for event in events)
    return {
        "ended": run is not None and run.phase is RunPhase.ENDED,
        "outcome": run.outcome.value if run and run.outcome else "",
        "asked": is_unsure_of_change,
        "repeated": len(sent) - len(set(sent)),
        "unapproved": max(0, len(sent) - approved),
        "locked": bool(run and run.why.startswith("the run ")),
    }


def _answer(platform: Platform, run: RunDetail) -> bool:
    """Approve, or answer; whether it asked if a change was made."""
    try:
        if run.approval is not None:
            leave = {"digest": run.approval.digest}
            platform.client.post(f"/v1/runs/{run.id}/approval", json=leave)
        elif run.question is not None:
            question = run.question
            option = "done" if is_of_hands(run) else "hand over"
            if question.what == "unknown":
                option = "it was made"
            if question.what == "failed":
                option = "hand over"
            answer = {"question": question.seq, "option": option}
            platform.client.post(f"/v1/runs/{run.id}/answer", json=answer)
            return question.what == "unknown"
    except httpx.TransportError:
        return False
    return False
