"""A hand-over that is taken back."""

from services.tickets.ticket.events import Events


def handed_over(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.work()
    answer = gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "wrong page"})
    assert answer.status_code == 200
    assert gateway.ticket(ticket_id)["status"] == "rejected"
    assert gateway.client.post("/v1/teams", json={"name": "cooling"}).status_code < 300
    address = f"/v1/tickets/{ticket_id}/team"
    assert gateway.client.put(address, json={"team": "Cooling"}).status_code == 200
    assert gateway.ticket(ticket_id)["status"] == "handed_over"
    return ticket_id


def test_the_ticket_is_worked_on_again_and_its_workflow_not_rejected(gateway):
    ticket_id = handed_over(gateway)
    for _ in range(2):
        back = gateway.client.delete(f"/v1/tickets/{ticket_id}/triage").json()
        assert (back["status"], back["triage"]) == ("planned", None)
    work = gateway.client.get(f"/v1/workflows/{back['workflow_id']}/work").json()
    assert work["verdict"] == ""
    (left,) = work["left_behind"]
    assert (left["said"]["verdict"], left["said"]["word"]) == ("rejected", "wrong page")
    kinds = [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]
    assert kinds.count("handed_back") == 1


def test_the_page_offers_it_and_tells_what_changes(gateway):
    ticket_id = handed_over(gateway)
    offered = f'action="/tickets/{ticket_id}/taking-back"'
    page = gateway.client.get(f"/tickets/{ticket_id}").text
    assert offered in page
    assert "not rejected any more" in page
    gateway.client.post(f"/tickets/{ticket_id}/taking-back")
    assert offered not in gateway.client.get(f"/tickets/{ticket_id}").text


def test_an_unknown_ticket_is_not_found(gateway):
    assert gateway.client.delete("/v1/tickets/nobody/triage").status_code == 404
