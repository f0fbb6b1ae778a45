"""A workflow that is ready is told where its ticket came from: once, signed, and nowhere else."""

import hashlib
import hmac
import json
import time

import pytest
from sqlalchemy import select

from services.gateway.room import ROOM
from services.integrations.writeback import service
from services.integrations.writeback.service import WRITE_BACK_TASK
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.guard import (
    EgressGuard,
    NotAnsweredError,
    NotDeliveredError,
    OutgoingRequest,
)
from services.kit.tables import OutboxRow
from tests.unit.integrations.writeback.system import LOCAL, write_back_events

ISSUE = {"issue": {"key": "FAC-1", "fields": {"summary": "Fan failed"}}}
SYS_ID = "9d385017c611228701d22104cc95c371"
RECORD = {"number": "INC1", "sys_id": SYS_ID, "short_description": "x",
          "sys_class_name": "problem"}  # fmt: skip
ALERT = {"action": "Create", "alert": {"alertId": "a-1", "message": "Fan failed"}}
EVENT = {"event": {"event_type": "incident.triggered", "data": {
    "id": "Q1", "type": "incident", "title": "Fan failed", "status": "triggered"}}}  # fmt: skip


NOTES = [
    (
        ISSUE,
        {"jira_user": "a@b", "jira_token": "t"},
        ("POST", "/rest/api/2/issue/FAC-1/comment", "Basic YUBiOnQ="),
        lambda sent: sent["body"],
    ),
    (
        RECORD,
        {"servicenow_user": "u", "servicenow_password": "p"},
        ("PATCH", f"/api/now/table/problem/{SYS_ID}", "Basic dTpw"),
        lambda sent: sent["work_notes"],
    ),
    (
        ALERT,
        {"opsgenie_key": "k"},
        ("POST", "/alerts/a-1/notes", "GenieKey k"),
        lambda sent: sent["note"],
    ),
    (
        EVENT,
        {"pagerduty_token": "k", "pagerduty_from": "a@b"},
        ("POST", "/incidents/Q1/notes", "Token token=k"),
        lambda sent: sent["note"]["content"],
    ),
]


@pytest.mark.parametrize("case", NOTES, ids=["jira", "servicenow", "opsgenie", "pagerduty"])
def test_the_ticket_gets_a_note_in_its_own_system(telling, system, case):
    body, settings, request, note_in = case
    name = next(iter(settings)).partition("_")[0]
    gateway = telling(**{f"{name}_url": system.url}, **settings)
    ticket_id = gateway.post(body)["id"]
    gateway.work()
    assert system.requests == []  # nothing is told before the workflow is stored
    gateway.work()
    method, path, headers, raw = system.only
    assert (method, path, headers["authorization"]) == request
    note = note_in(json.loads(raw))
    lead = "FlowXpert: Workflow, read by machine, nobody has checked it"
    assert note.startswith(f"{lead}: Replace a failed fan (4 steps)\n1. Show the")
    assert f"\nhttps://flowxpert.example.net/tickets/{ticket_id}\nRef: " in note
    assert gateway.work() == 0


@pytest.mark.parametrize("case", NOTES, ids=["jira", "servicenow", "opsgenie", "pagerduty"])
def test_a_note_whose_answer_came_late_is_not_sent_again(telling, system, monkeypatch, case):
    body, settings, *_ = case
    name = next(iter(settings)).partition("_")[0]
    monkeypatch.setattr(service, "UNANSWERED_PAUSE_S", 0)
    gateway = telling(**{f"{name}_url": system.url}, **settings, timeout_s=0.3)
    ticket_id = gateway.post(body)["id"]
    gateway.work()
    (task,) = gateway.outbox.due(limit=10)
    system.late_s = [0.6]
    run_again(gateway, task.key)
    assert write_back_events(gateway, ticket_id) == []
    run_again(gateway, task.key)
    assert [method == "GET" for method, *_ in system.requests] == [False, True]
    (event,) = write_back_events(gateway, ticket_id)
    assert (event["kind"], event["facts"]["target"]) == ("told", name)


