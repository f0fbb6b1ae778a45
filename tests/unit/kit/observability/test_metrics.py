"""What is measured of stores, the queue and stages."""

import time

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Counter

from services.kit.errors import UnavailableError
from services.kit.observability import tracing
from services.kit.observability.metrics import start_at_zero, store_timer
from services.kit.queue.celery_queue import Relay, create_queue
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import LeaseKeeper, Periodic
from services.kit.sql.database import Database
from tests.waiting import eventually


def value(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.fixture
def outbox():
    database = Database.memory()
    database.migrate("kit")
    yield Outbox(database)
    database.close()


def test_a_store_that_does_not_answer_is_counted_and_its_time_too():
    counted = value("flowxpert_store_failures_total", store="graph")
    timed = value("flowxpert_store_seconds_count", store="graph", operation="test")
    with pytest.raises(UnavailableError), store_timer("graph", "test"):
        raise UnavailableError("away")
    with pytest.raises(KeyError), store_timer("graph", "test"):
        raise KeyError("what was asked was wrong")
    assert value("flowxpert_store_failures_total", store="graph") == counted + 1
    assert value("flowxpert_store_seconds_count", store="graph", operation="test") == timed + 2


def test_each_transaction_is_timed(outbox):
    labels = {"store": "database", "operation": "transaction"}
    before = value("flowxpert_store_seconds_count", **labels)
    outbox.counts()
    assert value("flowxpert_store_seconds_count", **labels) == before + 1


def test_what_waits_is_known_by_when_it_was_to_begin(outbox):
    with outbox.database.session() as session:
        outbox.put(session, "room.soon", {}, "a")
        outbox.put_later(session, "room.later", {}, "b", after_s=600)
    now = time.time()
    since = {each.task: each.since for each in outbox.waiting()}
    assert since["room.soon"] <= now
    assert since["room.later"] > now + 500


def test_what_runs_or_was_given_up_does_not_wait(outbox):
    outbox.max_attempts = 1
    with outbox.database.session() as session:
        outbox.put(session, "room.task", {}, "a")
    seen = []

    def work():
        seen.append(outbox.waiting())
        raise ValueError("always")

    outbox.run("a", work)
    assert seen == [[]]
    assert outbox.waiting() == []
    assert outbox.counts() == {"waiting": 0, "parked": 1}


def test_who_keeps_the_leases_tells_the_age_of_the_queue_and_that_it_is_empty_again(outbox):
    leases = LeaseKeeper(outbox)
    with outbox.database.session() as session:
        outbox.put(session, "room.aged", {}, "a")
    time.sleep(0.02)
    leases.tend()
    assert value("flowxpert_queue_oldest_waiting_seconds", task="room.aged") > 0.01
    outbox.run("a", lambda: None)
    leases.tend()
    assert value("flowxpert_queue_oldest_waiting_seconds", task="room.aged") == 0


def test_publishing_is_timed_and_goes_on_with_the_trace(outbox):
    labels = {"store": "broker", "operation": "publish"}
    before = value("flowxpert_store_seconds_count", **labels)
    with (
        tracing.entry("request", tracing.TraceContext("abc-1")),
        outbox.database.session() as session,
    ):
        outbox.put(session, "room.task", {}, "a")
    assert Relay(outbox, create_queue("memory://")).publish() == 1
    assert value("flowxpert_store_seconds_count", **labels) == before + 1


def test_periodic_work_logs_under_a_trace_of_its_own():
    seen = []
    periodic = Periodic(
        "test",
        lambda: seen.append(tracing.current_context().trace_id),
        every_s=0.01,
        first_after_s=0,
    )
    periodic.start()
    eventually(lambda: len(seen) >= 2)
    periodic.stop()
    assert len(set(seen)) == len(seen)


def test_periodic_work_that_has_more_to_do_goes_on_at_once():
    left = [True, True, False]
    periodic = Periodic("test", lambda: left.pop(0), every_s=60, first_after_s=0)
    periodic.start()
    eventually(lambda: not left)
    periodic.stop()


def test_series_are_there_before_the_first_is_counted():
    registry = CollectorRegistry()
    counter = Counter("things", "Things.", ["kind", "outcome"], registry=registry)
    start_at_zero(counter, ("a", "b"), ("good", "bad"))
    assert registry.get_sample_value("things_total", {"kind": "b", "outcome": "bad"}) == 0
