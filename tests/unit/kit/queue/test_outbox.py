import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database, DatabaseUnavailableError
from services.kit.tables import OutboxRow


@pytest.fixture
def outbox():
    database = Database.memory()
    database.migrate("kit")
    yield Outbox(database, max_attempts=2)
    database.close()


def put(outbox, key="t:1", **kwargs):
    with outbox.database.session() as session:
        return outbox.put(session, "room.task", kwargs, key)


def row(outbox, key="t:1"):
    with outbox.database.session() as session:
        return session.get(OutboxRow, key)


def make_due(outbox):
    with outbox.database.session() as session:
        session.execute(update(OutboxRow).values(due_at=0))


def test_a_put_that_rolls_back_leaves_no_task(outbox):
    heard = outbox.listen()
    with outbox.database.session() as session:
        outbox.put(session, "room.task", {}, "t:1")
        session.rollback()
    assert outbox.due(limit=10) == []
    assert not heard.is_set()


def test_a_commit_is_heard_by_all_who_listen(outbox):
    listening = [outbox.listen(), outbox.listen()]
    put(outbox)
    assert all(heard.is_set() for heard in listening)


def test_a_task_put_twice_is_one_task(outbox):
    assert put(outbox, n=1)
    assert not put(outbox, n=2)
    assert row(outbox).kwargs == {"n": 1}


def test_work_gets_what_was_put_and_its_row_goes(outbox):
    put(outbox, n=7)
    seen = []

    def work(n):
        seen.append(n)

    outbox.run("t:1", work)
    outbox.run("t:1", work)
    assert seen == [7]
    assert row(outbox) is None


def test_of_two_deliveries_at_once_one_does_nothing(outbox):
    put(outbox)
    started, go_on, runs = threading.Event(), threading.Event(), []

    def work():
        runs.append(1)
        started.set()
        go_on.wait(5)

    first = threading.Thread(target=outbox.run, args=("t:1", work))
    first.start()
    started.wait(5)
    outbox.run("t:1", work)
    go_on.set()
    first.join(5)
    assert runs == [1]


def test_finish_goes_with_the_result_or_not_at_all(outbox):
    put(outbox)

    def work():
        with outbox.database.session() as session:
            outbox.finish(session)
            raise ValueError("after finish, before commit")

    outbox.run("t:1", work)
    assert "after finish" in row(outbox).reason


def test_a_worker_that_lost_its_claim_cannot_commit(outbox):
    put(outbox)

    def slow_work():
        make_due(outbox)  # its lease ran out
        outbox.run("t:1", lambda: None)  # and another worker did the task
        with outbox.database.session() as session:
            session.add(OutboxRow(key="effect", task="x", kwargs={}, created_at=0, due_at=0))
            outbox.finish(session)

    outbox.run("t:1", slow_work)
    assert row(outbox, "effect") is None


def test_finish_outside_a_task_does_nothing(outbox):
    put(outbox)
    with outbox.database.session() as session:
        outbox.finish(session)
    assert row(outbox) is not None


def test_a_task_that_always_fails_is_parked_with_its_reason(outbox):
    put(outbox, n=1)
    parked = []

    def fail(n):
        raise ValueError(f"no {n}")

    for _ in range(4):
        make_due(outbox)
        outbox.run("t:1", fail, lambda _session, kwargs, reason: parked.append((kwargs, reason)))
    assert parked == [({"n": 1}, "ValueError: no 1")]
    assert outbox.counts() == {"waiting": 0, "parked": 1}
    assert outbox.due(limit=10) == []


def test_a_task_that_kills_its_process_is_parked(outbox):
    put(outbox)

    def die():
        raise KeyboardInterrupt  # no handler of the task runs, as when the process is killed

    for _ in range(2):
        make_due(outbox)
        with pytest.raises(KeyboardInterrupt):
            outbox.run("t:1", die)
    make_due(outbox)
    outbox.run("t:1", lambda: pytest.fail("must not run again"))
    assert row(outbox).parked_at is not None


def test_a_store_that_is_away_does_not_use_up_attempts(outbox):
    put(outbox)

    def unavailable():
        raise DatabaseUnavailableError("away")

    for _ in range(6):
        make_due(outbox)
        outbox.run("t:1", unavailable)
    assert row(outbox).parked_at is None
    assert row(outbox).due_at > time.time()


def test_what_is_published_is_not_due_again_at_once(outbox):
    put(outbox)
    due = outbox.due(limit=10)
    outbox.mark_published(due, again_after=60)
    assert [item.key for item in due] == ["t:1"]
    assert outbox.due(limit=10) == []


def test_noting_a_publication_leaves_a_faster_worker_alone(outbox):
    put(outbox)
    due = outbox.due(limit=10)
    runners = []

    def work():
        outbox.mark_published(due, again_after=60)
        runners.append(row(outbox).runner)

    outbox.run("t:1", work)
    assert runners[0] is not None
    assert row(outbox) is None