def test_a_system_that_may_not_be_asked_is_told_again(telling, system, monkeypatch):
    monkeypatch.setattr(service, "UNANSWERED_PAUSE_S", 0)
    gateway = telling(jira_url=system.url, jira_token="t", timeout_s=0.3)
    gateway.post(ISSUE)
    gateway.work()
    (task,) = gateway.outbox.due(limit=10)
    system.late_s, system.statuses = [0.6], [201, 403, 201]
    run_again(gateway, task.key)
    run_again(gateway, task.key)
    assert [method for method, *_ in system.requests] == ["POST", "GET", "POST"]
    assert gateway.outbox.counts()["waiting"] == 0


UNUSABLE = [
    ({"issue": {"key": "../../../rest/api/2/user", "fields": {"summary": "x"}}}, "jira"),
    ({"issue": {"key": "..", "fields": {"summary": "x"}}}, "jira"),
    (RECORD | {"sys_id": "x?sysparm=1"}, "servicenow"),
    ({name: value for name, value in RECORD.items() if name != "sys_id"}, "servicenow"),
    ({"action": "Create", "alert": {"alertId": "a/../1", "message": "x"}}, "opsgenie"),
    ({"action": "Create", "alert": {"message": "x"}}, "opsgenie"),
    ({"event": EVENT["event"] | {"data": EVENT["event"]["data"] | {"id": "Q1/.."}}}, "pagerduty"),
]


@pytest.mark.parametrize(("body", "name"), UNUSABLE)
def test_nothing_is_written_to_an_id_that_its_system_does_not_give(telling, system, body, name):
    gateway = telling(**{f"{name}_url": system.url})
    ticket_id = gateway.post(body, f"/workflow/{name}")["id"]
    while gateway.work():
        pass
    assert system.requests == []
    (event,) = write_back_events(gateway, ticket_id)
    assert event["kind"] == "not_told"
    assert gateway.outbox.counts() == {"waiting": 0, "parked": 0}


def test_a_silent_system_keeps_no_other_task_waiting(telling, system):
    assert WRITE_BACK_TASK.partition(".")[0] in ROOM.lanes  # walks have another worker
    settings = {"jira_url": system.url, "jira_token": "t", "chat_url": f"{system.url}/chat"}
    gateway = telling(**settings, timeout_s=0.3)
    keys = [f"FAC-{n}" for n in range(4)]
    for key in keys:
        gateway.post({"issue": {"key": key, "fields": {"summary": f"Fan {key} failed"}}})
    gateway.work()
    system.late_s = [0.6]
    assert gateway.work() == 8
    paths = [path for _, path, *_ in system.requests]
    assert (paths.count("/chat"), len(paths)) == (4, 5)
    with gateway.database.session() as session:
        waiting = session.scalars(select(OutboxRow.attempts)).all()
    assert sorted(waiting) == [0, 0, 0, 1]


def test_another_systems_ticket_is_not_told_there(telling, system):
    gateway = telling(jira_url=system.url)
    gateway.post(RECORD)
    gateway.work()
    assert gateway.work() == 0
    assert system.requests == []


def test_the_callback_is_signed_over_time_and_body(telling, system):
    gateway = telling(callback_url=f"{system.url}/hook", callback_secret="shared")
    ticket_id = gateway.post({"title": "Fan failed", "id": 7})["id"]
    gateway.work()
    gateway.work()
    _, path, headers, raw = system.only
    signed = headers["x-flowxpert-timestamp"].encode() + b"." + raw
    expected = hmac.new(b"shared", signed, hashlib.sha256).hexdigest()
    assert headers["x-flowxpert-signature"] == f"v1={expected}"
    body = json.loads(raw)
    assert (path, body["event"], body["ticket"]["id"]) == ("/hook", "workflow.ready", ticket_id)
    assert body["workflow"]["workflow"]["title"] == "Replace a failed fan"
    assert headers["idempotency-key"].startswith(ticket_id)
    (event,) = write_back_events(gateway, ticket_id)
    assert event["facts"] == {"target": "callback", "told": ["workflow"]}


