"""Failed tickets and dead letters, put back to work."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from services.integrations.writeback.service import WRITE_BACK_TASK
from services.kit.errors import InvalidInputError, UnavailableError
from services.kit.tables import AuditRow, OutboxRow

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}
KEY = "a-key-of-enough-characters"


def make_due(gateway):
    with gateway.database.session() as session:
        session.execute(update(OutboxRow).values(due_at=0))


def fail(gateway, error=InvalidInputError, times=1):
    """A ticket whose walk broke; its id."""
    gateway.retrieval.failures = [error(f"no {n}") for n in range(times)]
    ticket_id = gateway.post(TICKET)["id"]
    for _ in range(times):
        make_due(gateway)
        gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "failed"
    return ticket_id


def refused(gateway):
    """One that failed by a refusal: its task is gone."""
    return fail(gateway)


def parked(gateway):
    """One that the queue has given up: its task is there."""
    return fail(gateway, ValueError, times=3)


def retry(gateway, ticket_id):
    return gateway.client.post(f"/v1/tickets/{ticket_id}/retry")


def kinds(gateway, ticket_id):
    text = gateway.client.get(f"/v1/tickets/{ticket_id}/events").text
    return [line[7:] for line in text.splitlines() if line.startswith("event: ")]


@pytest.mark.parametrize("failed", [refused, parked])
def test_a_failed_ticket_is_walked_again(gateway, failed):
    ticket_id = failed(gateway)
    answer = retry(gateway, ticket_id)
    assert answer.status_code == 202
    assert (answer.json()["status"], answer.json()["reason"]) == ("received", "")
    assert gateway.work() == 1
    assert gateway.ticket(ticket_id)["status"] == "planned"
    history = [
        kind for kind in kinds(gateway, ticket_id) if kind in {"failed", "retried", "planned"}
    ]
    assert history == ["failed", "retried", "planned"]
    assert gateway.outbox.counts() == {"waiting": 0, "parked": 0}


def test_it_may_fail_and_be_tried_again_as_often_as_one_likes(gateway):
    ticket_id = parked(gateway)
    for _ in range(2):
        retry(gateway, ticket_id)
        gateway.retrieval.failures = [ValueError("still")] * 3
        for _ in range(3):
            make_due(gateway)
            gateway.work()
        assert gateway.ticket(ticket_id)["status"] == "failed"
    retry(gateway, ticket_id)
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"


@pytest.mark.parametrize("failed", [refused, parked])
def test_of_many_who_ask_at_once_each_is_answered_and_it_is_walked_once(gateway, failed):
    ticket_id = failed(gateway)
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _n: retry(gateway, ticket_id), range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert gateway.work() == 1
    assert kinds(gateway, ticket_id).count("retried") == 1
    assert len(gateway.ticket(ticket_id)["candidates"]) == 2


def test_only_a_failed_ticket_is_tried_again(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    assert retry(gateway, ticket_id).json()["error"] == "TicketNotFailedError"
    gateway.work()
    assert retry(gateway, ticket_id).status_code == 409
    assert gateway.outbox.counts()["waiting"] == 0
    assert retry(gateway, "unknown").status_code == 404


def test_a_model_has_its_time_again(gateway):
    ticket_id = refused(gateway)
    with gateway.database.session() as session:
        session.connection().exec_driver_sql("UPDATE gateway_ticket SET created_at = 1000")
    retry(gateway, ticket_id)
    gateway.work()
    assert gateway.planner.requests[-1].deadline_s > 60


def test_who_tried_it_again_is_in_the_audit_log(gateway):
    ticket_id = refused(gateway)
    retry(gateway, ticket_id)
    statement = select(AuditRow).where(AuditRow.action == "ticket.retried")
    with gateway.database.session() as session:
        (line,) = session.scalars(statement)
    assert (line.who, line.subject) == ("local", f"ticket {ticket_id}")
    assert (line.before, line.after) == ({"state": "failed"}, {"state": "retried"})


def test_the_page_of_a_failed_ticket_has_a_button_that_tries_again(gateway):
    ticket_id = refused(gateway)
    assert "Try again" in gateway.client.get(f"/tickets/{ticket_id}").text
    shown = gateway.client.post(f"/tickets/{ticket_id}/retry")
    assert "On its way" in shown.text
    gateway.work()
    again = gateway.client.post(f"/tickets/{ticket_id}/retry")
    assert again.status_code == 409


def test_dead_letters_are_listed_with_what_they_are_about(gateway):
    ticket_id = parked(gateway)
    listing = gateway.client.get("/v1/dead-letters").json()
    (letter,) = listing["letters"]
    assert (letter["ticket_id"], letter["attempts"], listing["total"]) == (ticket_id, 3, 1)
    assert letter["task"] == "gateway.walk_ticket"
    assert letter["reason"] == "ValueError: no 2"


@pytest.mark.parametrize("by_key", [True, False])
def test_a_walk_among_the_dead_letters_takes_its_ticket_along(gateway, by_key):
    ticket_id = parked(gateway)
    (letter,) = gateway.client.get("/v1/dead-letters").json()["letters"]
    wanted = {"keys": [letter["key"], "unknown"]} if by_key else {"all": True}
    answer = gateway.client.post("/v1/dead-letters/retry", json=wanted)
    assert (answer.status_code, answer.json()) == (202, {"retried": [letter["key"]]})
    assert gateway.ticket(ticket_id)["status"] == "received"
    assert gateway.client.post("/v1/dead-letters/retry", json=wanted).json() == {"retried": []}
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"


def test_a_system_that_could_not_be_told_is_told_again(make_gateway):
    chat = {"chat_url": "http://127.0.0.1:9/x", "allowed_hosts": ["127.0.0.1"]}
    gateway = make_gateway(write_back=chat | {"allow_private": True})
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    with gateway.database.session() as session:
        row = session.scalars(select(OutboxRow).where(OutboxRow.task == WRITE_BACK_TASK)).one()
        row.parked_at, row.attempts, key = 1.0, 3, row.key
    gateway.client.post("/v1/dead-letters/retry", json={"all": True})
    assert [task.key for task in gateway.outbox.due(limit=5)] == [key]
    assert gateway.ticket(ticket_id)["status"] == "planned"


def test_what_is_put_back_to_work_must_be_named(gateway):
    for body in [{}, {"keys": []}, {"keys": ["x"], "all": True}, {"every": True}]:
        assert gateway.client.post("/v1/dead-letters/retry", json=body).status_code == 422


def test_a_walk_waits_for_a_store_and_is_no_dead_letter(gateway):
    gateway.retrieval.failures = [UnavailableError("away")] * 9
    gateway.post(TICKET)
    for _ in range(9):
        make_due(gateway)
        gateway.work()
    assert gateway.client.get("/v1/dead-letters").json() == {"letters": [], "total": 0}


def test_keys_without_the_scope_may_not(make_gateway):
    gateway = make_gateway(api_key=KEY)
    assert gateway.client.get("/v1/dead-letters").status_code == 401
    assert gateway.client.post("/v1/tickets/x/retry").status_code == 401