def test_a_restart_makes_claimed_and_published_tasks_due(outbox):
    put(outbox, "t:1")
    put(outbox, "t:2")
    outbox.mark_published(outbox.due(limit=1), again_after=60)

    def restart():
        outbox.restart()
        assert [item.key for item in outbox.due(limit=10)] == ["t:1", "t:2"]

    outbox.run("t:2", restart)


def test_a_lease_is_renewed_while_the_work_goes_on(outbox):
    put(outbox)

    def work():
        make_due(outbox)
        outbox.renew()
        assert row(outbox).due_at > time.time() + 30

    outbox.run("t:1", work)
    assert row(outbox) is None


def park(outbox, key="t:1"):
    put(outbox, key)
    with outbox.database.session() as session:
        session.execute(
            update(OutboxRow)
            .where(OutboxRow.key == key)
            .values(parked_at=time.time(), attempts=2, reason="it broke")
        )


def retry(outbox, key="t:1"):
    with outbox.database.session() as session:
        return outbox.retry(session, key)


def test_a_parked_task_that_is_retried_has_all_its_chances_again(outbox):
    park(outbox)
    heard = outbox.listen()
    assert retry(outbox)
    assert heard.is_set()
    assert not retry(outbox)
    for _ in range(2):
        assert row(outbox).parked_at is None
        make_due(outbox)
        outbox.run("t:1", lambda: 1 / 0)
    assert [task.reason for task in outbox.parked(limit=5)] == [
        "ZeroDivisionError: division by zero"
    ]


def test_what_is_not_parked_is_not_retried(outbox):
    put(outbox)
    assert not retry(outbox)
    assert not retry(outbox, "unknown")


def test_parked_tasks_are_told_the_longest_waiting_first(outbox):
    for key in ("t:2", "t:1", "t:3"):
        park(outbox, key)
    assert [task.key for task in outbox.parked(limit=2)] == ["t:2", "t:1"]
    assert [task.key for task in outbox.parked(limit=2, keys=["t:3", "x"])] == ["t:3"]
    assert outbox.parked(limit=2, until=1.0) == []


def test_what_runs_is_given_back_at_once_and_what_was_done_of_it_is_void(outbox):
    put(outbox)
    runs = []

    def work():
        runs.append(1)
        assert outbox.release() == ["t:1"]
        assert [task.key for task in outbox.due(limit=5)] == ["t:1"]
        assert row(outbox).attempts == 0
        outbox.run("t:1", lambda: runs.append(2))  # another worker begins at once
        with outbox.database.session() as session:
            session.add(OutboxRow(key="effect", task="x", kwargs={}, created_at=0, due_at=0))
            outbox.finish(session)

    outbox.run("t:1", work)
    assert runs == [1, 2]
    assert row(outbox, "effect") is None
    assert outbox.release() == []


def test_a_message_waits_for_a_database_that_is_away(outbox, monkeypatch):
    monkeypatch.setattr("services.kit.queue.outbox.RETRY_S", 0.01)
    put(outbox)
    away, session = [1, 1], outbox.database.session

    def sessions():
        if away:
            away.pop()
            raise DatabaseUnavailableError("away")
        return session()

    monkeypatch.setattr(outbox.database, "session", sessions)
    done = []
    outbox.run("t:1", lambda: done.append(1))
    assert done == [1]


def test_the_next_task_of_a_room_is_the_most_urgent_then_the_oldest(outbox):
    ran = []
    for name in ("room.task", "other.task"):
        outbox.register(name, lambda n: ran.append(n))  # noqa: PLW0108 - by name
    with outbox.database.session() as session:
        outbox.put(session, "room.task", {"n": "old"}, "a")
        outbox.put(session, "room.task", {"n": "new"}, "b")
        outbox.put(session, "room.task", {"n": "urgent"}, "c", priority=0)
        outbox.put(session, "other.task", {"n": "other"}, "d", priority=0)
        outbox.put(session, "room.unknown", {"n": "unknown"}, "e", priority=0)
        outbox.put_later(session, "room.task", {"n": "later"}, "f", after_s=60)
    while outbox.run_next("room"):
        pass
    assert ran == ["urgent", "old", "new"]
    assert outbox.counts()["waiting"] == 3


def test_a_claimed_task_is_nobodys_next_until_its_lease_runs_out(outbox):
    seen = []

    def work():
        seen.append(outbox.run_next("room"))
        make_due(outbox)
        if len(seen) == 1:
            seen.append(outbox.run_next("room"))

    outbox.register("room.task", work)
    put(outbox)
    assert outbox.run_next("room")
    assert seen == [False, False, True]
    assert outbox.counts()["waiting"] == 0


def test_eight_threads_take_each_task_once(outbox):
    ran = []
    outbox.register("room.task", lambda n: ran.append(n))  # noqa: PLW0108 - by name
    for n in range(40):
        put(outbox, key=f"t:{n}", n=n)

    def work(_thread):
        while outbox.run_next("room"):
            pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(ran) == list(range(40))
