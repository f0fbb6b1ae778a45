"""Which resolved tickets are archived, with what, and when their cases go."""

import pytest

from services.contracts.ingestion import Archived
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.tickets.archive import ARCHIVE_TASK, TicketArchive
from services.tickets.erasure import ERASE_TASK, TicketErasure
from services.tickets.retention import Retention
from services.tickets.ticket.events import Events
from services.tickets.ticket.queries import Queries
from services.tickets.triage.service import TriageService
from tests.unit.tickets.clarify.charts import DISK, PAGE

TICKET = {
    "id": "T-1",
    "title": "No space on db-7",
    "description": "Writes fail.\nSince 14:05, says jo.doe@acme.example, token=hunter22secret",
}


class Ingestion:
    """Keeps what it is handed, but for documents that it does not know."""

    def __init__(self):
        self.cases, self.document_ids = {}, {PAGE}

    def archive(self, case):
        if case.document_id in self.document_ids:
            self.cases[case.id] = case
        return Archived(kept=case.document_id in self.document_ids)

    def forget_tickets(self, purged):
        self.forget_cases(purged)

    def forget_cases(self, request):
        for id_ in request.ids:
            self.cases.pop(id_, None)


@pytest.fixture
def ingestion():
    return Ingestion()


@pytest.fixture
def archived(gateway, ingestion):
    """Works off the queue as a worker would, and returns the cases."""
    gateway.planner.workflows = [DISK]

    def work(*, is_on=True):
        queries = Queries(gateway.database)
        archiving = TicketArchive(gateway.database, gateway.outbox, ingestion, queries, is_on=is_on)
        triage = TriageService(gateway.database, gateway.outbox, gateway.triage, queries)
        learn = triage.learn_ticket
        works = {
            **gateway._works,
            "gateway.learn_ticket": (
                lambda ticket_id: (learn(ticket_id), archiving.put(ticket_id)),
                None,
            ),
            ARCHIVE_TASK: (archiving.run, None),
            "gateway.forget_cases": (archiving.forget, None),
            ERASE_TASK: (
                TicketErasure(gateway.database, ingestion, gateway.triage, None).run,
                None,
            ),
        }
        while due := gateway.outbox.due(limit=100):
            for key, task, *_ in due:
                gateway.outbox.run(key, works[task][0], on_parked=works[task][1])
        return list(ingestion.cases.values())

    return work


def resolve(gateway):
    gateway.post({"id": "T-1", "title": "x", "status": "resolved"})


def test_a_resolved_ticket_is_a_case_of_the_page_that_helped(gateway, archived):
    ticket_id = gateway.post(TICKET)["id"]
    assert archived() == []
    for _ in range(2):
        resolve(gateway)
        archived()
    (case,) = archived()
    assert (case.id, case.document_id, case.title) == (ticket_id, PAGE, "No space on db-7")
    assert "Writes fail" in case.text
    assert "\n" not in case.text
    assert "jo.doe" not in case.text
    assert "hunter22" not in case.text
    events = Events(gateway.database).after(0, ticket_id=ticket_id)
    assert [event.facts for event in events if event.kind == "archived"] == [{"document": PAGE}]


def test_a_ticket_that_is_over_before_it_is_planned_is_archived_then(gateway, archived):
    gateway.post(TICKET)
    resolve(gateway)
    assert len(archived()) == 1


def test_the_branch_that_was_answered_is_in_the_case(gateway, archived):
    ticket_id = gateway.post(TICKET)["id"]
    archived()
    question = gateway.ticket(ticket_id)["clarifications"][0]
    address = f"/v1/tickets/{ticket_id}/clarifications/{question['id']}/answers"
    gateway.client.post(address, json={"choice": 2})
    archived()
    resolve(gateway)
    assert archived()[0].told.endswith("Is the log partition full? No")


@pytest.mark.parametrize(("owner", "cases"), [("", 0), ("ann", 1)])
def test_a_comment_that_a_key_brings_is_the_work_of_that_key(gateway, archived, owner, cases):
    keys = Keys(gateway.database)
    own, other = (
        {"X-API-Key": keys.create(name, frozenset({Scope.OPERATE}), owner=whose)}
        for name, whose in (("bot", ""), ("desk", owner))
    )
    ticket_id = gateway.post(TICKET, "/workflow/generic", headers=own)["id"]
    archived()
    comment = {"id": "c1", "text": "answer: 1", "author": "ann"}
    body = {"event": "comment", "id": "T-1", "comment": comment}
    gateway.post(body, "/workflow/generic", headers=other)
    archived()
    ticket = gateway.client.get(f"/v1/tickets/{ticket_id}", headers=own).json()
    assert ticket["clarifications"][0]["answered_by"] == "key desk"
    over = {"id": "T-1", "title": "x", "status": "resolved"}
    gateway.post(over, "/workflow/generic", headers=own)
    assert len(archived()) == cases


def test_what_was_rejected_or_refused_or_only_guessed_is_no_case(gateway, archived):
    ticket_id = gateway.post(TICKET)["id"]
    archived()
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={})
    resolve(gateway)
    gateway.retrieval.context = gateway.retrieval.context.model_copy(update={"confidence": 0.3})
    unsure = gateway.post({"id": "T-2", "title": "Slow"})["id"]
    gateway.retrieval.context = gateway.retrieval.context.model_copy(update={"confidence": 0.0})
    archived()
    gateway.post({"id": "T-2", "title": "x", "status": "resolved"})
    assert archived() == []
    assert gateway.ticket(unsure)["status"] in {"planned", "refused"}


def test_a_page_that_is_gone_gets_no_case(gateway, archived, ingestion):
    ingestion.document_ids = set()
    gateway.post(TICKET)
    archived()
    resolve(gateway)
    assert archived() == []
    assert gateway.outbox.counts() == {"waiting": 0, "parked": 0}


def test_it_can_be_switched_off(gateway, archived):
    gateway.post(TICKET)
    archived(is_on=False)
    resolve(gateway)
    assert archived(is_on=False) == []


def test_a_case_goes_with_its_ticket(gateway, archived):
    gateway.post(TICKET)
    archived()
    resolve(gateway)
    assert len(archived()) == 1
    assert Retention(gateway.database, 1, clock=lambda: 4e9).purge().tickets == 1
    assert archived() == []


def test_a_case_goes_when_its_workflow_is_rejected(gateway, archived):
    ticket_id = gateway.post(TICKET)["id"]
    archived()
    resolve(gateway)
    assert len(archived()) == 1
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={})
    assert archived() == []
