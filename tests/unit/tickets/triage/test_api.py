"""Triage on the walk and by its addresses."""

import pytest

from services.contracts.triage import Team
from services.kit.files import UnusableFileError
from services.kit.sql.database import Database
from services.tickets.triage.teams import read_teams
from tests.unit.gateway.harness import gateway_over
from tests.unit.tickets.triage.cases import past_cases


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


def test_nothing_is_named_before_anything_is_learned_and_the_rejection_stays(gateway):
    ticket = refused(gateway, "The raidcard is full")
    answer = gateway.client.post(f"/v1/tickets/{ticket['id']}/triage", json={})
    assert (answer.status_code, answer.json()["team"]) == (200, None)
    assert gateway.ticket(ticket["id"])["status"] == "refused"
    page = gateway.client.get(f"/tickets/{ticket['id']}").text
    assert "No team is known yet" in page
    assert "FLOWXPERT_GATEWAY_TEAMS_FILE" in page
    assert "Handed over" not in page


def planned(gateway, title="The dialplan is slow"):
    posted = gateway.post({"title": title})
    gateway.work()
    return posted["id"]


def test_the_page_rejects_a_workflow_and_says_who_has_the_ticket_now(gateway):
    learn(gateway)
    ticket_id = planned(gateway)
    assert "This workflow is not the answer" in gateway.client.get(f"/tickets/{ticket_id}").text
    page = gateway.client.post(f"/tickets/{ticket_id}/triage", data={"reason": "<b>site</b>"})
    assert (page.status_code, page.url.path) == (200, f"/tickets/{ticket_id}")
    assert "Handed over to the team voice" in page.text
    assert '<span class="pill handed_over">handed over</span>' in page.text
    assert "was rejected: &lt;b&gt;site&lt;/b&gt;" in page.text
    assert "planned</span>" not in page.text
    assert f'href="/tickets/{ticket_id}?candidate=' in page.text.partition("Hand-over note")[2]
    assert "This workflow is not the answer" not in page.text
    (listed,) = gateway.client.get("/v1/tickets?status=handed_over").json()["tickets"]
    assert listed["id"] == ticket_id
    assert "Handed over" in gateway.client.get("/").text


def test_the_page_gives_a_ticket_to_a_team(gateway):
    gateway.client.post("/v1/teams", json={"name": "water"})
    ticket_id = planned(gateway)
    assert '<option value="water">' in gateway.client.get(f"/tickets/{ticket_id}").text
    page = gateway.client.post(f"/tickets/{ticket_id}/team", data={"team": " WATER "}).text
    assert "Handed over to the team water" in page
    assert "assigned by a person" in page


def test_a_rejected_workflow_without_a_team_is_not_handed_over(gateway):
    gateway.client.post("/v1/teams", json={"name": "water"})
    ticket_id = planned(gateway)
    page = gateway.client.post(f"/tickets/{ticket_id}/triage", data={"reason": "wrong site"}).text
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["triage"]["team"]) == ("rejected", None)
    assert "No team found: choose" in page
    assert '<option value="water">' in page
    assert "Handed over" not in page
    assert "▶ Next" not in page
    folded = page.partition('id="rejected-workflow"')[2]
    assert "rejected by" in folded.partition("</summary>")[0]
    assert ": wrong site" in folded.partition("</summary>")[0]
    listed = gateway.client.get("/").text
    assert '<span class="pill rejected">rejected</span>' in listed
    assert "pill planned" not in listed
    work = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
    assert (work["verdict"], work["next"]) == ("rejected", None)
    assigned = gateway.client.post(f"/tickets/{ticket_id}/team", data={"team": "water"}).text
    assert "Handed over to the team water" in assigned
    assert gateway.ticket(ticket_id)["status"] == "handed_over"


def test_who_accepts_after_all_has_a_planned_ticket_again(gateway):
    ticket_id = planned(gateway)
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={})
    workflow_id = gateway.ticket(ticket_id)["workflow_id"]
    address = f"/v1/workflows/{workflow_id}/acceptance"
    assert gateway.client.put(address, json={"accepted": True}).status_code == 200
    assert gateway.ticket(ticket_id)["status"] == "planned"


@pytest.mark.parametrize(
    ("typed", "detail"),
    [("storag", "near it: storage"), ("Kitchen", "known: "), ("voices", "near it: voice")],
)
def test_a_team_that_nobody_knows_is_refused_with_the_names_near_it(gateway, typed, detail):
    learn(gateway)
    ticket_id = planned(gateway)
    address = f"/v1/tickets/{ticket_id}/team"
    answer = gateway.client.put(address, json={"team": typed})
    assert (answer.status_code, answer.json()["error"]) == (422, "UnknownTeamError")
    assert detail in answer.json()["detail"]
    assert gateway.ticket(ticket_id)["status"] == "planned"
    assert gateway.client.post("/v1/teams", json={"name": typed}).status_code == 200
    assert gateway.client.put(address, json={"team": typed}).json()["team"] == typed


