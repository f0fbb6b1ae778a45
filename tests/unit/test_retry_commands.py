"""`flowxpert tickets retry` and `flowxpert dead-letters`, on a gateway that is served."""

import json

import pytest
from typer.testing import CliRunner

from services.cli import app
from services.kit.errors import InvalidInputError
from services.kit.http.server import ServerThread
from services.kit.sql.database import Database
from tests.unit.gateway.harness import gateway_over


@pytest.fixture
def gateway():
    database = Database.memory()
    database.migrate("kit", "gateway")
    yield gateway_over(database)
    database.close()


@pytest.fixture
def run(gateway, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = ServerThread(gateway.client.app, host="127.0.0.1", port=0)
    server.start()

    def run(*words):
        return CliRunner().invoke(app, [*words, "--url", server.url], catch_exceptions=False)

    yield run
    server.stop()


def fail(gateway, number, error):
    gateway.retrieval.failures = [error] * 3
    ticket_id = gateway.post({"id": f"T-{number}", "title": "Fan 2 has failed"})["id"]
    gateway.outbox.max_attempts = 1
    gateway.work()
    gateway.retrieval.failures = []
    assert gateway.ticket(ticket_id)["status"] == "failed"
    return ticket_id


def test_named_tickets_or_all_that_failed_are_walked_again(gateway, run):
    first, second = (fail(gateway, n, InvalidInputError("no")) for n in range(2))
    done = run("tickets", "retry", first, "--json")
    assert json.loads(done.stdout) == {"retried": [first], "refused": {}}
    gateway.work()
    over = run("tickets", "retry", first, "unknown", "--json")
    assert over.exit_code == 1
    assert set(json.loads(over.stdout)["refused"]) == {first, "unknown"}
    assert "1 tickets are walked again" in run("tickets", "retry", "--all-failed").stdout
    gateway.work()
    assert {gateway.ticket(id_)["status"] for id_ in (first, second)} == {"planned"}


def test_dead_letters_are_listed_and_put_back_to_work(gateway, run):
    ticket_id = fail(gateway, 1, ValueError("a defect"))
    assert "ValueError: a defect" in run("dead-letters", "list").stdout
    (letter,) = json.loads(run("dead-letters", "list", "--json").stdout)["letters"]
    assert letter["ticket_id"] == ticket_id
    assert run("dead-letters", "retry", "unknown").exit_code == 1
    done = run("dead-letters", "retry", "--all", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"retried": [letter["key"]]})
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"


def test_which_ones_must_be_named(run):
    with pytest.raises(InvalidInputError):
        run("tickets", "retry")
    with pytest.raises(InvalidInputError):
        run("dead-letters", "retry")
