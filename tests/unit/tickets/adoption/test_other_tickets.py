"""Forms of a ticket's page reach the workflows of that ticket alone."""

import pytest

FORMS = {
    "marks": {"step": "s1", "state": "done"},
    "judgements": {"step": "s1", "verdict": "rejected"},
    "acceptance": {"accepted": "true"},
    "edits": {"edit": "change", "step": "s1", "text": "Look elsewhere"},
}


def planned(gateway, title):
    ticket_id = gateway.post({"title": title})["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_another_tickets_workflow_is_not_found_and_changes_nothing(gateway, form):
    ticket, other = planned(gateway, "Fan 2 has failed"), planned(gateway, "Pump 7 leaks")
    workflow_id = ticket["workflow_id"]
    work = f"/v1/workflows/{workflow_id}/work"
    before = gateway.client.get(work).json()
    fields = dict(FORMS[form])
    if "step" in fields:
        stored = gateway.client.get(f"/v1/workflows/{workflow_id}").json()
        fields["step"] = stored["workflow"]["steps"][0]["id"]
    for whose in (other["id"], "nobody"):
        path = f"/tickets/{whose}/workflows/{workflow_id}/{form}"
        answer = gateway.client.post(path, data=fields, follow_redirects=False)
        assert answer.status_code == 404
    assert gateway.client.get(work).json() == before
    assert gateway.ticket(ticket["id"])["workflow_id"] == workflow_id
    own = f"/tickets/{ticket['id']}/workflows/{workflow_id}/{form}"
    assert gateway.client.post(own, data=fields, follow_redirects=False).status_code == 303
