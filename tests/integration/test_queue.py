"""The outbox with workers, woken by its own commits or over a broker: the same holds for both."""

import threading
from contextlib import ExitStack, contextmanager

import pytest

from evaluation.benches.load.servers import Valkey, begin, made
from services.kit.queue.celery_queue import Relay, WorkerThread, create_queue
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import OutboxWorker, Workforce
from services.kit.sql.database import Database
from tests.waiting import eventually


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with ExitStack() as closing:
        valkey = Valkey(tmp_path_factory.mktemp("valkey"))
        begin([valkey], closing)
        yield valkey


@pytest.fixture
def outbox(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'x.db'}")
    database.migrate("kit")
    yield Outbox(database)
    database.close()


@contextmanager
def workforce(outbox, url, *rooms):
    """A worker for each room, and a relay where there is a broker."""
    if url is None:
        force = Workforce(outbox, [OutboxWorker(outbox, room) for room in rooms], stop_within_s=5)
    else:
        workers = [WorkerThread(create_queue(url), room, outbox) for room in rooms]
        relay = Relay(outbox, create_queue(url))
        force = Workforce(outbox, workers, stop_within_s=5, relay=relay)
    force.start()
    yield force
    force.stop()


@pytest.fixture(params=["outbox", "broker"])
def working(request, outbox):
    url = request.getfixturevalue("broker").url if request.param == "broker" else None
    return lambda *rooms: workforce(outbox, url, *rooms)


def put(outbox, task, key, **kwargs):
    with outbox.database.session() as session:
        outbox.put(session, task, kwargs, key)


def test_a_task_runs_once_by_its_commit(outbox, working, monkeypatch):
    for module in ("workforce", "celery_queue"):  # they look by themselves long after the test
        monkeypatch.setattr(f"services.kit.queue.{module}.POLL_S", 600.0)
    seen = []
    outbox.register("room.task", lambda n: seen.append(n))  # noqa: PLW0108 - by name
    with working("room"):
        for n in range(20):
            put(outbox, "room.task", f"t:{n}", n=n)
        eventually(lambda: outbox.counts()["waiting"] == 0)
    assert sorted(seen) == list(range(20))


def test_a_long_task_of_one_room_does_not_hold_up_another(outbox, working):
    go_on, done = threading.Event(), threading.Event()
    outbox.register("slow.task", lambda: go_on.wait(60))
    outbox.register("fast.task", done.set)
    with working("slow", "fast"):
        put(outbox, "slow.task", "s")
        put(outbox, "fast.task", "f")
        assert done.wait(20)
        go_on.set()


def test_a_broker_that_lost_everything_is_told_again(outbox, broker, tmp_path):
    put(outbox, "room.task", "t:1", n=1)
    assert Relay(outbox, create_queue(broker.url)).publish() == 1
    outbox.restart()
    seen = []
    outbox.register("room.task", lambda n: seen.append(n))  # noqa: PLW0108 - by name
    with ExitStack() as closing:
        second = Valkey(made(tmp_path / "second"))
        begin([second], closing)
        closing.enter_context(workforce(outbox, second.url, "room"))
        eventually(lambda: outbox.counts()["waiting"] == 0)
    assert seen == [1]


def test_a_failed_task_is_tried_again_by_itself(outbox, working, monkeypatch):
    monkeypatch.setattr("services.kit.queue.outbox.RETRY_S", 0.1)
    runs = []

    def fail_once():
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("once")

    outbox.register("room.task", fail_once)
    with working("room"):
        put(outbox, "room.task", "t:1")
        eventually(lambda: outbox.counts()["waiting"] == 0)
    assert len(runs) == 2


def test_who_stops_takes_no_more_and_gives_back_what_does_not_end(outbox, working):
    begun, go_on = threading.Event(), threading.Event()

    def work():
        begun.set()
        go_on.wait(60)

    outbox.register("room.task", work)
    with working("room") as force:
        put(outbox, "room.task", "t:1")
        put(outbox, "room.task", "t:2")
        assert begun.wait(20)
        force._stop_within_s = 0.1
        force.stop()
        assert [task.key for task in outbox.due(limit=5)][:1] == ["t:1"]
        go_on.set()
    eventually(lambda: not force.is_working)
    assert outbox.counts()["waiting"] == 2
