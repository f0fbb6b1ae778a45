"""A workflow that is ready is told where its ticket came from: once, signed, and nowhere else."""

import hashlib
import hmac
import json

import pytest

from services.integrations.writeback.service import WRITE_BACK_TASK
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.guard import EgressGuard, NotDeliveredError, OutgoingRequest
from tests.unit.integrations.writeback.system import LOCAL, write_back_events

ISSUE = {"issue": {"key": "FAC-1", "fields": {"summary": "Fan failed"}}}
RECORD = {"number": "INC1", "sys_id": "9d38", "short_description": "x", "sys_class_name": "problem"}
ALERT = {"action": "Create", "alert": {"alertId": "a/../1", "message": "Fan failed"}}
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
        ("PATCH", "/api/now/table/problem/9d38", "Basic dTpw"),
        lambda sent: sent["work_notes"],
    ),
    (
        ALERT,
        {"opsgenie_key": "k"},
        ("POST", "/alerts/a%2F%2E%2E%2F1/notes", "GenieKey k"),
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
    assert note.endswith(f"https://flowxpert.example.net/tickets/{ticket_id}")
    assert gateway.work() == 0


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


def test_a_host_that_does_not_answer_is_told_so_without_a_defect():
    guard = EgressGuard([LOCAL, "none.invalid"], allow_private=True, timeout_s=1)
    for url in (f"http://{LOCAL}:9/", "https://none.invalid/"):
        with pytest.raises(NotDeliveredError):
            guard.send(outgoing(url))
