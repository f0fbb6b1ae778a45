"""An engineer's word that a fault is over."""

from services.tickets.ticket.events import Events


def test_an_engineer_ends_a_ticket_once(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.post({"title": "Fan 2 has failed"})
    first, second = (
        gateway.client.post(f"/v1/tickets/{ticket_id}/resolution").json() for _ in range(2)
    )
    assert first["resolved_at"]
    assert first["resolved_at"] == second["resolved_at"]
    events = [e.kind for e in Events(gateway.database).after(0, ticket_id=ticket_id)]
    assert events.count("resolved") == 1


def test_what_breaks_again_is_open_again(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.client.post(f"/tickets/{ticket_id}/resolution")
    assert gateway.ticket(ticket_id)["resolved_at"]
    assert gateway.post({"title": "Fan 2 has failed"})["id"] == ticket_id
    assert gateway.ticket(ticket_id)["resolved_at"] is None


def test_the_page_offers_it_until_it_is_done(gateway):
    ticket_id = gateway.post({"title": "Fan 2 has failed"})["id"]
    gateway.work()
    offered = f'action="/tickets/{ticket_id}/resolution"'
    assert offered in gateway.client.get(f"/tickets/{ticket_id}").text
    gateway.client.post(f"/tickets/{ticket_id}/resolution")
    assert offered not in gateway.client.get(f"/tickets/{ticket_id}").text


def test_an_unknown_ticket_is_not_found(gateway):
    assert gateway.client.post("/v1/tickets/nobody/resolution").status_code == 404
