"""A ticket whose workflow is a checklist, in each form that leaves the gateway."""

import pytest

from services.gateway.ticket.lifecycle import walk_again
from services.workflow.model import WorkflowKind
from tests.checklists import checklist_of

TICKET = {"id": "T-7", "title": "The pump of loop 2 stands still"}
AS_IT_IS = "your team's page as it is; nobody has checked its decisions"


@pytest.fixture
def shown(gateway):
    """The id of a ticket that shows a checklist; a procedure competed with it."""
    gateway.planner.workflows.insert(0, checklist_of())
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return ticket_id


def test_its_kind_is_told_wherever_the_verdict_is(gateway, shown):
    ticket = gateway.ticket(shown)
    best, *others = ticket["candidates"]
    stored = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()
    (listed,) = gateway.client.get("/v1/tickets").json()["tickets"]
    again = gateway.post(TICKET)
    waited = gateway.post(TICKET, "/workflow?wait=1")
    for told in (ticket, best, stored, listed, again, *again["tickets"], waited):
        assert (told["kind"], told["verdict_words"]) == (WorkflowKind.CHECKLIST, AS_IT_IS)
    assert {each["kind"] for each in others} == {WorkflowKind.PROCEDURE}


def test_json_holds_the_whole_page(gateway, shown):
    workflow = checklist_of()
    stored = gateway.client.get(f"/v1/workflows/{gateway.ticket(shown)['workflow_id']}").json()
    assert stored["workflow"] == workflow.model_dump(mode="json")


def test_a_version_of_it_stays_a_checklist(gateway, shown):
    workflow_id = gateway.ticket(shown)["workflow_id"]
    edit = {"edits": [{"edit": "change", "step": "s1", "text": "Look at both drives."}]}
    answer = gateway.client.post(f"/v1/workflows/{workflow_id}/versions", json=edit)
    assert answer.status_code < 300, answer.text
    ticket = gateway.ticket(shown)
    assert ticket["workflow_id"] != workflow_id
    assert ticket["kind"] == WorkflowKind.CHECKLIST
    assert ticket["verdict_words"].startswith(f"{AS_IT_IS}; changed here by ")


def test_a_ticket_that_nothing_fits_any_more_is_of_no_checklist(gateway, shown):
    gateway.retrieval.context = gateway.retrieval.context.model_copy(update={"confidence": 0.0})
    with gateway.database.session() as session:
        assert walk_again(session, gateway.outbox, shown)
    gateway.work()
    ticket = gateway.ticket(shown)
    assert ticket["status"] == "refused"
    assert ticket["kind"] == WorkflowKind.PROCEDURE
