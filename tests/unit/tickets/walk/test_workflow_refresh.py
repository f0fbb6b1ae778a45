"""What was done to a page after a workflow was made of it, and taking it."""

from datetime import UTC, datetime, timedelta

import pytest

from services.runbook.ports import Event, Happening
from services.tickets.ticket.events import Events
from services.tickets.walk.workflow_refresh import last_change

SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def event(what, minutes, *, who="kim", is_undone=False):
    at = SINCE + timedelta(minutes=minutes)
    return Event(id=1, is_undoable=True, at=at, who=who, what=what, is_undone=is_undone)


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([], None),
        ([event(Happening.REPLACED, -5)], None),
        ([event(Happening.READ, 5), event(Happening.DOUBTED, 4)], None),
        ([event(Happening.APPROVED, 6), event(Happening.REPLACED, 5)], "corrected"),
        ([event(Happening.APPROVED, 6)], "approved"),
        ([event(Happening.UNDONE, 6), event(Happening.REPLACED, 5, is_undone=True)], None),
        ([event(Happening.UNDONE, 6), event(Happening.APPROVED, -5, is_undone=True)], "withdrawn"),
    ],
)
def test_what_people_did_since_then(history, expected):
    change = last_change(history, SINCE)
    assert (change and change[0]) == expected


def test_a_ticket_is_walked_again_once_and_not_when_it_was_handed_over(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.work()
    address = f"/v1/tickets/{ticket_id}/renewal"
    assert gateway.client.get(address).json() == []
    for _ in range(2):
        assert gateway.client.post(address).status_code == 202
    gateway.work()
    kinds = [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]
    assert (kinds.count("renewed"), kinds.count("planned")) == (1, 2)
    gateway.client.post("/v1/teams", json={"name": "cooling"})
    gateway.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": "cooling"})
    assert gateway.client.post(address).status_code == 409
    assert gateway.client.post("/v1/tickets/nobody/renewal").status_code == 404
