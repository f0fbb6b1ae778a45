"""The gateway on PostgreSQL, as on SQLite elsewhere."""

import threading

import pytest
from sqlalchemy import text

from services.kit.sql.database import Database
from tests.postgres import postgres_url
from tests.unit.gateway.harness import gateway_over
from tests.unit.tickets.clarify.charts import DISK

TABLES = (
    "gateway_ticket, gateway_workflow, gateway_score, gateway_idempotency, gateway_event, "
    "gateway_alert, gateway_clarification"
)


@pytest.fixture
def gateway():
    database = Database(postgres_url())
    database.migrate("kit", "gateway")
    with database.session() as session:
        session.execute(text(f"TRUNCATE {TABLES}, outbox CASCADE"))
    yield gateway_over(database)
    database.close()


def at_once(work, times):
    start, results = threading.Barrier(times), []

    def run():
        start.wait()
        results.append(work())

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == times
    return results


def test_a_ticket_is_walked_listed_and_shown(gateway):
    ticket_id = gateway.post({"id": "T-1", "title": "Fan 2 of leaf_1 failed"})["id"]
    assert gateway.work() == 1
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "planned"
    assert gateway.client.get(ticket["candidates"][0]["url"]).json()["rank"] == 1
    for query in ({"status": "planned"}, {"source": "generic"}, {"text": "LEAF_1"}):
        page = gateway.client.get("/v1/tickets", params=query).json()
        assert [row["id"] for row in page["tickets"]] == [ticket_id]
    stream = gateway.client.get(f"/v1/tickets/{ticket_id}/events").text
    assert stream.count("event: ") == 5 + len(ticket["candidates"])
    assert gateway.client.get(f"/tickets/{ticket_id}").status_code == 200


def test_equal_deliveries_at_the_same_moment_give_one_ticket(gateway):
    body = {"id": "T-1", "title": "x"}
    ids = at_once(lambda: gateway.post(body)["id"], 8)
    assert len(set(ids)) == 1
    assert gateway.work() == 1


def test_equal_keys_at_the_same_moment_give_one_ticket(gateway):
    headers = {"Idempotency-Key": "k"}
    ids = at_once(lambda: gateway.post({"title": "x"}, headers=headers)["id"], 8)
    assert len(set(ids)) == 1
    assert len(gateway.client.get("/v1/tickets").json()["tickets"]) == 1


def group_of(status, numbers):
    alerts = [
        {
            "status": status,
            "labels": {"alertname": "FanFailed"},
            "startsAt": "2025-03-12T08:14:51Z",
            "fingerprint": f"{number:016x}",
        }
        for number in numbers
    ]
    return {"version": "4", "alerts": alerts}


def test_alerts_that_begin_and_end_at_the_same_moment_are_over(gateway):
    for start in range(0, 200, 10):
        numbers = range(start, start + 10)
        bodies = [group_of("firing", numbers), group_of("resolved", reversed(numbers))]
        at_once(lambda bodies=bodies: gateway.post(bodies.pop()), len(bodies))
    tickets = gateway.client.get("/v1/tickets?limit=500").json()["tickets"]
    assert len(tickets) == 200
    assert all(ticket["resolved_at"] for ticket in tickets)
    with gateway.database.session() as session:
        assert (
            session.scalar(text("SELECT count(*) FROM gateway_alert WHERE ticket_id IS NULL")) == 0
        )


def test_a_storm_at_one_moment_is_one_ticket_and_counts_each(gateway):
    for expected in (16, 32):
        ids = at_once(lambda: gateway.post({"title": "Fan 2 has failed"})["id"], 16)
        assert len(set(ids)) == 1
        (ticket,) = gateway.client.get("/v1/tickets").json()["tickets"]
        assert ticket["alerts"] == expected
    assert gateway.work() == 1


def test_an_alert_that_breaks_again_at_the_moment_it_is_over_stays_consistent(gateway):
    for start in range(40):
        bodies = [group_of("resolved", [7]), group_of("firing", [7])]
        bodies[1]["alerts"][0]["startsAt"] = f"2025-03-12T09:{start:02d}:00Z"
        at_once(lambda bodies=bodies: gateway.post(bodies.pop()), len(bodies))
    (ticket,) = gateway.client.get("/v1/tickets").json()["tickets"]
    assert ticket["alerts"] == 40
    with gateway.database.session() as session:
        open_ = "SELECT count(*) FROM gateway_alert WHERE over_at IS NULL"
        is_open = session.scalar(text(open_)) > 0
    assert is_open == (ticket["resolved_at"] is None)


def test_a_walk_that_is_given_up_fails_its_ticket(gateway):
    gateway.retrieval.failures = [ZeroDivisionError("oops") for _ in range(3)]
    ticket_id = gateway.post({"title": "x"})["id"]
    for _ in range(3):
        gateway.work()
        gateway.outbox.restart()
    assert gateway.ticket(ticket_id)["status"] == "failed"


@pytest.mark.parametrize("path", ["/v1/tickets?text=%", "/v1/tickets?cursor=\u20ac", "/?text=\\"])
def test_odd_queries_are_answered(gateway, path):
    assert gateway.client.get(path).status_code == 200


def test_of_answers_at_the_same_moment_one_walks_the_ticket_again(gateway):
    gateway.planner.workflows = [DISK]
    ticket_id = gateway.post({"id": "T-1", "title": "No space on db-7"})["id"]
    gateway.work()
    (question,) = gateway.ticket(ticket_id)["clarifications"]
    address = f"/v1/tickets/{ticket_id}/clarifications/{question['id']}/answers"
    choices = iter([1, 2] * 4)
    statuses = at_once(
        lambda: gateway.client.post(address, json={"choice": next(choices)}).status_code, 8
    )
    assert sorted(statuses) == [200] * 4 + [409] * 4
    assert gateway.work() == 1
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], len(ticket["candidates"])) == ("planned", 1)
