"""Where knowledge is missing, and what rests on which document."""

import pytest

from services.tickets.page_quality.queries import WEEK_S, CoverageQueries, mondays_until
from tests.unit.gateway.fakes import RUNBOOK

NOTHING, CLOSEST, SURE = "nothing known", "closest known", "surely known"
CHANCES = {NOTHING: 0.0, CLOSEST: 0.35, SURE: 0.95}


@pytest.fixture
def walked(gateway):
    """Takes tickets in and walks them."""
    gateway.retrieval.chances = CHANCES

    def walk(title, description, id_):
        accepted = gateway.post({"title": title, "description": description, "id": id_})
        gateway.work()
        return gateway.ticket(accepted["id"])

    return walk


def coverage(gateway):
    return gateway.client.get("/v1/coverage").json()


def test_tickets_that_differ_in_numbers_are_one_group_and_the_largest_comes_first(gateway, walked):
    walked("Link 1 is slow", NOTHING, "a")
    for number in (1, 2, 3):
        walked(f"Disk {number} is full", NOTHING, f"b{number}")
    groups = coverage(gateway)["groups"]
    assert [(each["name"], each["tickets"]) for each in groups] == [
        ("Disk 3 is full", 3),
        ("Link 1 is slow", 1),
    ]
    family = groups[0]["family"]
    page = CoverageQueries(gateway.database).tickets(family, cursor=None, limit=2)
    assert [each.title for each in page.tickets] == ["Disk 3 is full", "Disk 2 is full"]
    assert page.next_cursor


def test_unsure_and_resolved_tickets_are_told_and_sure_ones_are_no_gap(gateway, walked):
    unsure = walked("Fan 1 hums", CLOSEST, "a")
    assert unsure["fit"] == "unsure"
    gateway.client.post(f"/v1/tickets/{unsure['id']}/resolution")
    assert walked("Fan 2 failed", SURE, "b")["fit"] == "sure"
    (group,) = coverage(gateway)["groups"]
    assert (group["tickets"], group["unsure"], group["resolved"]) == (1, 1, 1)
    assert group["nearest"]["document_id"] == RUNBOOK


def test_the_share_of_sure_workflows_is_told_by_week(gateway, walked):
    walked("Fan 1 failed", SURE, "a")
    walked("Disk 1 is full", NOTHING, "b")
    weeks = coverage(gateway)["weeks"]
    assert len(weeks) == 12
    assert (weeks[-1]["tickets"], weeks[-1]["sure"]) == (2, 1)
    assert all(each["tickets"] == 0 for each in weeks[:-1])


def test_weeks_begin_on_mondays_and_this_one_is_the_last():
    monday = 1_767_571_200.0  # 2026-01-05 00:00 UTC
    for now in (monday, monday + 1, monday + WEEK_S - 1):
        assert mondays_until(now, 2) == [monday - WEEK_S, monday]


def test_a_document_tells_which_tickets_rest_on_which_lines(gateway, walked):
    ticket = walked("Fan 2 failed", SURE, "a")
    (citation,) = gateway.client.get(f"/v1/citations/{RUNBOOK}").json()
    assert (citation["ticket_id"], citation["workflow_id"]) == (ticket["id"], ticket["workflow_id"])
    assert citation["lines"] == [[12, 14]]
    assert gateway.client.get("/v1/citations/other.md").json() == []


def test_pages_are_counted_by_tickets_that_they_answered_and_came_near(gateway, walked):
    ticket = walked("Fan 2 failed", SURE, "a")
    walked("Fan 3 failed", SURE, "c")
    near = walked("Disk 1 is full", NOTHING, "b")
    assert near["nearest"][0]["document_id"] == RUNBOOK

    def uses():
        return gateway.client.get("/v1/coverage/uses").json()

    assert uses()["pages"] == {RUNBOOK: {"answered": 2, "near": 1}}
    assert (uses()["tickets"], uses()["leading"], uses()["near"]) == (3, [], 3)
    accepted = gateway.client.put(
        f"/v1/workflows/{ticket['workflow_id']}/acceptance", json={"accepted": True}
    )
    assert accepted.status_code == 200
    confirmed = uses()
    assert (confirmed["leading"], confirmed["answered"], confirmed["near"]) == ([RUNBOOK], 2, 1)


def test_a_ticket_rests_on_what_the_version_that_it_shows_cites(gateway, walked):
    ticket = walked("Fan 2 failed", SURE, "a")
    edits = [{"edit": "change", "step": "replace", "text": "Replace the tray by its twin"}]
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    version = gateway.client.post(address, json={"edits": edits}).json()
    (citation,) = gateway.client.get(f"/v1/citations/{RUNBOOK}").json()
    assert (citation["workflow_id"], citation["lines"]) == (version["id"], [[12, 14]])
