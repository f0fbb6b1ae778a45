"""The model server is killed while it writes: tickets do not notice, but for who wrote them."""

import itertools
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from tests.e2e.conftest import Running, example_alert
from tests.ports import free_port
from tests.waiting import eventually

SERVER = Path(__file__).parents[1] / "servers" / "scripted_openai.py"
ALERTS = ("fan-tray", "control-plane-cpu", "bgp-down", "crc-errors")
WITHIN_S = 300
"""The deadline of a ticket here: longer than the test waits for one whose model is gone."""
ANSWER = {
    "procedures": [
        {"title": "Fault", "steps": [{"do": "Check the log of the switch", "at": [[1, 1]]}]},
    ]
}


class ModelServer:
    """A process that can be started, killed and started again at one address."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._answer = folder / "answer.json"
        self._answer.write_text(json.dumps(ANSWER))
        self._hold_file = self._answer.with_suffix(".held")
        self._begun = self._answer.with_suffix(".begun")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        arguments = [str(self.port), str(self._answer)]
        self._process = subprocess.Popen([sys.executable, str(SERVER), *arguments])
        eventually(self._listens)

    def hold(self) -> None:
        """From now on it begins to write, and does not end."""
        self._hold_file.touch()

    def kill_writing(self) -> None:
        """Kill it once it has begun to write."""
        eventually(self._begun.exists)
        self.kill()
        self._hold_file.unlink()

    def kill(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ModelServer]:
    server = ModelServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def platform(model, ingested, tmp_path, monkeypatch) -> Iterator[Running]:
    monkeypatch.setenv("FLOWXPERT_MODEL_URL", model.url)
    monkeypatch.setenv("FLOWXPERT_MODEL_NAME", "scripted")
    monkeypatch.setenv("FLOWXPERT_MODEL_PAUSE_S", "0.5")
    monkeypatch.setenv("FLOWXPERT_PLANNER_ASK_MODEL", "always")  # the pages have been approved
    monkeypatch.setenv("FLOWXPERT_SCORER_JUDGE", "false")
    monkeypatch.setenv("FLOWXPERT_GATEWAY_MODEL_WITHIN_S", str(WITHIN_S))
    folder = shutil.copytree(ingested, tmp_path / "data")
    settings = PlatformSettings(_env_file=None, data_dir=folder, port=0)
    with Embedded(settings) as opened:
        opened.start()
        server = ServerThread(opened.app, host="127.0.0.1", port=0)
        server.start()
        with httpx.Client(base_url=server.url, timeout=90) as client:
            yield Running(server.url, client)
        server.stop()


def alert(name: str, day: int) -> dict:
    """The example as a ticket of its own."""
    body = example_alert(f"alertmanager/{name}")
    for one in body["alerts"]:
        one["fingerprint"] = f"{one['fingerprint'][:-2]}{day:02}"
    return body


def writers(ticket: dict) -> set[str]:
    return {candidate["planner"] for candidate in ticket["candidates"]}


def test_every_ticket_is_answered_while_the_model_is_gone_and_by_both_when_it_is_back(
    platform, model
):
    assert writers(platform.walked(alert("fan-tray", 1))) == {"extractive", "llm"}

    model.hold()
    urls = [platform.post(alert(name, 2)).json()["status_url"] for name in ALERTS]
    model.kill_writing()
    tickets = [concluded(platform, url) for url in urls]
    assert [ticket["status"] for ticket in tickets] == ["planned"] * len(ALERTS)
    assert all("extractive" in writers(ticket) for ticket in tickets)
    assert writers(tickets[-1]) == {"extractive"}, "the model was gone before the last one's turn"

    model.start()
    days = itertools.count(3)
    eventually(  # the circuit is open for half a second
        lambda: writers(platform.walked(alert("fan-tray", next(days)))),
        lambda names: names == {"extractive", "llm"},
    )


def concluded(platform: Running, url: str) -> dict:
    return eventually(
        lambda: platform.client.get(url).json(),
        lambda ticket: ticket["status"] not in {"received", "planning"},
    )
