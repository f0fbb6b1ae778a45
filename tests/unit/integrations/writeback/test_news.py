"""What a system is told beside a workflow: refusals, teams, questions; each once."""

import json

import pytest

from services.llm.scripted import ScriptedChatModel
from services.tickets.triage.routing.cases import case_of
from tests.unit.integrations.writeback.system import write_back_events
from tests.unit.tickets.clarify.charts import DISK
from tests.unit.tickets.triage.cases import past_cases

PAGE = "https://flowxpert.example.net"
ISSUE = {"issue": {"key": "DB-7", "fields": {"summary": "No space on db-7"}}}


@pytest.fixture
def jira(telling, system):
    def make(**settings):
        return telling(jira_url=system.url, jira_token="t", **settings)

    return make


def notes(system):
    """What was written on the issue."""
    return [json.loads(raw)["body"] for *_, raw in system.requests]


def work_off(gateway):
    while gateway.work():
        pass


def planned(gateway):
    gateway.planner.workflows = [DISK]
    ticket_id = gateway.post(ISSUE)["id"]
    work_off(gateway)
    return ticket_id


def answer(gateway, ticket_id, **fields):
    question = gateway.ticket(ticket_id)["clarifications"][-1]
    address = f"/v1/tickets/{ticket_id}/clarifications/{question['id']}/answers"
    assert gateway.client.post(address, json=fields).status_code == 200
    work_off(gateway)


def fits_no_more(gateway):
    context = gateway.retrieval.context
    gateway.retrieval.context = context.model_copy(update={"confidence": 0.01})


def learn(gateway):
    gateway.triage._graph.put_cases([case_of(c.id, c.text, c.team, c.at) for c in past_cases()])


def test_a_refusal_is_told_with_team_reason_and_nearest_document(jira, system):
    gateway = jira()
    learn(gateway)
    fits_no_more(gateway)
    body = {"issue": {"key": "DB-8", "fields": {"summary": "The raidcard is full"}}}
    ticket_id = gateway.post(body)["id"]
    work_off(gateway)
    assert gateway.ticket(ticket_id)["status"] == "refused"
    (note,) = notes(system)
    lines = note.splitlines()
    assert lines[0].startswith("FlowXpert: Nothing known fits: nothing that is known is spec")
    assert "Came closest: Fan failed › Mitigation (runbooks/FanFailed.md, lines 10–20) " in note
    assert f"{PAGE}/sources/runbooks/FanFailed.md?lines=10-20" in note
    assert any(line.startswith("For the team storage (") for line in lines)
    assert any(line.startswith("Why: ") and "→ storage" in line for line in lines)
    assert lines[-2] == f"{PAGE}/tickets/{ticket_id}"


def test_a_refusal_without_a_team_names_neither_page_nor_team_nor_link(jira, system):
    gateway = jira(public_url=None)
    gateway.retrieval.context = gateway.retrieval.context.model_copy(
        update={"chunks": (), "nodes": (), "confidence": 0.0}
    )
    gateway.post({"issue": {"key": "DB-9", "fields": {"summary": "The northern crane leaks oil"}}})
    work_off(gateway)
    (note,) = notes(system)
    assert note.splitlines()[0].endswith("nothing that is known comes near this ticket")
    assert "Came closest" not in note
    assert "team" not in note
    assert "http" not in note


def test_the_open_question_is_told_with_its_choices_and_how_to_answer(jira, system):
    planned(jira())
    (note,) = notes(system)
    lines = note.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("Question: "))
    assert lines[at].endswith("Is the log partition full?")
    assert lines[at + 1 : at + 3] == ["1) Yes", "2) No"]
    assert "answer:" in lines[at + 3]


def test_a_chat_is_not_told_to_comment(telling, system):
    gateway = telling(chat_url=system.url)
    planned(gateway)
    text = json.loads(system.only[3])["text"]
    assert "Question: " in text
    assert "answer:" not in text


def test_a_number_in_a_comment_answers_what_was_told_and_the_news_go_back(jira, system):
    gateway = jira()
    ticket_id = planned(gateway)
    webhook = {"webhookEvent": "comment_created", **ISSUE}
    own = {"id": "1", "body": notes(system)[0]}
    assert gateway.post({**webhook, "comment": own})["ignored"]
    gateway.post({**webhook, "comment": {"id": "2", "body": "2"}})
    work_off(gateway)
    assert gateway.ticket(ticket_id)["clarifications"][0]["answer"] == "No"
    assert len(notes(system)) == 2
    assert [each["id"] for each in gateway.ticket(ticket_id)["comments"]] == ["2"]


def test_after_an_answer_only_what_is_new_is_written_back(jira, system):
    gateway = jira()
    ticket_id = planned(gateway)
    answer(gateway, ticket_id, choice=2)
    first, second = notes(system)
    assert "answered: No" in second
    assert "answered: No" not in first
    assert "Question: Does a snapshot hold deleted blocks?" in second
    assert [event["facts"]["told"] for event in write_back_events(gateway, ticket_id)] == [
        ["workflow", "question"],
        ["workflow", "question"],
    ]


