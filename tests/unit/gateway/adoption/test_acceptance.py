"""The acceptance rate: what counts as accepted, in which week, and from what."""

import time
from datetime import UTC, datetime

import pytest

from services.gateway.adoption.acceptance import AcceptanceCount, outcome

TICKET = {"title": "Fan 2 of spine-01 failed"}
WEEK_S = 7 * 86400


@pytest.mark.parametrize(
    ("verdict", "core", "used", "is_over", "expected"),
    [
        ("", 4, 3, False, "accepted"),
        ("", 4, 2, False, "open"),
        ("", 4, 2, True, "partly"),
        ("accepted", 4, 4, False, "accepted"),
        ("accepted", 4, 2, False, "partly"),
        ("rejected", 4, 4, True, "rejected"),
        ("accepted", 0, 0, False, "accepted"),
        ("", 0, 0, False, "open"),
    ],
)
def test_three_quarters_of_the_core_steps_make_a_workflow_accepted(
    verdict, core, used, is_over, expected
):
    assert outcome(verdict, core, used, is_over=is_over) == expected


@pytest.fixture
def planned(gateway):
    def planned(name):
        ticket_id = gateway.post({**TICKET, "id": name})["id"]
        gateway.work()
        return gateway.ticket(ticket_id)

    return planned


def report(gateway, weeks=2, now=None):
    return AcceptanceCount(gateway.database).report(weeks, now=now)


def test_each_ticket_counts_once_by_week_writer_and_document(gateway, planned):
    first, second, _untouched = planned("T-1"), planned("T-2"), planned("T-3")
    gateway.client.put(f"/v1/workflows/{first['workflow_id']}/acceptance", json={})
    other = first["candidates"][1]["id"]
    gateway.client.put(f"/v1/workflows/{other}/steps/look/mark", json={"state": "done"})
    gateway.client.post(f"/v1/tickets/{second['id']}/triage", json={"reason": "no"})
    found = report(gateway)
    year, week, _ = datetime.now(UTC).isocalendar()
    assert [w.week for w in found.weeks][-1] == f"{year}-W{week:02}"
    assert (found.weeks[-1].accepted, found.weeks[-1].rejected, found.weeks[-1].open) == (1, 1, 0)
    assert found.total.rate == 0.5
    assert [(w.name, w.decided) for w in found.writers] == [("extractive", 2)]
    assert gateway.client.get("/v1/acceptance?weeks=2").json()["total"]["rate"] == 0.5


def test_a_version_counts_for_the_writer_of_its_candidate(gateway, planned):
    ticket = planned("T-1")
    edits = {"edits": [{"edit": "change", "step": "replace", "text": "Swap the tray"}]}
    made = gateway.client.post(f"/v1/workflows/{ticket['workflow_id']}/versions", json=edits)
    gateway.client.put(f"/v1/workflows/{made.json()['id']}/acceptance", json={})
    found = report(gateway)
    assert [(w.name, w.accepted) for w in found.writers] == [("extractive", 1)]


def test_older_weeks_are_left_out_and_empty_ones_are_there(gateway, planned):
    ticket = planned("T-1")
    gateway.client.put(f"/v1/workflows/{ticket['workflow_id']}/acceptance", json={})
    later = time.time() + 3 * WEEK_S
    assert [w.accepted for w in report(gateway, weeks=4, now=later).weeks] == [1, 0, 0, 0]
    assert report(gateway, weeks=2, now=later).total.rate is None
