"""Storms, alerts that flap, and tickets that belong together."""

import pytest
from sqlalchemy import text

from services.contracts.ticket import TicketDraft
from services.tickets.intake.alerts import family, fingerprint
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.queue import FORGET_CASES_TASK


def tickets(gateway):
    return gateway.client.get("/v1/tickets").json()["tickets"]


def kinds(gateway, ticket_id):
    with gateway.database.session() as session:
        rows = session.execute(
            text("SELECT kind FROM gateway_event WHERE ticket_id = :id ORDER BY id"),
            {"id": ticket_id},
        )
        return [row.kind for row in rows]


def firing(group, alert, starts):
    alert |= {"status": "firing", "startsAt": starts}
    return group


def resolved(group, alert, starts):
    alert |= {"status": "resolved", "startsAt": starts}
    return group


FIRST, SECOND = "2025-03-12T08:14:51Z", "2025-03-12T08:20:00Z"


def test_a_storm_of_bodies_without_ids_is_one_ticket_with_a_count(gateway):
    body = {"title": "Fan 2 of spine-01 has failed", "service": "fabric"}
    answers = [gateway.post(body) for _ in range(20)]
    assert len({answer["id"] for answer in answers}) == 1
    assert [answer["tickets"][0]["created"] for answer in answers] == [True] + [False] * 19
    (ticket,) = tickets(gateway)
    assert ticket["alerts"] == 20
    assert ticket["last_at"] > ticket["created_at"]
    assert gateway.work() == 1
    assert kinds(gateway, ticket["id"]).count("repeated") == 4  # at 2, 4, 8 and 16


def test_labels_of_an_alert_that_comes_again_reach_its_ticket(gateway):
    body = {"id": "T-1", "title": "Fan 2 has failed", "labels": {"device": "spine-1", "fan": "2"}}
    ticket_id = gateway.post(body)["id"]
    for labels in (body["labels"], {"device": "spine-2"}, {}):
        assert gateway.post(body | {"labels": labels})["id"] == ticket_id
    other = body | {"id": "T-2", "labels": {"device": "leaf-4"}}
    assert gateway.post(other)["id"] != ticket_id
    ticket = gateway.client.get(f"/v1/tickets/{ticket_id}").json()
    assert ticket["labels"] == {"device": "spine-2"}
    assert kinds(gateway, ticket_id).count("relabelled") == 1


def jira(category, event="jira:issue_updated", summary="Fan 3 stands still"):
    fields = {"summary": summary, "status": {"statusCategory": {"key": category}}}
    return {"webhookEvent": event, "issue": {"key": "RE-1", "fields": fields}}


def pagerduty(event, status):
    data = {"id": "PD1", "type": "incident", "title": "Fan 3 stands still", "status": status}
    return {"event": {"id": event, "event_type": event, "data": data}}


def servicenow(state):
    return {"number": "INC1", "sys_id": "d" * 32, "short_description": "Fan", "state": state}


def opsgenie(action):
    return {"action": action, "alert": {"alertId": "OG-1", "message": "Fan 3 stands still"}}


OPENED_AGAIN = [
    (jira("new", "jira:issue_created"), jira("done"), jira("new")),
    (
        pagerduty("incident.triggered", "triggered"),
        pagerduty("incident.resolved", "resolved"),
        pagerduty("incident.reopened", "triggered"),
    ),
    (servicenow("1"), servicenow("6"), servicenow("2")),
    (
        {"id": "G", "title": "Fan"},
        {"id": "G", "title": "Fan", "status": "resolved"},
        {"id": "G", "title": "Fan", "status": "open"},
    ),
    (opsgenie("Create"), opsgenie("Close"), opsgenie("Create")),
]


@pytest.mark.parametrize(("opened", "over", "again"), OPENED_AGAIN)
def test_a_ticket_that_its_own_system_opens_again_is_open(gateway, opened, over, again):
    ticket_id = gateway.post(opened)["id"]
    gateway.work()
    gateway.post(over)
    assert gateway.ticket(ticket_id)["resolved_at"]
    with gateway.database.session() as session:
        add_events(session, ticket_id, [Note("archived", {"document": "fan.md"})])
    assert gateway.post(again)["id"] == ticket_id
    assert gateway.ticket(ticket_id)["resolved_at"] is None
    tasks = [task.task for task in gateway.outbox.due(limit=100)]
    assert tasks.count(FORGET_CASES_TASK) == 1
    gateway.post(again)
    assert kinds(gateway, ticket_id).count("reopened_there") == 1
    gateway.post(over)
    assert gateway.ticket(ticket_id)["resolved_at"]


@pytest.mark.parametrize(("opened", "over", "_again"), OPENED_AGAIN[:2])
def test_the_first_report_that_comes_late_opens_nothing_again(gateway, opened, over, _again):
    ticket_id = gateway.post(opened)["id"]
    gateway.post(over)
    gateway.post(opened)
    assert gateway.ticket(ticket_id)["resolved_at"]


def test_a_ticket_that_an_engineer_ended_is_not_opened_by_another_report_of_it(gateway):
    ticket_id = gateway.post(servicenow("1"))["id"]
    gateway.client.post(f"/v1/tickets/{ticket_id}/resolution")
    gateway.post(servicenow("2"))
    assert gateway.ticket(ticket_id)["resolved_at"]


def test_the_new_summary_of_an_issue_is_its_tickets_title(gateway):
    ticket_id = gateway.post(jira("new", "jira:issue_created", "help"))["id"]
    gateway.work()
    gateway.post(jira("new", summary="BGP session of leaf-3 is down"))
    assert gateway.ticket(ticket_id)["title"] == "BGP session of leaf-3 is down"
    assert kinds(gateway, ticket_id).count("retitled") == 1
    assert gateway.work() == 0  # as labels do, it begins no other walk


