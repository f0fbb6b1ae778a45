"""The word that a fault is over, taken back."""

from services.tickets.ticket.events import Events, Note, add_events

OVER, OPEN_AGAIN = "/v1/tickets/{}/resolution", "The fault is not over after all"


def kinds(gateway, ticket_id):
    return [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]


def resolved(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.work()
    assert gateway.client.post(OVER.format(ticket_id)).json()["resolved_at"]
    return ticket_id


def test_a_ticket_is_open_again_and_told_once(gateway):
    ticket_id = resolved(gateway)
    for _ in range(2):
        response = gateway.client.delete(OVER.format(ticket_id))
        assert (response.status_code, response.json()["resolved_at"]) == (200, None)
    assert kinds(gateway, ticket_id).count("not_over") == 1
    assert gateway.client.post(OVER.format(ticket_id)).json()["resolved_at"]


def test_its_alert_is_open_again_too(gateway, group):
    ticket_id = gateway.post(group)["tickets"][0]["id"]
    gateway.work()
    gateway.client.post(OVER.format(ticket_id))
    gateway.client.delete(OVER.format(ticket_id))
    group["alerts"][0] |= {"status": "resolved", "endsAt": "2025-03-12T09:14:51.123Z"}
    gateway.post(group | {"status": "resolved"})
    assert gateway.ticket(ticket_id)["resolved_at"]


def test_what_it_taught_is_forgotten(gateway):
    ticket_id = resolved(gateway)
    with gateway.database.session() as session:
        add_events(session, ticket_id, [Note("archived", {"document": "runbooks/Disk.md"})])
    assert "runbooks/Disk.md" in gateway.client.get(f"/tickets/{ticket_id}").text
    gateway.client.delete(OVER.format(ticket_id))
    tasks = [task for _, task, *_ in gateway.outbox.due(limit=100)]
    assert "gateway.forget_cases" in tasks


def test_the_page_offers_it_and_tells_what_changes(gateway):
    ticket_id = resolved(gateway)
    offered = f'action="/tickets/{ticket_id}/reopening"'
    page = gateway.client.get(f"/tickets/{ticket_id}").text
    assert offered in page
    assert "No ticket system was told" in page
    gateway.client.post(f"/tickets/{ticket_id}/reopening")
    page = gateway.client.get(f"/tickets/{ticket_id}").text
    assert offered not in page
    assert "the fault is not over after all" in page.lower()


def test_an_unknown_ticket_is_not_found(gateway):
    assert gateway.client.delete(OVER.format("nobody")).status_code == 404
