"""The platform as seven processes on PostgreSQL and Redis alone, each killed once in mid-walk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluation.benches.load.servers import Valkey, begin
from services.contracts.scorer import DIMENSIONS
from services.deployment.embedded import Embedded
from services.deployment.rooms import ROOMS
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from tests.ports import free_port
from tests.postgres import pgvector_url

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "examples" / "documents"
ALERT = json.loads((ROOT / "examples/alerts/alertmanager/bgp-down.json").read_bytes())

KEY = "key-of-seven-processes"
START_WITHIN_S = 180
ANSWER_WITHIN_S = 180

PROCESSES = [
    *(("serve", room.name, *(["--no-work"] if room.has_queue else [])) for room in ROOMS),
    *(("work", room.name) for room in ROOMS if room.has_queue),
]


class Platform:
    """Its processes, by the command that runs them."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self.ports = {command: free_port() for command in PROCESSES}
        served = {command[1]: port for command, port in self.ports.items() if command[0] == "serve"}
        addresses = {
            f"FLOWXPERT_{name.upper()}_URL": f"http://127.0.0.1:{port}"
            for name, port in served.items()
            if name != "gateway"
        }
        self._environment = os.environ | environment | addresses
        self.running: dict[tuple[str, ...], subprocess.Popen[bytes]] = {}
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{served['gateway']}",
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=30,
        )

    def start(self, command: tuple[str, ...]) -> None:
        log = (self._folder / f"{'-'.join(command[:2])}.log").open("ab")
        where = ("--data-dir", str(self._folder / "data"), "--port", str(self.ports[command]))
        self.running[command] = subprocess.Popen(
            [sys.executable, "-m", "services.cli", *command, *where],
            env=self._environment,
            stdout=log,
            stderr=log,
        )

    def kill(self, command: tuple[str, ...]) -> None:
        self.running[command].send_signal(signal.SIGKILL)
        self.running.pop(command).wait(10)

    def wait_for(self, command: tuple[str, ...]) -> None:
        wait_until(lambda: self._answers(command), START_WITHIN_S, f"{command} answers")

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait(20)

    def _answers(self, command: tuple[str, ...]) -> bool:
        assert self.running[command].poll() is None, (self._folder / "data", command)
        try:
            return httpx.get(f"http://127.0.0.1:{self.ports[command]}/healthz").is_success
        except httpx.TransportError:
            return False


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory, documents: Path) -> Iterator[Platform]:
    """All seven, with the examples uploaded."""
    folder = tmp_path_factory.mktemp("seven")
    with ExitStack() as closing:
        broker = Valkey(tmp_path_factory.mktemp("broker"))
        begin([broker], closing)
        opened = Platform(
            folder,
            {
                "FLOWXPERT_API_KEY": KEY,
                "FLOWXPERT_DATABASE_URL": pgvector_url(),
                "FLOWXPERT_REDIS_URL": broker.url,
                "FLOWXPERT_VECTORS": "pgvector",
                "FLOWXPERT_TASK_LEASE_S": "10",
                "OMP_NUM_THREADS": "1",
            },
        )
        closing.callback(opened.stop)
        for command in PROCESSES:
            opened.start(command)
        for command in PROCESSES:
            opened.wait_for(command)
        upload(opened.client, documents)
        yield opened


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples as an owner uploads them."""
    folder = tmp_path_factory.mktemp("archive")
    return Path(shutil.make_archive(str(folder / "documents"), "zip", DOCUMENTS))


def upload(client: httpx.Client, archive: Path) -> None:
    """Bring the documents in, and wait until they are."""
    with archive.open("rb") as file:
        answer = client.post("/v1/documents", files={"files": (archive.name, file)})
    assert answer.status_code == 202, answer.text
    job = f"/v1/ingestions/{answer.json()['id']}"
    done: dict[str, Any] = {}

    def is_over() -> bool:
        try:
            done.update(client.get(job).raise_for_status().json())
        except httpx.HTTPError:  # a process is being started again
            return False
        return done["status"] in {"done", "failed"}

    wait_until(is_over, 120, "the documents are in")
    assert (done["status"], done["failed"]) == ("done", []), done


def post(client: httpx.Client, body: dict[str, Any]) -> str:
    """Where the ticket of an alert that was accepted is seen."""
    answer = client.post("/workflow", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["tickets"][0]["status_url"])


def finished(client: httpx.Client, url: str) -> dict[str, Any]:
    """The ticket once its walk is over."""
    ticket: dict[str, Any] = {}

    def is_over() -> bool:
        try:
            ticket.update(client.get(url).raise_for_status().json())
        except httpx.HTTPError:
            return False
        return ticket["status"] in {"planned", "refused", "failed"}

    wait_until(is_over, ANSWER_WITHIN_S, f"{url} is walked")
    return ticket


def best(client: httpx.Client, ticket: dict[str, Any]) -> dict[str, Any]:
    """What the best workflow tells to do, whether it fits, and its scores.

    Scores, and which conditions are marked as doubtful, hang on how exact vectors are.
    """
    stored = client.get(ticket["candidates"][0]["url"]).json()
    score = stored["score"]
    values = [score[name]["value"] for name in DIMENSIONS] + [score["chance"]]
    workflow = stored["workflow"]
    steps = [
        {name: step[name] for name in ("id", "kind", "text", "commands")}
        for step in workflow["steps"]
    ]
    return {
        "steps": steps,
        "transitions": workflow["transitions"],
        "fit": stored["fit"],
        "score": values,
    }


def test_the_workflow_is_that_of_one_process(
    platform: Platform, documents: Path, tmp_path: Path
) -> None:
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path, port=0)
    with Embedded(settings) as embedded:
        embedded.start()
        server = ServerThread(embedded.app, host="127.0.0.1", port=0)
        server.start()
        with httpx.Client(base_url=server.url, timeout=30) as client:
            upload(client, documents)
            expected = best(client, finished(client, post(client, ALERT)))
        server.stop()
    ticket = finished(platform.client, post(platform.client, ALERT))
    assert ticket["status"] == "planned"
    workflow = best(platform.client, ticket)
    assert workflow.pop("score") == pytest.approx(expected.pop("score"), abs=0.05)
    assert workflow == expected


@pytest.mark.slow
@pytest.mark.parametrize("command", PROCESSES, ids="-".join)
def test_a_process_that_is_killed_in_mid_walk_loses_nothing(
    platform: Platform, command: tuple[str, ...]
) -> None:
    name = "-".join(command)
    alerts = [
        {"title": f"BGP session down at {name} {number}", "description": "neighbour is idle"}
        for number in range(6)
    ]
    addresses = [post(platform.client, alert) for alert in alerts]
    platform.kill(command)
    platform.start(command)
    tickets = [finished(platform.client, address) for address in addresses]
    platform.wait_for(command)
    assert [ticket["status"] for ticket in tickets] == ["planned"] * len(alerts)
    for ticket in tickets:
        ranks = [candidate["rank"] for candidate in ticket["candidates"]]
        assert ranks == sorted(set(ranks)), "walked twice"


@pytest.mark.slow
def test_an_upload_outlives_its_worker(platform: Platform, tmp_path: Path) -> None:
    for number in range(30):
        page = f"# Fan {number} fails\n\n1. Reseat fan {number}.\n2. Replace it.\n"
        (tmp_path / f"fan-{number}.md").write_text(page)
    archive = Path(shutil.make_archive(str(tmp_path / "fans"), "zip", tmp_path, "."))
    work = ("work", "ingestion")
    with archive.open("rb") as file:
        answer = platform.client.post("/v1/documents", files={"files": (archive.name, file)})
    platform.kill(work)
    platform.start(work)
    job = f"/v1/ingestions/{answer.json()['id']}"
    wait_until(lambda: platform.client.get(job).json()["status"] == "done", 120, "it is taken up")
    assert platform.client.get(job).json()["added"] == 30
