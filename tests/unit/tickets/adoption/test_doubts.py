"""Steps that were found wrong on a ticket are told to ingestion, and taken back."""

import contextlib

import pytest

from services.kit.errors import UnavailableError
from services.kit.tables import OutboxRow
from services.tickets.retention import Retention

TICKET = {"id": "T-1", "title": "Fan 2 of spine-01 failed"}


@pytest.fixture
def ticket(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


@pytest.fixture
def judge(gateway, ticket):
    def judge(step, verdict, word=""):
        address = f"/v1/workflows/{ticket['workflow_id']}/steps/{step}/judgement"
        gateway.client.put(address, json={"verdict": verdict, "word": word})

    return judge


def test_a_rejected_step_is_told_with_its_ticket_and_taken_back_with_the_word(
    gateway, ticket, judge
):
    judge("look", "rejected", "it hangs")
    gateway.work()
    (report,) = gateway.doubts.open.values()
    assert (report.ticket, report.step, report.word, report.by) == (
        ticket["id"],
        "look",
        "it hangs",
        "local",
    )
    assert report.document_id == "runbooks/FanFailed.md"
    judge("look", "")
    gateway.work()
    assert gateway.doubts.open == {}


def test_an_accepted_step_and_one_without_a_source_are_no_doubts(gateway, judge):
    judge("look", "accepted")
    judge("replace", "rejected", "nobody says so")
    gateway.work()
    assert gateway.doubts.open == {}


def test_a_corrected_step_is_told_with_what_was_done_instead(gateway, ticket):
    edits = [{"edit": "change", "step": "look", "commands": ["show fan detail"]}]
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    gateway.client.post(address, json={"edits": edits})
    gateway.work()
    (report,) = gateway.doubts.open.values()
    assert report.instead == "Show the fans: show fan detail"
    assert report.text == "Show the fans: show environment fan"


@pytest.mark.parametrize("is_corrected", [True, False])
def test_a_doubt_has_no_value_of_its_ticket_and_no_secret(gateway, is_corrected):
    labels = {"device": "spine-01", "customer": "Globex Bank", "oncall": "Jane Roe"}
    ticket_id = gateway.post(TICKET | {"labels": labels, "description": "mgmt 10.9.8.7"})["id"]
    gateway.work()
    workflow = f"/v1/workflows/{gateway.ticket(ticket_id)['workflow_id']}"
    words = "Ask Jane of Globex Bank about the fan of spine_01 at 10.9.8.7, password=Abcdef123"
    if is_corrected:
        edits = [{"edit": "change", "step": "look", "text": words}]
        gateway.client.post(f"{workflow}/versions", json={"edits": edits})
    else:
        verdict = {"verdict": "rejected", "word": words}
        gateway.client.put(f"{workflow}/steps/look/judgement", json=verdict)
    gateway.work()
    (report,) = gateway.doubts.open.values()
    quoted = report.instead if is_corrected else report.word
    assert quoted.startswith(
        "Ask <oncall> of <customer> about the fan of <device> at <value>, password=[redacted]"
    )


def test_nothing_is_lost_while_ingestion_does_not_answer(gateway, judge):
    gateway.doubts.is_down = True
    judge("look", "rejected")
    with contextlib.suppress(UnavailableError):
        gateway.work()
    with gateway.database.session() as session:
        (row,) = session.query(OutboxRow).all()
        row.due_at = 0.0
    gateway.doubts.is_down = False
    gateway.work()
    assert len(gateway.doubts.open) == 1


def test_a_purged_ticket_leaves_no_doubt(gateway, judge):
    judge("look", "rejected")
    gateway.work()
    Retention(gateway.database, 0.0, clock=lambda: 4e9).purge()
    gateway.work()
    assert gateway.doubts.open == {}