def test_without_any_team_it_is_said_how_teams_are_declared(gateway):
    ticket_id = planned(gateway)
    gateway.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "wrong site"})
    answer = gateway.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": "water"})
    assert answer.status_code == 422
    assert "POST /v1/teams" in answer.json()["detail"]
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "rejected"
    assert ticket["triage"]["note"]["tried"][0].endswith("was rejected: wrong site")


def test_a_team_that_past_tickets_name_is_offered(gateway):
    learn(gateway)
    ticket_id = planned(gateway)
    assert '<option value="voice">' in gateway.client.get(f"/tickets/{ticket_id}").text
    answer = gateway.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": "Voice"})
    assert answer.json()["team"] == "voice"


def test_a_ticket_on_its_way_is_no_partys_yet(gateway):
    ticket_id = gateway.post({"title": "The dialplan is slow"})["id"]
    assert "Give it to" not in gateway.client.get(f"/tickets/{ticket_id}").text
    gateway.client.post("/v1/teams", json={"name": "water"})
    page = gateway.client.post(f"/tickets/{ticket_id}/triage", data={})
    assert page.status_code == 409
    gateway.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": "water"})
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"


def test_documents_that_were_found_have_their_address_in_the_note(gateway):
    learn(gateway)
    context = gateway.retrieval.context
    gateway.retrieval.context = context.model_copy(update={"confidence": 0.01})
    posted = gateway.post({"title": "The raidcard is full"})
    gateway.work()
    note = gateway.ticket(posted["id"])["triage"]["note"]
    assert note["addresses"] == ["/sources/runbooks/FanFailed.md?lines=10-20"]
    page = gateway.client.get(f"/tickets/{posted['id']}").text
    assert '<a href="/sources/runbooks/FanFailed.md?lines=10-20">Fan failed' in page


HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_what_a_form_is_refused_comes_as_a_page_with_its_own_title(gateway):
    for path, sent, status, title in [
        ("/tickets/none/triage", {}, 404, "Not found"),
        ("/tickets/none/team", {"team": "x"}, 404, "Not found"),
        ("/tickets/none/team", {"team": "a/b"}, 422, "That cannot be used"),
        ("/tickets/none/team", {"team": ""}, 422, "That cannot be used"),
        ("/tickets/none/team", {"team": "x" * 201}, 422, "That cannot be used"),
        ("/tickets/none/triage", {"reason": "x" * 2001}, 422, "That cannot be used"),
        ("/tickets/none/clarifications/x/answers", {"choice": "many"}, 422, "That cannot be used"),
        ("/tickets/none/nowhere", {}, 404, "Not found"),
    ]:
        answer = gateway.client.post(path, data=sent, headers=HTML)
        assert (answer.status_code, answer.headers["content-type"]) == (
            status,
            "text/html; charset=utf-8",
        )
        assert f"<title>{title} · FlowXpert</title>" in answer.text
        assert f"<h1>{title}</h1>" in answer.text


def test_another_sites_form_is_refused_with_a_page_and_the_api_with_json(gateway):
    headers = HTML | {"Origin": "https://elsewhere.example"}
    answer = gateway.client.post("/tickets/none/triage", data={}, headers=headers)
    assert (answer.status_code, "<h1>Not allowed</h1>" in answer.text) == (403, True)
    assert gateway.client.post("/v1/tickets/none/triage", json={}, headers=HTML).json()["error"]
    assert gateway.client.post("/tickets/none/team", data={"team": "x" * 201}).json()["error"]


def test_what_a_person_assigns_is_learned_and_stays(gateway):
    learn(gateway)
    gateway.client.post("/v1/teams", json={"name": "workshop"})
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


def test_a_team_needs_a_name(gateway):
    for name in ["", "  ", "x" * 201]:
        assert gateway.client.post("/v1/teams", json={"name": name}).status_code == 422


def test_unknown_tickets_are_told_so(gateway):
    assert gateway.client.post("/v1/tickets/none/triage", json={}).status_code == 404
    assert gateway.client.put("/v1/tickets/none/team", json={"team": "x"}).status_code == 404


def test_teams_of_a_file_are_known_and_one_that_is_none_is_refused(tmp_path):
    file = tmp_path / "teams.yaml"
    file.write_text("- name: water\n  description: Pipes.\n- name: power\n")
    assert read_teams(file) == (Team(name="water", description="Pipes."), Team(name="power"))
    file.write_text("water: pipes")
    with pytest.raises(UnusableFileError):
        read_teams(file)


def test_the_history_says_that_no_team_was_found_or_which_was(gateway):
    gateway.client.post("/v1/teams", json={"name": "water"})
    ticket_id = planned(gateway)
    page = gateway.client.post(f"/tickets/{ticket_id}/triage", data={"reason": "wrong site"}).text
    assert "No team was found" in page
    assert "team None" not in page
    learn(gateway)
    page = gateway.client.post(f"/tickets/{planned(gateway)}/triage", data={}).text
    assert "Triage chose the team voice" in page
