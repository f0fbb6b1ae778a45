"""Marks, judgements and acceptance of a workflow over the API."""

import pytest

from services.contracts.adoption import StepMark
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.tickets.adoption.feedback_recorder import put_mark
from services.tickets.retention import Retention
from services.tickets.tables import MarkRow
from services.tickets.ticket.events import Events

TICKET = {"id": "T-1", "title": "Fan 2 of spine-01 failed"}


@pytest.fixture
def ticket(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


@pytest.fixture
def put(gateway, ticket):
    def put(step, body, what="mark", workflow=None):
        address = f"/v1/workflows/{workflow or ticket['workflow_id']}/steps/{step}/{what}"
        return gateway.client.put(address, json=body)

    return put


def kinds(gateway, ticket):
    events = Events(gateway.database).after(0, ticket_id=ticket["id"])
    return [event.kind for event in events]


def test_ticks_and_branches_lead_through_the_workflow(gateway, ticket, put):
    address = f"/v1/workflows/{ticket['workflow_id']}/work"
    assert gateway.client.get(address).json()["next"] == "look"
    assert put("look", {"state": "done"}).json()["next"] == "ask"
    work = put("ask", {"branch": "no", "seen": "All fans turn"}).json()
    assert (work["next"], work["left_aside"]) == ("end", ["replace"])
    assert (work["done"], work["total"]) == (2, 4)
    step = next(each for each in work["steps"] if each["step"] == "ask")
    assert (step["state"], step["seen"], step["marked_by"]) == ("done", "All fans turn", "local")
    assert put("ask", {"state": "open"}).json()["left_aside"] == []


def test_the_same_mark_again_changes_nothing(gateway, ticket, put):
    first = put("look", {"state": "done"}).json()
    assert put("look", {"state": "done"}).json() == first
    assert kinds(gateway, ticket).count("marked") == 1
    put("look", {"state": "open"})
    assert kinds(gateway, ticket).count("marked") == 2


def test_marks_are_in_the_audit_log_without_what_was_seen(gateway, ticket, put):
    put("replace", {"state": "skipped", "why": "no spare: secret-word"})
    lines = AuditLog(gateway.database).lines(AuditFilter(action="ticket.marked"))
    assert (lines[0]["who"], lines[0]["after"]["step"]) == ("local", "replace")
    assert "secret-word" not in str(lines[0])


def test_a_mark_that_says_too_little_is_refused_in_words(put):
    for step, body, message in [
        ("look", {"state": "skipped"}, "say why"),
        ("ask", {"state": "done"}, "which branch"),
        ("ask", {"branch": "perhaps"}, "'yes', 'no'"),
        ("look", {"state": "done", "by": "mallory"}, "by"),
    ]:
        answer = put(step, body)
        assert answer.status_code == 422
        assert message in answer.text


def test_unknown_steps_and_workflows_are_not_found(put):
    assert put("gone", {"state": "done"}).json()["error"] == "StepNotFoundError"
    assert put("look", {"state": "done"}, workflow="none").status_code == 404


def test_who_marked_it_is_the_caller(gateway, ticket):
    jane = Caller("jane@acme.example", CallerKind.PERSON)
    with acting_as(jane), gateway.database.session() as session:
        put_mark(session, ticket["workflow_id"], "look", StepMark(state="done"))
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    assert work["steps"][0]["marked_by"] == "jane@acme.example"


def test_core_steps_that_were_used_are_counted(gateway, ticket, put):
    work = put("look", {"state": "done"}).json()
    assert (work["used"], work["core"]) == (1, 2)
    work = put("ask", {"branch": "no"}).json()
    assert (work["used"], work["core"]) == (1, 1)
    work = put("look", {"verdict": "rejected", "word": "wrong command"}, "judgement").json()
    assert (work["used"], work["core"]) == (0, 1)


def test_an_accepted_workflow_counts_what_was_done_alone(gateway, ticket, put):
    address = f"/v1/workflows/{ticket['workflow_id']}/acceptance"
    work = gateway.client.put(address, json={"accepted": True, "word": "Right"}).json()
    assert (work["verdict"], work["used"], work["core"]) == ("accepted", 0, 2)
    put("look", {"state": "done"})
    work = put("replace", {"state": "skipped", "why": "no spare"}).json()
    assert (work["used"], work["core"]) == (1, 2)
    back = gateway.client.put(address, json={"accepted": False}).json()
    assert (back["verdict"], back["used"]) == ("", 1)
    assert kinds(gateway, ticket)[-4:] == ["accepted", "marked", "marked", "taken_back"]


def test_a_workflow_is_rejected_by_handing_its_ticket_over(gateway, ticket):
    for _ in range(2):
        gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={"reason": "Not a fan"})
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    assert (work["verdict"], work["word"]) == ("rejected", "Not a fan")
    assert kinds(gateway, ticket).count("rejected") == 1


def test_judgements_are_counted_by_prometheus(gateway, put):
    name = 'flowxpert_gateway_judged_steps_total{verdict="accepted"}'

    def count():
        lines = gateway.client.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(name))

    before = count()
    put("look", {"verdict": "accepted"}, "judgement")
    put("look", {"verdict": "accepted"}, "judgement")
    assert count() == before + 1


def test_a_purged_ticket_takes_its_marks_along(gateway, ticket, put):
    put("look", {"state": "done"})
    Retention(gateway.database, 0.0, clock=lambda: 4e9).purge()
    with gateway.database.session() as session:
        assert session.query(MarkRow).count() == 0


def left_of(gateway, ticket):
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    return [(left["reason"], left["said"]["seen"]) for left in work["left_behind"]]


def test_a_mark_that_does_not_speak_of_the_note_leaves_it_behind(gateway, ticket, put):
    put("look", {"state": "open", "seen": "the fan is dusty"})
    assert [each["seen"] for each in put("look", {"state": "open"}).json()["steps"]] == [""]
    assert left_of(gateway, ticket) == [("replaced", "the fan is dusty")]


def test_a_note_that_its_writer_takes_out_is_gone(gateway, ticket, put):
    for erasing in ({"seen": ""}, {"was": "typo"}):
        put("look", {"state": "open", "seen": "typo"})
        work_done = put("look", {"state": "open", **erasing}).json()
        assert [each["seen"] for each in work_done["steps"]] == [""]
    assert left_of(gateway, ticket) == []
