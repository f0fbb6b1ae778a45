"""Who has a ticket: taken, taken over, given back, and found by it."""

import threading
from typing import Any

import pytest

from services.contracts.gateway import Taking, TicketQuery
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.access.scopes import SCOPES_OF_ROLE, Role
from services.tickets.adoption.assignment import HeldByAnotherError, assign, unassign
from services.tickets.ticket.queries import Queries, TicketNotFoundError

PAGE = {"accept": "text/html"}


def person(name: str, id_: str | None = None) -> Caller:
    own = f"https://login.example.org#{id_ or name}"
    return Caller(name, CallerKind.PERSON, own, SCOPES_OF_ROLE[Role.RESPONDER])


ANN, BOB = person("ann"), person("bob")


@pytest.fixture
def ticket_id(gateway) -> str:
    return gateway.client.post("/workflow", json={"title": "Fan 2 failed"}).json()["id"]


def takes(gateway, ticket_id: str, who: Caller, over_from: str = "") -> None:
    with gateway.database.session() as session, acting_as(who):
        assign(session, ticket_id, who, Taking.model_validate({"from": over_from}))


def gives_back(gateway, ticket_id: str, who: Caller) -> None:
    with gateway.database.session() as session, acting_as(who):
        unassign(session, ticket_id, who)


def holder(gateway, ticket_id: str) -> str | None:
    return Queries(gateway.database).ticket(ticket_id).holder


def test_a_ticket_is_taken_by_one_and_given_back(gateway, ticket_id):
    assert holder(gateway, ticket_id) is None
    takes(gateway, ticket_id, ANN)
    takes(gateway, ticket_id, ANN)
    assert holder(gateway, ticket_id) == "ann"
    with pytest.raises(HeldByAnotherError, match="ann"):
        takes(gateway, ticket_id, BOB)
    with pytest.raises(HeldByAnotherError, match="ann"):
        gives_back(gateway, ticket_id, BOB)
    gives_back(gateway, ticket_id, ANN)
    gives_back(gateway, ticket_id, BOB)
    assert holder(gateway, ticket_id) is None


def test_it_is_taken_over_by_whoever_names_the_one_that_has_it(gateway, ticket_id):
    takes(gateway, ticket_id, ANN)
    with pytest.raises(HeldByAnotherError):
        takes(gateway, ticket_id, BOB, over_from="carol")
    takes(gateway, ticket_id, BOB, over_from="ann")
    assert holder(gateway, ticket_id) == "bob"
    page = gateway.client.get(f"/tickets/{ticket_id}", headers=PAGE).text
    assert "Taken over from ann" in page
    with pytest.raises(HeldByAnotherError, match="bob"):
        takes(gateway, ticket_id, person("carol"), over_from="ann")


def test_of_many_who_take_it_at_once_one_has_it(gateway, ticket_id):
    refused: list[str] = []
    begin = threading.Barrier(8)

    def try_it(name: str) -> None:
        begin.wait()
        try:
            takes(gateway, ticket_id, person(name))
        except HeldByAnotherError:
            refused.append(name)

    names = [f"p{n}" for n in range(8)]
    threads = [threading.Thread(target=try_it, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert holder(gateway, ticket_id) == (set(names) - set(refused)).pop()


def test_a_person_of_another_name_is_still_the_same(gateway, ticket_id):
    takes(gateway, ticket_id, person("ann", "u-1"))
    takes(gateway, ticket_id, person("ann of nights", "u-1"))
    assert holder(gateway, ticket_id) == "ann of nights"
    with pytest.raises(HeldByAnotherError):
        takes(gateway, ticket_id, person("ann of nights", "u-2"))


def test_over_the_api_and_where_access_is_off_it_is_the_machines(gateway, ticket_id):
    client = gateway.client
    taken = client.put(f"/v1/tickets/{ticket_id}/holder", json={})
    assert (taken.status_code, taken.json()["holder"]) == (200, "local")
    assert taken.json()["held_at"]
    listed = client.get("/v1/tickets").json()["tickets"]
    assert [(each["holder"], bool(each["held_at"])) for each in listed] == [("local", True)]
    back = client.delete(f"/v1/tickets/{ticket_id}/holder")
    assert back.json()["holder"] is None
    assert back.json()["held_at"] is None
    assert client.put("/v1/tickets/none/holder", json={}).status_code == 404
    takes(gateway, ticket_id, ANN)
    refused = client.put(f"/v1/tickets/{ticket_id}/holder", json={})
    assert (refused.status_code, refused.json()["error"]) == (409, "HeldByAnotherError")
    assert client.put(f"/v1/tickets/{ticket_id}/holder", json={"from": "ann"}).status_code == 200
    with pytest.raises(TicketNotFoundError):
        takes(gateway, "none", ANN)


def test_a_list_is_held_to_those_of_one_person(gateway):
    ids = [
        gateway.client.post("/workflow", json={"title": f"Fan {n} failed", "id": f"{n}"}).json()[
            "id"
        ]
        for n in range(3)
    ]
    takes(gateway, ids[0], ANN)
    takes(gateway, ids[1], BOB)
    service = gateway.client

    def listed_ids(query: str) -> list[str]:
        return [each["id"] for each in service.get(f"/v1/tickets?{query}").json()["tickets"]]

    assert listed_ids("holder=ann") == [ids[0]]
    assert listed_ids("holder=nobody") == [ids[2]]
    assert listed_ids("holder=me") == []
    service.put(f"/v1/tickets/{ids[2]}/holder", json={})
    assert listed_ids("holder=me") == [ids[2]]
    page = service.get("/?holder=me", headers=PAGE).text
    assert "<b>1</b>" in page
    assert "Mine" in page


def test_what_one_counts_as_theirs_is_not_counted_for_another(gateway, ticket_id):
    from services.tickets.ticket.listing.facets import Facets

    takes(gateway, ticket_id, ANN)
    facets, mine = Facets(gateway.database), TicketQuery(holder="me")
    totals: dict[str, Any] = {}
    for who in (ANN, BOB, ANN):
        with acting_as(who):
            totals[who.name] = facets.counts(mine).total
    assert totals == {"ann": 1, "bob": 0}


def test_the_pages_offer_it_and_say_who_has_it(gateway, ticket_id):
    client = gateway.client
    page, rows = f"/tickets/{ticket_id}", "/?sort=oldest"
    assert "I have this" in client.get(page, headers=PAGE).text
    assert "I have this" in client.get(rows, headers=PAGE).text
    taken = client.post(f"{page}/holder", data={"back": rows}, follow_redirects=False)
    assert taken.headers["location"] == rows
    assert "You have this" in client.get(page, headers=PAGE).text
    assert "Taken by" in client.get(rows, headers=PAGE).text
    client.post(f"{page}/holder/return")
    takes(gateway, ticket_id, ANN)
    shown = client.get(page, headers=PAGE).text
    assert "Take over from" in shown
    assert client.post(f"{page}/holder", data={}, headers=PAGE).status_code == 409
    over = client.post(f"{page}/holder", data={"from": "ann"}, follow_redirects=False)
    assert over.headers["location"] == page
    for elsewhere in ("//evil.org", "https://evil.org", "/\\evil.org"):
        client.post(f"{page}/holder/return")
        back = client.post(f"{page}/holder", data={"back": elsewhere}, follow_redirects=False)
        assert back.headers["location"] == page