def test_labels_of_an_alert_that_repeats_another_ticket_do_not_reach_that(gateway):
    body = {"title": "Fan has failed", "alert_name": "FanFailed", "labels": {"device": "spine-1"}}
    first = gateway.post(body | {"id": "A"})["id"]
    assert gateway.post(body | {"id": "B"})["id"] == first
    assert gateway.post(body | {"id": "B", "labels": {"device": "leaf-4"}})["id"] == first
    ticket = gateway.client.get(f"/v1/tickets/{first}").json()
    assert ticket["labels"] == {"device": "spine-1"}


def test_other_texts_are_other_tickets(gateway):
    for number in range(3):
        gateway.post({"title": f"Fan {number} of spine-01 has failed"})
    assert [ticket["alerts"] for ticket in tickets(gateway)] == [1, 1, 1]


def test_tickets_that_people_opened_elsewhere_are_never_one(gateway):
    for number in range(2):
        gateway.post({"id": f"T-{number}", "title": "The printer does not print"})
    assert len(tickets(gateway)) == 2


def test_an_alert_that_flaps_is_one_ticket_that_is_open_again(gateway, group, alert):
    first = gateway.post(firing(group, alert, FIRST))["id"]
    gateway.post(resolved(group, alert, FIRST))
    assert gateway.ticket(first)["resolved_at"]
    again = gateway.post(firing(group, alert, SECOND))
    assert (again["id"], again["tickets"][0]["created"]) == (first, False)
    ticket = gateway.ticket(first)
    assert (ticket["resolved_at"], ticket["alerts"]) == (None, 2)
    assert kinds(gateway, first) == ["received", "resolved", "reopened"]
    gateway.post(resolved(group, alert, SECOND))
    assert gateway.ticket(first)["resolved_at"]


def test_a_time_that_is_over_says_nothing_of_the_next_one(gateway, group, alert):
    first = gateway.post(firing(group, alert, FIRST))["id"]
    gateway.post(firing(group, alert, SECOND))
    gateway.post(resolved(group, alert, FIRST))
    assert gateway.ticket(first)["resolved_at"] is None
    gateway.post(resolved(group, alert, SECOND))
    assert gateway.ticket(first)["resolved_at"]


def test_a_repeat_that_comes_twice_counts_once(gateway, group, alert):
    first = gateway.post(firing(group, alert, FIRST))["id"]
    for _ in range(3):
        assert gateway.post(firing(group, alert, SECOND))["id"] == first
    assert gateway.ticket(first)["alerts"] == 2


def test_a_repeat_whose_end_came_first_leaves_the_ticket_resolved(gateway, group, alert):
    first = gateway.post(firing(group, alert, FIRST))["id"]
    gateway.post(resolved(group, alert, FIRST))
    assert gateway.post(resolved(group, alert, SECOND))["unmatched_resolved"] == 1
    gateway.post(firing(group, alert, SECOND))
    ticket = gateway.ticket(first)
    assert (ticket["alerts"], ticket["resolved_at"] is None) == (2, False)


def test_a_delivery_may_hold_one_fault_many_times(gateway):
    answer = gateway.post([{"title": "Link down"}] * 5)
    assert len({ticket["id"] for ticket in answer["tickets"]}) == 1
    assert tickets(gateway)[0]["alerts"] == 5


def test_tickets_of_one_family_or_service_are_linked(gateway):
    one, two, three, four = (
        gateway.post({"id": str(number), "title": title, "service": service})["id"]
        for number, (title, service) in enumerate(
            [
                ("Fan 1 has failed", "spine"),
                ("Fan 12 has failed", "leaf"),
                ("Link down", "spine"),
                ("Disk full", ""),
            ]
        )
    )
    related = gateway.ticket(one)["related"]
    assert [(each["id"], each["why"]) for each in related] == [
        (two, "same alert"),
        (three, "same service"),
    ]
    assert gateway.ticket(four)["related"] == []


@pytest.mark.parametrize(
    ("severity", "priority"),
    [("critical", 0), ("high", 3), ("warning", 6), ("info", 9), ("purple", 6)],
)
def test_what_is_severe_is_walked_first(gateway, severity, priority):
    gateway.post({"title": "x", "severity": severity})
    (task,) = gateway.outbox.due(limit=9)
    assert task.priority == priority


def test_of_what_waits_the_severe_is_published_first(gateway):
    for severity in ("info", "warning", "critical", "high"):
        gateway.post({"title": severity, "severity": severity})
    assert [task.priority for task in gateway.outbox.due(limit=9)] == [0, 3, 6, 9]


def draft(**fields):
    return TicketDraft(**{"source": "s", "external_id": "1", "title": "Fan 3 failed", **fields})


def test_what_makes_two_alerts_the_same():
    alert = draft(alert_name="Fan", labels={"host": "a", "unit": "3"})
    other_id = alert.model_copy(update={"external_id": "2", "description": "now 4 rpm"})
    assert fingerprint(alert) == fingerprint(other_id)
    for changed in ({"labels": {"host": "b"}}, {"service": "x"}, {"title": "y"}, {"source": "t"}):
        assert fingerprint(alert) != fingerprint(alert.model_copy(update=changed))
    assert fingerprint(draft()) == ""


def test_a_family_differs_in_numbers_only():
    assert family(draft(title="Fan 3 failed")) == family(draft(title="fan 14: failed", source="t"))
    assert family(draft(title="Fan 3 failed")) != family(draft(title="Link 3 failed"))
