"""A server is asked to stop: what runs is finished, or given back at once."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.waiting import eventually

DOCUMENTS = 400
BOTH = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`flowxpert up` and its address."""
    up = [sys.executable, "-m", "services.cli", "up", "--data-dir", str(folder), "--port", "0"]
    names = {f"FLOWXPERT_{name.upper()}": value for name, value in settings.items()}
    environment = os.environ | {"COLUMNS": "300", "OMP_NUM_THREADS": "1"} | names
    with subprocess.Popen(up, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        address_line = next(line for line in server.stderr if "answers at" in line)
        try:
            yield server, address_line.split("answers at ")[1].split(";")[0]
        finally:
            server.kill()


def stream(url: str) -> AbstractContextManager[httpx.Response]:
    """Events of all tickets, as a page listens to them."""
    return httpx.stream("GET", f"{url}/v1/events", timeout=60)


def ended(server: subprocess.Popen[str]) -> str:
    """What it said before it ended by itself."""
    assert server.stderr is not None
    log = server.stderr.read()
    assert server.wait(60) == 0, log
    return log


def tasks(folder: Path) -> list[tuple[str | None, float, int]]:
    """Who works on each task, when it is due, and how often it was begun."""
    with closing(sqlite3.connect(folder / "flowxpert.db")) as database:
        return database.execute("SELECT runner, due_at, attempts FROM outbox").fetchall()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many that reading them takes longer than a stop may."""
    folder = tmp_path_factory.mktemp("documents")
    for number in range(DOCUMENTS):
        steps = "\n".join(f"1. Read counter {n} of port {number}." for n in range(40))
        (folder / f"{number}.md").write_text(f"# Port {number} counts errors\n\n{steps}\n")
    return folder


def start_long_task(url: str, folder: Path, documents: Path) -> None:
    httpx.post(f"{url}/v1/ingestions", json={"path": str(documents)}).raise_for_status()
    eventually(lambda: any(runner for runner, _, _ in tasks(folder)))


def test_a_task_that_takes_too_long_is_given_back_at_once(tmp_path: Path, documents: Path) -> None:
    roots = json.dumps([str(documents)])
    settings = {"stop_within_s": "0.2", "ingestion_allowed_roots": roots}
    with served(tmp_path, **settings) as (server, url):
        start_long_task(url, tmp_path, documents)
        server.send_signal(signal.SIGTERM)
        log = ended(server)
    assert "Traceback" not in log
    ((runner, due_at, attempts),) = tasks(tmp_path)
    assert (runner, attempts) == (None, 0)
    assert due_at <= time.time()


def test_a_task_that_has_begun_is_finished_where_there_is_time(tmp_path: Path) -> None:
    with served(tmp_path / "data", stop_within_s="60") as (server, url):
        for number in range(5):
            body = {"id": str(number), "title": f"Port {number} counts errors"}
            httpx.post(f"{url}/workflow", json=body).raise_for_status()
        server.send_signal(signal.SIGTERM)
        assert "Traceback" not in ended(server)
    assert [row for row in tasks(tmp_path / "data") if row[0]] == []


@pytest.mark.parametrize("pause_s", [0.0, 0.2])
def test_two_signals_end_it_as_one_does(tmp_path: Path, pause_s: float) -> None:
    with served(tmp_path) as (server, _url):
        for number in (*BOTH, *BOTH):
            server.send_signal(number)
            time.sleep(pause_s)
        log = ended(server)
    assert log.count("stopping") == 1
    assert "Traceback" not in log


def test_a_request_that_waits_and_a_stream_are_answered(tmp_path: Path) -> None:
    answers: list[int] = []
    with served(tmp_path) as (server, url), stream(url) as events:
        body = {"id": "1", "title": "Port counts errors"}

        def wait() -> None:
            arguments = {"params": {"wait": 60}, "json": body, "timeout": 30}
            answers.append(httpx.post(f"{url}/workflow", **arguments).status_code)  # type: ignore[arg-type]

        waiting = threading.Thread(target=wait)
        waiting.start()
        lines = events.iter_lines()
        next(line for line in lines if line == "event: received")
        server.send_signal(signal.SIGTERM)
        waiting.join(30)
        for _line in lines:
            pass
        assert "Traceback" not in ended(server)
    assert answers[0] in {200, 202}


@pytest.mark.parametrize("number", BOTH)
def test_a_network_that_a_script_started_in_the_background_ends(
    tmp_path: Path, number: signal.Signals
) -> None:
    as_by_ampersand = 'trap \'\' INT; exec "$0" "$@"'
    simulate = [sys.executable, "-m", "services.cli", "simulate", str(tmp_path)]
    with subprocess.Popen(
        ["sh", "-c", as_by_ampersand, *simulate], stdout=subprocess.PIPE, text=True
    ) as network:
        assert network.stdout is not None
        assert "switches listen" in network.stdout.readline()
        network.send_signal(number)
        try:
            assert network.wait(30) == 0
        finally:
            network.kill()
