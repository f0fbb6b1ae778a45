"""Versions of a workflow: made by edits, kept beside the candidate, shown on the ticket."""

import pytest

from services.tickets.ticket.events import Events
from services.workflow.model import Citation, Step

TICKET = {"id": "T-1", "title": "Fan 2 of spine-01 failed"}
REWORD = {"edit": "change", "step": "replace", "text": "Replace the tray by its twin"}


@pytest.fixture
def ticket(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


@pytest.fixture
def edit(gateway, ticket):
    def edit(*edits, of=None):
        address = f"/v1/workflows/{of or ticket['workflow_id']}/versions"
        return gateway.client.post(address, json={"edits": edits})

    return edit


def test_an_edit_makes_a_version_that_the_ticket_shows(gateway, ticket, edit):
    version = edit(REWORD).json()
    assert (version["version"], version["author"]) == (2, "local")
    assert version["base_id"] == version["candidate_id"] == ticket["workflow_id"]
    assert version["workflow"]["provenance"]["planner"] == "person"
    now = gateway.ticket(ticket["id"])
    assert now["workflow_id"] == version["id"]
    assert now["overall"] == ticket["overall"]
    assert [c["id"] for c in now["candidates"]][-1] == version["id"]
    assert len(now["candidates"]) == len(ticket["candidates"]) + 1
    before = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()
    assert before["workflow"]["steps"][2]["text"] == "Replace the tray"


def test_a_version_says_what_it_changes_and_what_the_checks_find(gateway, edit):
    first = edit(REWORD).json()
    second = edit({"edit": "add", "after": "replace", "text": "Look again"}, of=first["id"]).json()
    changes = gateway.client.get(f"/v1/workflows/{second['id']}/changes").json()
    assert [(c["kind"], c["text"]) for c in changes["since_base"]] == [("added", "Look again")]
    assert len(changes["since_candidate"]) == 2
    assert any("Look again" in finding for finding in second["findings"])


def test_an_edit_of_what_is_no_longer_the_latest_is_refused(ticket, edit):
    edit(REWORD)
    again = edit(REWORD)
    assert again.status_code == 409
    assert "meanwhile" in again.json()["detail"]


def test_an_edit_that_breaks_the_structure_is_refused_and_makes_nothing(gateway, ticket, edit):
    answer = edit({"edit": "branch", "step": "ask", "condition": "no", "new_condition": "yes"})
    assert answer.status_code == 422
    assert "2 exits for 'yes'" in answer.json()["detail"]
    assert gateway.ticket(ticket["id"])["workflow_id"] == ticket["workflow_id"]


def test_an_edit_that_changes_nothing_makes_nothing(ticket, edit):
    same = edit({"edit": "change", "step": "replace", "text": "Replace the tray"}).json()
    assert same["id"] == ticket["workflow_id"]


def test_marks_stay_with_the_steps_that_stay(gateway, ticket, edit):
    step = f"/v1/workflows/{ticket['workflow_id']}/steps/look/mark"
    gateway.client.put(step, json={"state": "done"})
    version = edit({"edit": "remove", "step": "replace"}).json()
    work = gateway.client.get(f"/v1/workflows/{version['id']}/work").json()
    assert (work["done"], work["total"]) == (1, 3)
    assert (work["used"], work["core"]) == (1, 2)
    accepted = gateway.client.put(f"/v1/workflows/{version['id']}/acceptance", json={}).json()
    assert (accepted["used"], accepted["core"]) == (1, 2)


def test_citations_stay_where_the_lines_say_the_new_words(gateway, ticket, edit):
    flow = gateway.planner.workflows[0]
    line = (Citation(document_id="runbooks/FanFailed.md", start_line=7, end_line=7),)
    cited = Step(id="replace", kind="process", text="line 7 of the book", citations=line)
    steps = tuple(cited if step.id == "replace" else step for step in flow.steps)
    gateway.planner.workflows[0] = flow.model_copy(update={"steps": steps})
    ticket_id = gateway.post({**TICKET, "id": "T-2"})["id"]
    gateway.work()
    shown = gateway.ticket(ticket_id)["workflow_id"]

    def reworded(text, of):
        version = edit({"edit": "change", "step": "replace", "text": text}, of=of).json()
        new_step = next(s for s in version["workflow"]["steps"] if s["id"] == "replace")
        return version["id"], new_step["citations"]

    later, citations = reworded("Line 7 of the runbook", shown)
    assert citations
    assert reworded("Power the chassis down", later)[1] == []


def test_what_is_edited_says_who_and_when_in_the_tickets_history(gateway, ticket, edit):
    edit(REWORD)
    events = Events(gateway.database).after(0, ticket_id=ticket["id"])
    assert (events[-1].kind, events[-1].facts["by"], events[-1].facts["version"]) == (
        "edited",
        "local",
        2,
    )


def test_the_hand_over_note_names_the_version_that_was_rejected(gateway, ticket, edit):
    edit(REWORD)
    answer = gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={"reason": "No"})
    assert answer.json()["note"]["tried"] == [
        "The workflow “Replace a failed fan” was rejected: No"
    ]
