"""The gateway killed in the middle of a burst: nothing lost, nothing done twice."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from sqlalchemy import create_engine, text

from tests.ports import free_port
from tests.waiting import eventually

TICKETS = 100


class Process:
    """The gateway's process and its address."""

    def __init__(self, folder, port) -> None:
        self.url = f"http://127.0.0.1:{port}"
        command = [
            sys.executable,
            "-m",
            "tests.integration.gateway_process",
            str(folder),
            str(port),
        ]
        self._process = subprocess.Popen(command)
        until = time.monotonic() + 180
        while not self.answers():
            assert self._process.poll() is None, "the gateway ended"
            assert time.monotonic() < until, "the gateway does not answer"
            time.sleep(0.05)

    def answers(self) -> bool:
        """Whether it is there."""
        try:
            return httpx.get(f"{self.url}/healthz", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def start(tmp_path):
    """Starts gateways on one folder and one port, each after the last."""
    started, port = [], free_port()

    def begin():
        started.append(Process(tmp_path, port))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


def deliver(url, number):
    """As a ticket system does: again and again until it is taken. The ticket's id."""
    body = {"id": f"T-{number}", "title": f"Fan {number} has failed"}
    for _ in range(600):
        try:
            answer = httpx.post(f"{url}/workflow", json=body, timeout=10)
        except httpx.HTTPError:
            time.sleep(0.1)
            continue
        assert answer.status_code == 202
        return answer.json()["id"]
    raise AssertionError("the delivery was never taken")


def test_a_burst_over_which_the_gateway_is_killed_is_walked_whole_and_once(start, tmp_path):
    gateway, killed = start(), threading.Event()

    def deliver_some_later(number):
        if number >= TICKETS * 0.8:  # the burst goes on when both kills are over
            killed.wait()
        return deliver(gateway.url, number)

    with ThreadPoolExecutor(8) as senders:
        deliveries = [senders.submit(deliver_some_later, n) for n in range(TICKETS)]
        try:
            for share in (0.2, 0.5):
                wanted = TICKETS * share
                eventually(lambda: sum(each.done() for each in deliveries), wanted.__le__)
                gateway.kill()
                gateway = start()
        finally:
            killed.set()
        ids = {delivery.result() for delivery in deliveries}
    assert len(ids) == TICKETS

    wait_for_rest(tmp_path)
    gateway.kill()
    stored = rows(
        tmp_path,
        "SELECT t.id, t.status, "
        "(SELECT count(*) FROM gateway_workflow w WHERE w.ticket_id = t.id), "
        "(SELECT count(*) FROM gateway_event e WHERE e.ticket_id = t.id AND e.kind = 'planned'), "
        "(SELECT count(*) FROM gateway_event e WHERE e.ticket_id = t.id AND e.kind = 'received') "
        "FROM gateway_ticket t",
    )
    assert {row[0] for row in stored} == ids
    assert {row[1:] for row in stored} == {("planned", 2, 1, 1)}


def wait_for_rest(folder):
    """Until no walk is left to do."""
    until = time.monotonic() + 180
    while rows(folder, "SELECT count(*) FROM outbox") != [(0,)]:
        assert time.monotonic() < until, "walks are left"
        time.sleep(0.1)


def rows(folder, query):
    """What the database's file holds."""
    engine = create_engine(f"sqlite:///{folder / 'gateway.db'}")
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
    finally:
        engine.dispose()


def test_a_reader_of_progress_goes_on_where_it_was_after_a_restart(start):
    gateway = start()
    ticket_id = deliver(gateway.url, 1)
    url = f"{gateway.url}/v1/tickets/{ticket_id}/events"
    first = httpx.get(url, timeout=30).text
    ids = [line[4:] for line in first.splitlines() if line.startswith("id: ")]
    gateway.kill()
    start()
    rest = httpx.get(url, headers={"Last-Event-ID": ids[1]}, timeout=30).text
    assert [line[4:] for line in rest.splitlines() if line.startswith("id: ")] == ids[2:]


def test_a_waiting_request_does_not_hold_up_the_others(start):
    gateway = start()
    with ThreadPoolExecutor(60) as waiting:
        waits = [
            waiting.submit(
                httpx.post,
                f"{gateway.url}/workflow",
                params={"wait": 60},
                json={"id": f"W-{n}", "title": "x"},
                timeout=120,
            )
            for n in range(60)
        ]
        assert httpx.get(f"{gateway.url}/v1/tickets", timeout=30).status_code == 200
        assert {wait.result().status_code for wait in waits} == {200}
