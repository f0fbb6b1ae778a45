"""What a ticket teaches once it has ended: numbers and ids, and only what people's deeds tell."""

import time

import pytest

from services.contracts.adoption import Judgement
from services.contracts.retrieval import PageSigns
from services.tickets.adoption.lessons import Lessons, judge_digest
from services.tickets.retention import Retention
from services.tickets.tables import ServedRow
from services.workflow.model import Provenance
from tests.unit.gateway.fakes import RUNBOOK, fan_workflow

TICKET = {"title": "Fan 2 of spine-01 failed"}
SIGNS = (
    PageSigns(document_id=RUNBOOK, signs={"meaning": 0.8}),
    PageSigns(document_id="runbooks/PSU.md", signs={"meaning": 0.3}),
)


@pytest.fixture
def served(gateway):
    """A gateway whose retrieval tells what speaks for which page."""
    context = gateway.retrieval.context
    gateway.retrieval.context = context.model_copy(update={"signs": SIGNS})
    origin = Provenance(planner="extractive", reader="rules", document_ids=(RUNBOOK,))
    workflow = fan_workflow().model_copy(update={"provenance": origin})
    gateway.planner.workflows = [workflow]
    return gateway


@pytest.fixture
def planned(served):
    def planned(name):
        ticket_id = served.post({**TICKET, "id": name})["id"]
        served.work()
        return served.ticket(ticket_id)

    return planned


@pytest.fixture
def lessons(served):
    return Lessons(served.database).all


def tick(gateway, ticket, *steps):
    for step in steps:
        address = f"/v1/workflows/{ticket['workflow_id']}/steps/{step}/mark"
        assert gateway.client.put(address, json={"state": "done"}).status_code == 200


def end(gateway, ticket):
    gateway.client.post(f"/v1/tickets/{ticket['id']}/resolution")


def reject(gateway, ticket):
    gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={"reason": "not this"})


def test_a_ticket_on_its_way_teaches_nothing(served, planned, lessons):
    ticket = planned("T-1")
    tick(served, ticket, "look")
    assert lessons() == []


def test_a_workflow_that_was_worked_with_until_the_fault_was_over(served, planned, lessons):
    ticket = planned("T-1")
    tick(served, ticket, "look", "replace")
    end(served, ticket)
    (lesson,) = lessons()
    assert (lesson.right, lesson.wrong, lesson.pages) == (RUNBOOK, frozenset(), SIGNS)
    assert lesson.workflow.is_accepted
    assert lesson.workflow.origin.reader == "rules"
    assert set(lesson.workflow.values) >= {"coverage", "coherence"}
    assert lesson.judged_by == ""


def test_a_workflow_that_was_edited_since_counts_for_its_candidate(served, planned, lessons):
    ticket = planned("T-1")
    tick(served, ticket, "look")
    edits = [{"edit": "add", "after": "look", "text": f"Ask {n}"} for n in range(3)]
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    assert served.client.post(address, json={"edits": edits}).status_code == 201
    end(served, ticket)
    (lesson,) = lessons()
    assert lesson.right == RUNBOOK
    assert not lesson.workflow.is_accepted  # of four things that were done it had one


def test_a_word_alone_says_who_said_it(served, planned, lessons):
    ticket = planned("T-1")
    served.client.put(f"/v1/workflows/{ticket['workflow_id']}/acceptance", json={})
    (lesson,) = lessons()
    assert (lesson.right, lesson.judgement) == (RUNBOOK, Judgement.ACCEPTED)
    assert lesson.judged_by == judge_digest("local")


def test_a_rejection_tells_that_the_page_was_wrong_where_nothing_was_done(served, planned, lessons):
    reject(served, planned("T-1"))
    worked = planned("T-2")
    tick(served, worked, "look")
    reject(served, worked)
    (lesson,) = lessons()
    assert (lesson.right, lesson.wrong, lesson.workflow) == ("", {RUNBOOK}, None)
    assert lesson.judgement is Judgement.REJECTED


def test_what_was_served_at_first_teaches_for_a_year_after_a_purge(served, planned, lessons):
    ticket = planned("T-1")
    later = (PageSigns(document_id="runbooks/New.md", signs={}),)
    context = served.retrieval.context
    served.retrieval.context = context.model_copy(update={"signs": later})
    served.client.post(f"/v1/tickets/{ticket['id']}/renewal")
    served.work()
    tick(served, served.ticket(ticket["id"]), "look")
    end(served, ticket)
    assert lessons()[0].pages == SIGNS
    before = lessons()
    for days in (10, 300):
        Retention(served.database, 1, clock=lambda at=days: time.time() + at * 86_400).purge()
        assert served.client.get(f"/v1/tickets/{ticket['id']}").status_code == 404
        assert lessons() == before
    Retention(served.database, 1, clock=lambda: time.time() + 400 * 86_400).purge()
    assert lessons() == []


def test_a_refused_ticket_keeps_what_came_near(served):
    served.retrieval.chances = {"unheard of": 0.01}
    served.post({"id": "T-1", "title": "X", "description": "unheard of"})
    served.work()
    with served.database.session() as session:
        (row,) = session.query(ServedRow)
    assert [page["document_id"] for page in row.pages] == [page.document_id for page in SIGNS]


def test_what_was_found_with_a_part_missing_teaches_nothing(make_gateway):
    gateway = make_gateway(degrade_after_s=0)
    context = gateway.retrieval.context
    gateway.retrieval.context = context.model_copy(update={"signs": SIGNS, "degraded": ("graph",)})
    gateway.post({**TICKET, "id": "T-1"})
    gateway.work()
    with gateway.database.session() as session:
        assert session.query(ServedRow).count() == 0
