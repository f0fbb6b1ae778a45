"""The outbox, the relay, the embedded broker and the worker threads together."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from services.kit.queue.celery_queue import EmbeddedBroker, WorkerThread, create_queue
from services.kit.queue.outbox import Outbox
from services.kit.queue.relay import Relay
from services.kit.sql.database import Database


@pytest.fixture
def broker():
    broker = EmbeddedBroker()
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def outbox(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'x.db'}")
    database.migrate("kit")
    yield Outbox(database)
    database.close()


def put(outbox, task, key, **kwargs):
    with outbox.database.session() as session:
        outbox.put(session, task, kwargs, key)


def wait_until(condition, timeout=60.0):
    until = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def test_a_task_runs_once_soon_after_its_commit(outbox, broker):
    queue, seen = create_queue(broker.url), []
    outbox.register(queue, "room.task", lambda n: seen.append((n, time.monotonic())))
    worker, relay = WorkerThread(queue, "room"), Relay(outbox, queue, sole=True)
    worker.start()
    relay.start()
    start = time.monotonic()
    for n in range(20):
        put(outbox, "room.task", f"t:{n}", n=n)
    wait_until(lambda: outbox.counts()["waiting"] == 0)
    relay.stop()
    worker.stop()
    assert sorted(n for n, _ in seen) == list(range(20))
    assert min(at for _, at in seen) - start < 5.0


def test_a_long_task_of_one_room_does_not_hold_up_another(outbox, broker):
    slow, fast = create_queue(broker.url), create_queue(broker.url)
    go_on, done = threading.Event(), threading.Event()
    outbox.register(slow, "slow.task", lambda: go_on.wait(60))
    outbox.register(fast, "fast.task", done.set)
    workers = [WorkerThread(slow, "slow"), WorkerThread(fast, "fast")]
    relay = Relay(outbox, fast, sole=True)
    for thread in (*workers, relay):
        thread.start()
    put(outbox, "slow.task", "s")
    put(outbox, "fast.task", "f")
    assert done.wait(20)
    go_on.set()
    for thread in (relay, *workers):
        thread.stop()


def test_a_broker_that_lost_everything_is_told_again(outbox):
    first = EmbeddedBroker()
    first.start()
    put(outbox, "room.task", "t:1", n=1)
    relay = Relay(outbox, create_queue(first.url), sole=True)
    assert relay.publish() == 1
    first.stop()
    second = EmbeddedBroker()
    second.start()
    queue, seen = create_queue(second.url), []
    outbox.register(queue, "room.task", lambda n: seen.append(n))  # noqa: PLW0108 - by name
    worker, relay = WorkerThread(queue, "room"), Relay(outbox, queue, sole=True)
    worker.start()
    relay.start()
    wait_until(lambda: outbox.counts()["waiting"] == 0)
    relay.stop()
    worker.stop()
    second.stop()
    assert seen == [1]


def test_a_failed_task_is_tried_again_by_itself(outbox, broker, monkeypatch):
    monkeypatch.setattr("services.kit.queue.outbox.RETRY_S", 0.1)
    queue, runs = create_queue(broker.url), []

    def fail_once():
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("once")

    outbox.register(queue, "room.task", fail_once)
    worker, relay = WorkerThread(queue, "room"), Relay(outbox, queue, sole=True)
    worker.start()
    relay.start()
    put(outbox, "room.task", "t:1")
    wait_until(lambda: outbox.counts()["waiting"] == 0)
    relay.stop()
    worker.stop()
    assert len(runs) == 2


def test_the_broker_ends_with_a_process_that_is_killed():
    code = (
        "import os, signal; from services.kit.queue.celery_queue import EmbeddedBroker;"
        "b = EmbeddedBroker(); b.start(); print(b.url, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    socket = Path(run.stdout.strip().removeprefix("redis+socket://"))
    wait_until(lambda: not socket.parent.exists())


def test_only_this_user_may_open_the_brokers_socket(broker):
    socket = Path(broker.url.removeprefix("redis+socket://"))
    assert socket.stat().st_mode & 0o077 == 0
    assert socket.parent.stat().st_mode & 0o077 == 0
