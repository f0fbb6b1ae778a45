"""A walk over stores and services that do not answer."""

import time

import pytest
from sqlalchemy import update

from services.kit.errors import UnavailableError
from services.kit.tables import OutboxRow
from services.tickets.ticket.events import Events
from services.tickets.walk.walk import NOT_JUDGED

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}


def make_due(gateway):
    with gateway.database.session() as session:
        session.execute(update(OutboxRow).values(due_at=0))


def without(gateway, *parts):
    whole = gateway.retrieval.context
    gateway.retrieval.context = whole.model_copy(update={"degraded": parts})
    return whole


def walked(gateway, **fields):
    ticket_id = gateway.post(TICKET | fields)["id"]
    gateway.work()
    return ticket_id


def events(gateway, ticket_id):
    return Events(gateway.database).after(0, ticket_id=ticket_id)


def kinds(gateway, ticket_id):
    outcomes = {"planned", "refused", "caught_up"}
    return [event.kind for event in events(gateway, ticket_id) if event.kind in outcomes]


@pytest.fixture
def impatient(make_gateway):
    return make_gateway(degrade_after_s=0)


def test_a_store_that_does_not_answer_is_waited_for_first(gateway):
    whole = without(gateway, "graph")
    ticket_id = walked(gateway)
    assert gateway.ticket(ticket_id)["status"] in {"received", "planning"}
    gateway.retrieval.context = whole
    make_due(gateway)
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["degraded"]) == ("planned", [])
    assert gateway.outbox.counts()["waiting"] == 0


def test_then_the_ticket_gets_what_can_be_made_and_says_without_what(impatient):
    without(impatient, "graph")
    ticket_id = walked(impatient)
    ticket = impatient.ticket(ticket_id)
    assert (ticket["status"], ticket["degraded"]) == ("planned", ["graph"])
    last = events(impatient, ticket_id)[-1]
    assert (last.kind, last.facts["without"]) == ("planned", ["graph"])
    assert "The knowledge graph" in impatient.client.get(f"/tickets/{ticket_id}").text


def test_what_is_not_scored_is_marked_and_keeps_the_planners_order(impatient):
    def away(_request):
        raise UnavailableError("away")

    impatient.scorer.score = away
    ticket = impatient.ticket(walked(impatient))
    assert (ticket["degraded"], ticket["fit"], ticket["overall"]) == (["scorer"], "unsure", 1.0)
    titles = [workflow.title for workflow in impatient.planner.workflows]
    assert [each["title"] for each in ticket["candidates"]] == titles
    stored = impatient.client.get(ticket["candidates"][0]["url"]).json()
    assert NOT_JUDGED in stored["findings"]


def test_it_catches_up_when_all_answers_again(impatient):
    whole = without(impatient, "vectors")
    ticket_id = walked(impatient)
    first = impatient.ticket(ticket_id)["workflow_id"]
    assert impatient.work() == 0  # not yet
    impatient.retrieval.context = whole
    make_due(impatient)
    impatient.work()
    waiting = impatient.ticket(ticket_id)
    assert (waiting["status"], waiting["workflow_id"]) == ("planning", first)
    assert "nothing left out" in impatient.client.get(f"/tickets/{ticket_id}").text
    impatient.work()
    ticket = impatient.ticket(ticket_id)
    assert (ticket["status"], ticket["degraded"]) == ("planned", [])
    assert ticket["workflow_id"] != first
    assert kinds(impatient, ticket_id) == ["planned", "caught_up", "planned"]
    assert impatient.outbox.counts()["waiting"] == 0


def test_a_refusal_catches_up_too(impatient):
    whole = without(impatient, "vectors")
    context = impatient.retrieval.context
    impatient.retrieval.context = context.model_copy(update={"confidence": 0.0})
    ticket_id = walked(impatient)
    assert impatient.ticket(ticket_id)["status"] == "refused"
    impatient.retrieval.context = whole
    for _ in range(2):
        make_due(impatient)
        impatient.work()
    assert impatient.ticket(ticket_id)["status"] == "planned"


def test_it_catches_up_so_often_and_later_each_time(impatient):
    without(impatient, "graph")
    ticket_id = walked(impatient)
    pauses = []
    for _ in range(5):
        with impatient.database.session() as session:
            due = [row.due_at for row in session.query(OutboxRow)]
        pauses += [round((at - time.time()) / 300) for at in due]
        for _ in range(2):
            make_due(impatient)
            impatient.work()
    assert pauses == [1, 2, 4]
    assert kinds(impatient, ticket_id).count("caught_up") == 3
    assert impatient.ticket(ticket_id)["degraded"] == ["graph"]


def test_more_alerts_of_the_same_fault_do_not_keep_it_from_catching_up(impatient):
    without(impatient, "graph")
    stormy = impatient.post({"version": "4", "alerts": [fired(0)]})["id"]
    impatient.work()
    impatient.post({"version": "4", "alerts": [fired(minute) for minute in range(1, 6)]})
    for _ in range(2):
        make_due(impatient)
        impatient.work()
    assert "repeated" in [event.kind for event in events(impatient, stormy)]
    assert "caught_up" in kinds(impatient, stormy)


def fired(minute):
    return {
        "status": "firing",
        "labels": {"alertname": TICKET["title"]},
        "startsAt": f"2025-01-01T00:{minute:02d}:00Z",
        "fingerprint": "00000000000000ff",
    }


def test_what_somebody_works_with_stays_as_it_is(impatient):
    without(impatient, "graph")
    ticket_id = walked(impatient)
    url = f"/v1/tickets/{ticket_id}/team"
    impatient.client.post("/v1/teams", json={"name": "Cooling"})
    assert impatient.client.put(url, json={"team": "Cooling"}).is_success
    make_due(impatient)
    impatient.work()
    assert kinds(impatient, ticket_id) == ["planned"]


def test_a_fault_that_is_over_is_not_caught_up_with(impatient, group, alert):
    without(impatient, "graph")
    ticket_id = impatient.post(group)["id"]
    impatient.work()
    over = alert | {"status": "resolved", "endsAt": "2025-03-12T09:00:00Z"}
    impatient.post(group | {"status": "resolved", "alerts": [over]})
    for _ in range(2):
        make_due(impatient)
        impatient.work()
    assert kinds(impatient, ticket_id) == ["planned"]