def test_a_walk_that_comes_to_the_same_tells_nothing(jira, system):
    gateway = jira(most=9)
    gateway.retrieval.context = gateway.retrieval.context.model_copy(update={"confidence": 0.0})
    ticket_id = gateway.post({"issue": {"key": "K-1", "fields": {"summary": "It is slow"}}})["id"]
    work_off(gateway)
    answer(gateway, ticket_id, text="the crane creaks")
    assert len(notes(system)) == 1
    assert gateway.outbox.counts() == {"waiting": 0, "parked": 0}


def test_who_does_not_know_is_asked_the_next_question_there(jira, system):
    gateway = jira()
    ticket_id = planned(gateway)
    answer(gateway, ticket_id, unknown=True)
    _, second = notes(system)
    assert second.startswith("FlowXpert: Question: Does a snapshot hold deleted blocks?\n1) Yes\n")
    assert "Workflow, read by" not in second


def test_no_more_notes_than_the_settings_allow(jira, system):
    gateway = jira(most=1)
    ticket_id = planned(gateway)
    answer(gateway, ticket_id, choice=2)
    assert len(notes(system)) == 1


def test_nothing_is_asked_there_once_the_fault_is_over(jira, system):
    gateway = jira()
    gateway.planner.workflows = [DISK]
    gateway.post(ISSUE)
    gateway.post({"webhookEvent": "jira:issue_deleted", "issue": {"key": "DB-7", "fields": {}}})
    work_off(gateway)
    (note,) = notes(system)
    assert "Workflow, read by machine" in note
    assert "Question" not in note


def test_a_rejected_workflow_is_told_with_the_team(jira, system):
    gateway = jira()
    learn(gateway)
    body = {"issue": {"key": "V-1", "fields": {"summary": "The dialplan is slow"}}}
    ticket_id = gateway.post(body)["id"]
    work_off(gateway)
    for _ in range(2):
        gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "wrong site"})
        work_off(gateway)
    _, second = notes(system)
    assert second.startswith("FlowXpert: Handed over to the team voice (")
    assert "was rejected: wrong site" in second


def test_the_callback_tells_a_refusal_as_such(telling, system):
    gateway = telling(callback_url=f"{system.url}/hook", callback_secret="shared")
    learn(gateway)
    fits_no_more(gateway)
    gateway.post({"title": "The raidcard is full", "id": 3})
    work_off(gateway)
    body = json.loads(system.only[3])
    assert (body["event"], body["workflow"]) == ("ticket.refused", None)
    assert body["triage"]["team"] == "storage"
    assert body["nearest"][0]["document_id"] == "runbooks/FanFailed.md"


def test_a_question_that_a_model_words_is_told_in_its_words_and_once(jira, system):
    reply = json.dumps({"terms": [], "question": 3, "wording": "Who owns the volume of db-7?"})
    gateway = jira(model=ScriptedChatModel([reply]))
    planned(gateway)
    (note,) = notes(system)
    assert "Question: Who owns the volume of db-7?" in note
    assert "Workflow, read by machine" in note


def test_a_ticket_that_is_purged_meanwhile_is_told_to_nobody(jira, system):
    from services.tickets.retention import Retention

    gateway = jira()
    gateway.planner.workflows = [DISK]
    gateway.post(ISSUE)
    gateway.work()
    assert Retention(gateway.database, 1, clock=lambda: 4e9).purge().tickets == 1
    work_off(gateway)
    assert system.requests == []
    second_erasure = 1
    assert gateway.outbox.counts() == {"waiting": second_erasure, "parked": 0}


def test_tasks_that_run_twice_tell_once(jira, system):
    gateway = jira()
    ticket_id = planned(gateway)
    for _ in range(2):
        gateway.write_back.run(ticket_id, "jira")
    assert len(notes(system)) == 1


def test_a_fault_that_is_not_over_and_a_hand_over_taken_back_are_told_once(jira, system):
    gateway = jira()
    ticket_id = planned(gateway)
    gateway.client.post(f"/v1/tickets/{ticket_id}/resolution")
    for _ in range(2):
        gateway.client.delete(f"/v1/tickets/{ticket_id}/resolution")
        work_off(gateway)
    assert [("open again" in note) for note in notes(system)].count(True) == 1
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "wrong page"})
    work_off(gateway)
    for _ in range(2):
        gateway.client.delete(f"/v1/tickets/{ticket_id}/triage")
        work_off(gateway)
    assert [("hand-over was taken back" in note) for note in notes(system)].count(True) == 1
    assert "jira" in gateway.client.get(f"/tickets/{ticket_id}").text
