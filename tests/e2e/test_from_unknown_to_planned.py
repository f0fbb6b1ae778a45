"""What nobody knows is searched, mended by hand, written down, accepted, and then known."""

from collections.abc import Iterator
from typing import Any

import pytest

from services.llm.scripted import ScriptedChatModel
from services.simulator.faults import Fault
from tests.e2e.conftest import taken_in
from tests.e2e.test_searching import Network, answers, platform_in
from tests.waiting import eventually

ELSEWHERE = Fault("bgp_session_shut", "leaf-2", "10.0.12.1")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with platform_in(tmp_path_factory.mktemp("circle"), ScriptedChatModel(answers)) as platform:
        yield platform


def test_the_next_ticket_of_the_kind_is_planned_from_what_was_done(network):
    client = network.client

    def get(where: str) -> Any:
        return client.get(where).raise_for_status().json()

    def post(where: str, body: dict[str, Any]) -> Any:
        return client.post(where, json=body).raise_for_status().json()

    ticket = network.ticket()
    search = network.ended(post("/v1/searches", {"ticket_id": ticket})["id"])
    assert search["outcome"] == "found"

    let_up = {"asn": "65001", "neighbor": "10.0.11.1"}
    calls = [
        {"tool": "bgp_session", "target": "leaf-1", "arguments": {"neighbor": "10.0.11.1"}},
        {"tool": "bgp_session_enable", "target": "leaf-1", "arguments": let_up},
    ]
    run = post("/v1/runs/by-hand", {"ticket_id": ticket, "calls": calls})
    where = f"/v1/runs/{run['id']}"
    run = eventually(lambda: get(where), lambda state: state["approval"])
    post(f"{where}/approval", {"digest": run["approval"]["digest"]})
    run = eventually(lambda: get(where), lambda state: state["outcome"])
    assert run["outcome"] == "recovered"

    page = client.get(f"/runs/{run['id']}").text
    assert "Write down what was done, as a page" in page
    wanted = {"ticket_ids": [ticket], "title": "BGP session to a spine is down"}
    summary = post("/v1/summaries", wanted)
    assert summary["pages"], summary["refused"]
    post(f"/v1/summaries/{summary['key']}/proposal", {})
    summary = eventually(
        lambda: get(f"/v1/summaries/{summary['key']}"), lambda s: s["state"] == "proposed"
    )
    assert "one path was seen" in client.get(f"/summaries/{summary['key']}").text
    proposal = get(f"/v1/proposals/{summary['pages'][0]['proposal_id']}")
    accepted = {"text_hash": proposal["text_hash"]}
    post(f"/v1/proposals/{proposal['id']}/acceptance", accepted)

    taken_in(client, proposal["document_id"])
    planned = get(f"/v1/tickets/{network.anew(ELSEWHERE)}")
    assert planned["status"] == "planned", planned["reason"]
    assert planned["verdict_words"].startswith("checked by a person")
    assert "one path seen" in planned["verdict_words"]
    workflow = get(f"/v1/workflows/{planned['workflow_id']}")["workflow"]
    assert workflow["provenance"]["document_ids"] == [proposal["document_id"]]
    bindings = get(f"/v1/bindings?ticket_id={planned['id']}")
    assert "bgp_session_enable" in {each["binding"]["tool"] for each in bindings}
