"""Triage on the walk and by its addresses."""

import pytest

from services.contracts.triage import Team
from services.gateway.triage.teams import TeamsFileError, read_teams
from services.kit.database import Database
from tests.unit.gateway.harness import gateway_over
from tests.unit.gateway.triage.cases import past_cases


@pytest.fixture
def gateway():
    database = Database.memory()
    database.migrate("kit", "gateway")
    gateway = gateway_over(database, triage_learn_every_s=0)
    yield gateway
    database.close()


def learn(gateway):
    tickets = [{"id": c.id, "description": c.text, "team": c.team} for c in past_cases()]
    answer = gateway.client.post("/v1/triage/cases", json={"tickets": tickets})
    assert (answer.status_code, answer.json()) == (202, {"tickets": len(tickets)})
    gateway.work()


def refused(gateway, title, **fields):
    gateway.retrieval.context = gateway.retrieval.context.model_copy(
        update={"chunks": (), "nodes": (), "pages": (), "confidence": 0.0}
    )
    posted = gateway.post({"title": title, **fields})
    gateway.work()
    return gateway.ticket(posted["id"])


def test_a_ticket_that_nothing_fits_goes_to_a_team_with_a_note(gateway):
    learn(gateway)
    ticket = refused(gateway, "The raidcard is full")
    triage = ticket["triage"]
    assert (ticket["status"], triage["team"], triage["by"]) == ("refused", "storage", "ranker")
    assert triage["candidates"][0]["why"]
    assert triage["note"]["asked"] == "The raidcard is full"
    assert "nothing that is known comes near" in triage["note"]["tried"][0]
    page = gateway.client.get(f"/tickets/{ticket['id']}").text
    assert "For the team storage" in page
    assert "raidcard → storage" in page


def test_without_past_tickets_a_refused_ticket_is_as_before(gateway):
    assert refused(gateway, "The raidcard is full")["triage"] is None


def test_a_rejected_workflow_is_handed_over_with_what_was_tried(gateway):
    learn(gateway)
    posted = gateway.post({"title": "The dialplan is slow"})
    gateway.work()
    answer = gateway.client.post(
        f"/v1/tickets/{posted['id']}/triage", json={"reason": "wrong site"}
    )
    triage = answer.json()
    assert (answer.status_code, triage["team"]) == (200, "voice")
    assert triage["note"]["tried"][0].endswith("was rejected: wrong site")
    assert gateway.ticket(posted["id"])["triage"] == triage


def test_a_walk_that_is_not_over_has_nothing_to_reject(gateway):
    learn(gateway)
    posted = gateway.post({"title": "The dialplan is slow"})
    answer = gateway.client.post(f"/v1/tickets/{posted['id']}/triage", json={})
    assert (answer.status_code, answer.json()["error"]) == (409, "TicketOpenError")


def test_nothing_is_named_before_anything_is_learned(gateway):
    ticket = refused(gateway, "The raidcard is full")
    answer = gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={})
    assert (answer.status_code, answer.json()["error"]) == (409, "NothingLearnedError")


def test_what_a_person_assigns_is_learned_and_stays(gateway):
    learn(gateway)
    ticket = refused(gateway, "The blowgun hisses")
    put = gateway.client.put(f"/v1/tickets/{ticket['id']}/team", json={"team": "workshop"})
    assert (put.status_code, put.json()["by"], put.json()["team"]) == (200, "person", "workshop")
    gateway.work()
    again = gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={})
    assert again.json()["team"] == "workshop"
    other = refused(gateway, "The blowgun hisses again")
    assert "workshop" in {each["team"] for each in other["triage"]["candidates"]}


def test_a_resolved_ticket_is_learned_where_its_source_names_the_team(gateway, alert):
    alert["labels"]["team"] = "cooling"
    gateway.post({"version": "4", "alerts": [alert]})
    gateway.work()
    assert gateway.triage._graph.cases(10) == []
    for _ in range(2):
        gateway.post({"version": "4", "alerts": [{**alert, "status": "resolved"}]})
        gateway.work()
    (case,) = gateway.triage._graph.cases(10)
    assert case.team == "cooling"
    assert "fan" in case.entities


def test_teams_are_declared_described_anew_and_taken_back(gateway):
    for text in ("Pipes.", "Pipes and valves."):
        put = gateway.client.post("/v1/teams", json={"name": "water", "description": text})
        assert put.status_code == 200
    listed = gateway.client.get("/v1/teams").json()
    assert listed == [{"name": "water", "description": "Pipes and valves."}]
    assert gateway.client.delete("/v1/teams/water").status_code == 204
    assert gateway.client.delete("/v1/teams/water").status_code == 404


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_a_team_needs_a_name(gateway, name):
    assert gateway.client.post("/v1/teams", json={"name": name}).status_code == 422


def test_unknown_tickets_are_told_so(gateway):
    assert gateway.client.post("/v1/tickets/none/triage", json={}).status_code == 404
    assert gateway.client.put("/v1/tickets/none/team", json={"team": "x"}).status_code == 404


def test_teams_of_a_file_are_known_and_one_that_is_none_is_refused(tmp_path):
    file = tmp_path / "teams.yaml"
    file.write_text("- name: water\n  description: Pipes.\n- name: power\n")
    assert read_teams(file) == (Team(name="water", description="Pipes."), Team(name="power"))
    file.write_text("water: pipes")
    with pytest.raises(TeamsFileError):
        read_teams(file)
