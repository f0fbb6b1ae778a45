"""From a proposed page to a ticket that is answered by it, and back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from services.cli.terminal import console, show_workflow
from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.integrations.writeback.note import build_parts
from tests.e2e.conftest import Running, taken_in
from tests.unit.ingestion.proposing import TEXT, run
from tests.unit.ingestion.proposing import page as proposed_page

ORIGIN = "learned from one run: one path seen"


def propose(running: Running, key: str, **changed: Any) -> dict[str, Any]:
    body = proposed_page(key=key, runs=(run(),), **changed).model_dump(mode="json")
    return running.post(body, "/v1/proposals").json()


def alert(number: int) -> dict[str, Any]:
    """Of another pump each time: the same fault again would be the same ticket."""
    return {
        "title": f"PumpPressureDown on pump-{number}: pump pressure low on the cooling loop",
        "alert_name": "PumpPressureDown",
        "external_id": f"pump-{number}",
        "labels": {"device": f"pump-{number}"},
    }


def shown_by(tell: Callable[[], None]) -> str:
    """What it prints in a terminal."""
    with console.capture() as capture:
        tell()
    return " ".join(capture.get().split())


def test_a_page_shows_where_it_comes_from_and_is_edited_before_it_is_accepted(browser, running):
    proposal = propose(running, "edited", title="Pump pressure edited")
    context = browser.new_context(base_url=running.url)
    page = context.new_page()
    page.goto("/knowledge/readings")
    page.get_by_role("link", name="Proposed pages").click()
    expect(page.locator(".waiting")).to_contain_text(re.compile(r"\d+ wait"))
    page.get_by_role("link", name="Pump pressure edited").click()
    expect(page.get_by_text("One path seen.")).to_be_visible()
    ticket = page.get_by_role("link", name="PumpPressureDown", exact=True)
    expect(ticket).to_have_attribute("href", "/tickets/t1")
    expect(page.get_by_text("its run")).to_have_attribute("href", "/runs/r1")
    page.wait_for_load_state()  # what hovers needs the script
    page.locator(".drawn a[data-step]").first.hover()
    expect(page.locator(".line.lit")).to_contain_text("Check the pressure at the manifold")

    page.get_by_text("Edit the text first").click()
    page.fill("#text", TEXT.replace("replace the filter", "clean the filter"))
    with page.expect_response("**/acceptance") as answered:
        page.get_by_role("button", name="Accept").click()
    assert answered.value.status == 422
    expect(page.get_by_role("alert")).to_contain_text("Replace the filter")
    expect(page.locator(".changes .added")).to_contain_text("clean the filter")
    page.fill("#text", TEXT.replace("The alert", "Seen in June.\n\nThe alert"))
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("Accepted by local")).to_be_visible()
    expect(page.get_by_text("It expires on")).to_be_visible()
    expect(page.locator(".changes .added")).to_contain_text("Seen in June.")
    context.close()
    taken_in(running.client, proposal["document_id"])
    running.client.post(f"/v1/proposals/{proposal['id']}/withdrawal", json={}).raise_for_status()
    taken_in(running.client, proposal["document_id"], is_there=False)


def test_a_ticket_is_answered_by_an_accepted_page_and_refused_once_it_is_withdrawn(page, running):
    before = running.walked(alert(1))
    proposal = propose(running, "e2e")
    assert running.walked(alert(2))["page_origin"] == "", "it is only proposed"
    page.goto(f"/knowledge/proposals/{proposal['id']}")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("Accepted by local")).to_be_visible()
    taken_in(running.client, proposal["document_id"])

    ticket = running.walked(alert(3))
    words = f"checked by a person; {ORIGIN}"
    assert (ticket["verdict"], ticket["verdict_words"]) == ("checked", words)
    stored = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()
    assert stored["verdict_words"] == words
    origin = stored["workflow"]["provenance"]
    assert (origin["page_origin"], origin["document_ids"]) == (ORIGIN, [proposal["document_id"]])
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.get_by_text(ORIGIN).first).to_be_visible()
    workflow = StoredWorkflow.model_validate(stored)
    assert words in shown_by(lambda: show_workflow(workflow))
    detail = TicketDetail.model_validate(ticket)
    (part, *_) = build_parts(detail, workflow, "", takes_comments=False)
    assert words in part.lines[0]

    page.goto(f"/knowledge/proposals/{proposal['id']}")
    page.get_by_label("Why").fill("it was the valve")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Withdrawn by local")).to_be_visible()
    expect(page.get_by_text("it was the valve")).to_be_visible()
    taken_in(running.client, proposal["document_id"], is_there=False)
    after = running.walked(alert(4))
    assert (after["status"], after["verdict"]) == (before["status"], before["verdict"])
    assert (after["status"], after["page_origin"]) == ("refused", "")


def test_a_page_is_rejected_without_a_script(browser, running):
    context = browser.new_context(base_url=running.url, java_script_enabled=False)
    page = context.new_page()
    proposal = propose(running, "rejected", title="Rejected <b>page</b>")
    page.goto("/knowledge/proposals?state=proposed")
    page.get_by_role("link", name="Rejected <b>page</b>").click()
    page.get_by_label("Why not").fill("<i>nobody</i> does that")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("<i>nobody</i> does that")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Accept|Reject|Withdraw"))).to_have_count(0)
    context.close()
    assert running.client.get(f"/v1/proposals/{proposal['id']}").json()["state"] == "rejected"


@pytest.mark.parametrize("form", ["acceptance", "withdrawal"])
def test_what_was_decided_meanwhile_is_said_on_the_page(running, form):
    proposal = propose(running, f"late {form}")
    answer = running.client.post(f"/v1/proposals/{proposal['id']}/rejection", json={"why": ""})
    assert answer.status_code == 200
    late = running.client.post(
        f"/knowledge/proposals/{proposal['id']}/{form}", data={"text_hash": proposal["text_hash"]}
    )
    assert late.status_code == 409
    assert "That was not taken" in late.text
    assert "rejected by local" in late.text
