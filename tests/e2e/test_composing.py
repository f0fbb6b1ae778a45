"""From a sentence to a page, and from the page to the next ticket and its dry run."""

import re

from playwright.sync_api import expect

from services.simulator.faults import Fault
from tests.e2e.conftest import taken_in
from tests.e2e.test_execution import network, page

__all__ = ["network", "page"]

SENTENCE = "Check the optic of the interface, then show the last 20 lines of the log."


def test_a_sentence_answers_the_next_ticket(page, network):
    page.goto("/knowledge/readings")
    page.get_by_role("link", name="Compose").click()
    page.fill("#instruction", SENTENCE)
    page.get_by_role("button", name="Draft it").click()
    expect(page.locator(".drawing")).to_contain_text("optic")
    assert page.locator("#questions").count() == 0  # the sentence says all that is needed
    page.click("#propose")
    page.wait_for_url("**/knowledge/proposals/*")
    proposal = page.url.rpartition("/")[2]
    details = network.client.get(f"/v1/proposals/{proposal}").json()
    assert (details["state"], details["origin"]) == ("proposed", "composed")

    page.get_by_role("button", name=re.compile("^Accept")).click()
    expect(page.get_by_text("Accepted by local")).to_be_visible()
    taken_in(network.client, details["document_id"])
    fault = Fault("optic_weak", "leaf-3", "Ethernet1/49")
    network.simulation.heal()
    network.simulation.inject(fault)
    body = {
        "title": details["title"],
        "description": "Check the optic of the interface and the last lines of the log",
        "labels": {"device": "leaf-3", "interface": "Ethernet1/49"},
    }
    answer = network.post(body, "/workflow", params={"wait": 60}).json()
    ticket = network.client.get(f"/v1/tickets/{answer['tickets'][0]['id']}").json()
    workflow = network.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    assert workflow["provenance"]["document_ids"] == [details["document_id"]]
    assert "composed" in ticket["verdict_words"]

    page.goto(f"/tickets/{ticket['id']}")
    page.click("#dry-run")
    steps = page.locator("ol.steps")
    expect(steps).to_contain_text("show interface Ethernet1/49 transceiver")
    expect(steps).to_contain_text("show logging last 20")
    assert not network.changes()
