"""The acceptance rate: what counts as accepted, in which week, and from what."""

import time
from datetime import UTC, datetime

import pytest

from services.contracts.adoption import Taken
from services.tickets.adoption.acceptance import AcceptanceCount, classify_outcome
from services.tickets.tables import AdoptionRow

TICKET = {"title": "Fan 2 of spine-01 failed"}
WEEK_S = 7 * 86400


@pytest.mark.parametrize(
    ("verdict", "did", "had", "is_over", "expected"),
    [
        ("", 4, 3, False, Taken.OPEN),
        ("", 4, 3, True, Taken.ACCEPTED),
        ("", 4, 2, True, Taken.PARTLY),
        ("accepted", 4, 4, False, Taken.ACCEPTED),
        ("accepted", 4, 2, False, Taken.PARTLY),
        ("rejected", 4, 4, True, Taken.REJECTED),
        ("accepted", 0, 0, False, Taken.WORD_ONLY),
        ("accepted", 0, 0, True, Taken.WORD_ONLY),
        ("", 0, 0, True, Taken.OPEN),
    ],
)
def test_a_workflow_is_accepted_that_had_three_quarters_of_what_was_done(
    verdict, did, had, is_over, expected
):
    row = AdoptionRow(verdict=verdict, did=did, had=had, core=9, used=did)
    assert classify_outcome(row, is_over=is_over) is expected


@pytest.mark.parametrize(
    ("verdict", "core", "used", "is_over", "expected"),
    [
        ("", 4, 3, False, Taken.ACCEPTED),
        ("", 4, 2, False, Taken.OPEN),
        ("", 4, 2, True, Taken.PARTLY),
        ("accepted", 4, 4, False, Taken.ACCEPTED),
        ("accepted", 4, 2, False, Taken.PARTLY),
        ("rejected", 4, 4, True, Taken.REJECTED),
        ("accepted", 0, 0, False, Taken.ACCEPTED),
        ("", 0, 0, False, Taken.OPEN),
    ],
)
def test_older_work_keeps_its_rule(verdict, core, used, is_over, expected):
    row = AdoptionRow(verdict=verdict, core=core, used=used)
    assert classify_outcome(row, is_over=is_over) is expected


@pytest.fixture
def planned(gateway):
    def planned(name):
        ticket_id = gateway.post({**TICKET, "id": name})["id"]
        gateway.work()
        return gateway.ticket(ticket_id)

    return planned


def tick(gateway, ticket, step="look"):
    address = f"/v1/workflows/{ticket['workflow_id']}/steps/{step}/mark"
    assert gateway.client.put(address, json={"state": "done"}).status_code == 200


def report(gateway, weeks=2, now=None):
    return AcceptanceCount(gateway.database).report(weeks, now=now)


def test_each_ticket_counts_once_by_week_writer_and_document(gateway, planned):
    first, second, _untouched = planned("T-1"), planned("T-2"), planned("T-3")
    tick(gateway, first)
    gateway.client.put(f"/v1/workflows/{first['workflow_id']}/acceptance", json={})
    other = first["candidates"][1]["id"]
    gateway.client.put(f"/v1/workflows/{other}/steps/look/mark", json={"state": "done"})
    gateway.client.post(f"/v1/tickets/{second['id']}/triage", json={"reason": "no"})
    acceptance = report(gateway)
    year, week, _ = datetime.now(UTC).isocalendar()
    assert [w.week for w in acceptance.weeks][-1] == f"{year}-W{week:02}"
    assert (
        acceptance.weeks[-1].accepted,
        acceptance.weeks[-1].rejected,
        acceptance.weeks[-1].open,
    ) == (1, 1, 0)
    assert acceptance.total.rate == 0.5
    assert [(w.name, w.decided) for w in acceptance.writers] == [("extractive", 2)]
    assert gateway.client.get("/v1/acceptance?weeks=2").json()["total"]["rate"] == 0.5


def test_a_version_counts_for_the_writer_of_its_candidate(gateway, planned):
    ticket = planned("T-1")
    edits = {"edits": [{"edit": "change", "step": "replace", "text": "Swap the tray"}]}
    made = gateway.client.post(f"/v1/workflows/{ticket['workflow_id']}/versions", json=edits)
    gateway.client.put(f"/v1/workflows/{made.json()['id']}/acceptance", json={})
    acceptance = report(gateway)
    assert [(w.name, w.accepted) for w in acceptance.writers] == [("extractive", 1)]


def test_older_weeks_are_left_out_and_empty_ones_are_there(gateway, planned):
    ticket = planned("T-1")
    tick(gateway, ticket)
    gateway.client.put(f"/v1/workflows/{ticket['workflow_id']}/acceptance", json={})
    later = time.time() + 3 * WEEK_S
    assert [w.accepted for w in report(gateway, weeks=4, now=later).weeks] == [1, 0, 0, 0]
    assert report(gateway, weeks=2, now=later).total.rate is None


def test_a_workflow_that_was_worked_and_improved_is_credited_with_what_it_had(gateway, planned):
    ticket = planned("T-1")
    tick(gateway, ticket)
    edits = [
        {"edit": "change", "step": "replace", "text": "Swap the tray"},
        {"edit": "add", "after": "replace", "text": "Read the speed again"},
    ]
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    made = gateway.client.post(address, json={"edits": edits}).json()
    gateway.client.put(f"/v1/workflows/{made['id']}/acceptance", json={})
    total = report(gateway).total
    assert (total.did, total.had, total.used, total.core) == (3, 2, 1, 2)
    assert (total.partly, round(total.recall, 2), total.done) == (1, 0.67, 0.5)


def test_a_word_without_a_tick_is_in_no_rate(gateway, planned):
    ticket = planned("T-1")
    gateway.client.put(f"/v1/workflows/{ticket['workflow_id']}/acceptance", json={})
    total = report(gateway).total
    assert (total.said, total.decided, total.rate, total.recall) == (1, 0, None, None)


def test_each_number_leads_to_its_tickets(gateway, planned):
    first, second = planned("T-1"), planned("T-2")
    tick(gateway, first)
    gateway.client.put(f"/v1/workflows/{first['workflow_id']}/acceptance", json={})
    gateway.client.post(f"/v1/tickets/{second['id']}/triage", json={"reason": "no"})
    acceptance = report(gateway)
    assert acceptance.total.decided == 2
    for name, ticket in (("accepted", first), ("rejected", second)):
        query = f"taken={name}&week={acceptance.weeks[-1].week}&writer=extractive"
        listed = gateway.client.get(f"/v1/acceptance/tickets?{query}").json()
        assert [each["id"] for each in listed] == [ticket["id"]]
        page = gateway.client.get(f"/acceptance/tickets?{query}").text
        assert f'href="/tickets/{ticket["id"]}"' in page
    assert gateway.client.get("/v1/acceptance/tickets?document=none").json() == []
