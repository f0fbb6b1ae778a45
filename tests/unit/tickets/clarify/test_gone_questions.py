"""A question is gone where it was answered, or where nothing hangs on it any more."""

import pytest

from services.workflow.model import StepKind
from tests.unit.tickets.clarify.charts import DISK

TICKET = {"id": "T-1", "title": "No space on db-7", "description": "Writes fail."}
QUESTION = "Is the log partition full?"


@pytest.fixture
def ticket_id(gateway):
    gateway.planner.workflows = [DISK]
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    assert shown(gateway, ticket_id) == ("open", "")
    return ticket_id


def shown(gateway, ticket_id):
    turn = gateway.ticket(ticket_id)["clarifications"][-1]
    is_on_page = f'<p class="asked">{QUESTION}' in gateway.client.get(f"/tickets/{ticket_id}").text
    assert is_on_page is (turn["state"] == "open")
    return turn["state"], turn["closed"]


def mark(gateway, ticket_id, text, **fields):
    workflow_id = gateway.ticket(ticket_id)["workflow_id"]
    step = next(each for each in DISK.steps if each.text == text)
    address = f"/v1/workflows/{workflow_id}/steps/{step.id}/mark"
    answer = gateway.client.put(address, json=fields)
    assert answer.status_code == 200, answer.text


def give(gateway, ticket_id, **fields):
    question = gateway.ticket(ticket_id)["clarifications"][-1]
    address = f"/v1/tickets/{ticket_id}/clarifications/{question['id']}/answers"
    return gateway.client.post(address, json=fields)


def test_following_its_branch_in_the_workflow_answers_it_and_taking_that_back_asks_again(
    gateway, ticket_id
):
    mark(gateway, ticket_id, QUESTION, state="done", branch="No")
    assert shown(gateway, ticket_id) == ("closed", "answered in the workflow: No")
    refused = give(gateway, ticket_id, choice=1)
    assert (refused.status_code, "answered in the workflow" in refused.text) == (409, True)
    mark(gateway, ticket_id, QUESTION, state="open")
    assert shown(gateway, ticket_id) == ("open", "")


def test_a_question_about_a_step_that_was_skipped_is_gone(gateway, ticket_id):
    mark(gateway, ticket_id, QUESTION, state="skipped", why="no shell there")
    assert shown(gateway, ticket_id) == ("closed", "the work has gone past it")


def test_a_question_about_a_step_that_was_left_aside_is_gone(gateway, ticket_id):
    give(gateway, ticket_id, unknown=True)
    (question,) = gateway.ticket(ticket_id)["clarifications"][1:]
    assert question["question"] == "Does a snapshot hold deleted blocks?"
    mark(gateway, ticket_id, QUESTION, state="done", branch="Yes")
    last = gateway.ticket(ticket_id)["clarifications"][-1]
    assert (last["state"], last["closed"]) == ("closed", "the work has gone past it")


def test_other_work_leaves_it_open(gateway, ticket_id):
    first = next(DISK.of_kind(StepKind.PROCESS))
    mark(gateway, ticket_id, first.text, state="done")
    assert shown(gateway, ticket_id) == ("open", "")


def test_an_accepted_workflow_asks_nothing_until_that_is_taken_back(gateway, ticket_id):
    address = f"/v1/workflows/{gateway.ticket(ticket_id)['workflow_id']}/acceptance"
    gateway.client.put(address, json={"accepted": True})
    assert shown(gateway, ticket_id) == ("closed", "the workflow was accepted")
    gateway.client.put(address, json={"accepted": False})
    assert shown(gateway, ticket_id) == ("open", "")


def test_a_rejected_workflow_asks_nothing(gateway, ticket_id):
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "no"})
    assert shown(gateway, ticket_id) == ("closed", "the workflow was rejected")


def test_nothing_is_asked_once_the_fault_is_over(gateway, ticket_id):
    assert gateway.client.post(f"/tickets/{ticket_id}/resolution", data={}).status_code == 200
    assert shown(gateway, ticket_id) == ("closed", "the fault is over")
    assert give(gateway, ticket_id, choice=1).status_code == 409


def test_a_team_that_has_the_ticket_is_asked_nothing(gateway, ticket_id):
    gateway.client.post("/v1/teams", json={"name": "storage"})
    gateway.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": "storage"})
    assert shown(gateway, ticket_id) == ("closed", "a team has the ticket")
    assert give(gateway, ticket_id, choice=1).json()["error"] == "TicketHandedOverError"


def test_an_edit_that_takes_the_decision_away_takes_the_question_away(gateway, ticket_id):
    workflow_id = gateway.ticket(ticket_id)["workflow_id"]
    step = next(each for each in DISK.steps if each.text == QUESTION)
    edit = {"edit": "change", "step": step.id, "text": "Is the audit partition full?"}
    address = f"/v1/workflows/{workflow_id}/versions"
    answer = gateway.client.post(address, json={"edits": [edit]})
    assert answer.is_success, answer.text
    assert shown(gateway, ticket_id) == ("closed", "the workflow does not ask it any more")
