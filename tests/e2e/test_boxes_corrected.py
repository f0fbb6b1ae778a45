"""An owner says that a box of a page is no step: the next ticket of the page shows it so."""

from urllib.parse import quote

import pytest

from services.workflow.model import WorkflowKind

WORDS = "Clear the dynamic addresses"


@pytest.fixture
def ticket_of(running, example):
    """Walks an alert on the page that nobody has read; the name makes it one of its own."""

    def ticket_of(fingerprint):
        body = example("alertmanager/mac-moves")
        body["alerts"][0]["fingerprint"] = fingerprint
        ticket = running.walked(body)
        assert ticket["kind"] == WorkflowKind.CHECKLIST
        return ticket

    return ticket_of


def boxes_of(running, ticket):
    """The boxes of a ticket's page by their first instructions, and the document of the page."""
    workflow = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    boxes = {step["text"]: step["node"] for step in workflow["steps"] if step["node"]}
    return boxes, workflow["page"]["document_id"]


def test_a_corrected_box_is_gone_from_the_next_ticket_and_from_this_one_made_anew(
    running, ticket_of
):
    ticket = ticket_of("00000000000000d1")
    before, document = boxes_of(running, ticket)
    (words,) = (text for text in before if text.startswith(WORDS))
    form = {"key": before[words], "is_step": "false"}
    address = f"/tickets/{ticket['id']}"
    forms = f"{address}/workflows/{ticket['workflow_id']}/boxes"
    shown = running.client.post(forms, data=form, follow_redirects=True)
    try:
        assert "it holds from the next ticket of this page on" in shown.text
        assert f'action="{address}/renewal"' in shown.text
        assert boxes_of(running, ticket)[0] == before, "this ticket keeps its workflow"

        after, _ = boxes_of(running, ticket_of("00000000000000d2"))
        assert list(after) == [text for text in before if text != words]

        renewed = running.client.post(f"{address}/renewal")
        assert renewed.status_code == 303
        anew = ticket_of("00000000000000d1")
        assert anew["id"] == ticket["id"]
        assert list(boxes_of(running, anew)[0]) == list(after)
    finally:
        at_page = f"/knowledge/boxes?document={quote(document)}"
        running.client.post(at_page, data={**form, "is_step": ""})
    assert boxes_of(running, ticket_of("00000000000000d3"))[0] == before