def test_a_chat_shows_the_text_and_no_markup_of_it(telling, system):
    gateway = telling(chat_url=system.url)
    gateway.planner.workflows[0] = gateway.planner.workflows[0].model_copy(
        update={"title": "<!channel> & <http://evil|x>"}
    )
    gateway.post({"title": "Fan failed"})
    gateway.work()
    gateway.work()
    text = json.loads(system.only[3])["text"]
    assert "&lt;!channel&gt; &amp; &lt;http" in text


def test_teams_gets_a_card(telling, system):
    gateway = telling(chat_url=system.url, chat_form="teams")
    gateway.post({"title": "Fan failed"})
    gateway.work()
    gateway.work()
    (attachment,) = json.loads(system.only[3])["attachments"]
    blocks = attachment["content"]["body"]
    assert blocks[0]["text"].startswith("FlowXpert: Workflow, read by machine")


def test_a_system_that_fails_is_told_again_and_then_no_more(telling, system):
    gateway = telling(chat_url=system.url)
    ticket_id = gateway.post({"title": "Fan failed"})["id"]
    gateway.work()
    (task,) = gateway.outbox.due(limit=10)
    assert task.task == WRITE_BACK_TASK
    system.statuses = [500, 429, 404, 201]
    for _ in range(5):
        run_again(gateway, task.key)
    assert len(system.requests) == 3  # as often as the outbox allows
    assert len({request[2]["idempotency-key"] for request in system.requests}) == 1
    (event,) = write_back_events(gateway, ticket_id)
    assert event["kind"] == "not_told"
    assert "404" in event["facts"]["reason"]
    assert gateway.outbox.counts() == {"waiting": 0, "parked": 1}
    assert gateway.ticket(ticket_id)["status"] == "planned"


def run_again(gateway, key):
    from tests.unit.gateway.harness import park_write_back

    gateway.outbox.run(key, gateway.write_back.run, on_parked=park_write_back)


def test_a_redirect_is_not_followed(telling, system):
    gateway = telling(chat_url=system.url)
    gateway.post({"title": "Fan failed"})
    gateway.work()
    system.statuses, system.location = [302], f"{system.url}/elsewhere"
    gateway.work()
    assert len(system.requests) == 1
    assert gateway.outbox.counts()["waiting"] == 1


def test_an_address_on_another_host_is_refused_at_start(make_gateway):
    with pytest.raises(ForbiddenAddressError, match="ALLOWED_HOSTS"):
        make_gateway(write_back={"jira_url": "https://acme.atlassian.net"})


def test_plain_http_is_refused_at_start(make_gateway):
    hosts = {"allowed_hosts": ["acme.atlassian.net"]}
    with pytest.raises(ForbiddenAddressError, match="https"):
        make_gateway(write_back=hosts | {"jira_url": "http://acme.atlassian.net"})


def outgoing(url):
    return OutgoingRequest(url, {"content-type": "application/json"}, b"{}")


def test_an_allowed_name_that_leads_to_a_private_address_is_not_connected_to(system):
    port = system.server.server_port
    guard = EgressGuard(["localhost", LOCAL], allow_private=False, timeout_s=2)
    for host in ("localhost", LOCAL):
        with pytest.raises(ForbiddenAddressError, match="not public"):
            guard.send(outgoing(f"https://{host}:{port}/"))
    assert system.requests == []


def test_a_host_has_one_time_limit_for_its_whole_answer(system):
    guard, began = EgressGuard([LOCAL], allow_private=True, timeout_s=0.4), time.monotonic()
    system.drips_every_s = 0.1
    with pytest.raises(NotAnsweredError):
        guard.send(outgoing(system.url))
    assert time.monotonic() - began < 4


def test_a_host_that_does_not_answer_is_told_so_without_a_defect():
    guard = EgressGuard([LOCAL, "none.invalid"], allow_private=True, timeout_s=1)
    for url in (f"http://{LOCAL}:9/", "https://none.invalid/"):
        with pytest.raises(NotDeliveredError):
            guard.send(outgoing(url))
