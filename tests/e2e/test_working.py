"""Work on a workflow in a real browser: branch followed, step skipped, edited, accepted."""

import re

import pytest
from playwright.sync_api import expect

from tests.waiting import eventually


@pytest.fixture
def ticket(running, example):
    body = example("alertmanager/bgp-down")
    body["alerts"][0]["fingerprint"] = "00000000000000ab"  # a shared one is a shared ticket
    ticket = running.walked(body)
    for each in running.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()["steps"]:
        address = f"/v1/workflows/{ticket['workflow_id']}/steps/{each['step']}"
        running.client.put(f"{address}/mark", json={})
    return ticket


def marks_of(running, ticket):
    shown = running.client.get(f"/v1/tickets/{ticket['id']}").json()["workflow_id"]
    return running.client.get(f"/v1/workflows/{shown}/work").json()


def first_choice(page):
    return page.locator("li.step", has=page.locator("form.branches")).first


def test_a_branch_is_followed_and_the_others_are_left_aside(page, running, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    page.get_by_role("button", name="Step 1 is done").click()
    expect(page.locator("#step-1 .standing")).to_contain_text("Done")
    expect(page.locator("li.step.next")).to_have_count(1)
    choice = first_choice(page)
    choice.get_by_label("What you see").fill("Both ends are up")
    choice.locator("button[name=exit]").last.click()
    expect(page.locator("li.step.aside").first).to_be_visible()
    expect(page.locator(".how-far")).to_contain_text("left aside")
    assert page.locator(".drawing a.aside").count() == page.locator("li.step.aside").count()
    assert "Both ends are up" in {step["seen"] for step in marks_of(running, ticket)["steps"]}


def test_what_one_page_does_another_one_shows_by_itself(browser, page, running, ticket):
    other = browser.new_context(base_url=running.url).new_page()
    with other.expect_response("**/events*"):
        other.goto(f"/tickets/{ticket['id']}")
    page.goto(f"/tickets/{ticket['id']}")
    page.locator("#step-1 .more-work summary").click()
    page.get_by_label("Why step 1 is skipped").fill("Seen in the alert")
    page.locator("#step-1").get_by_role("button", name="Skip", exact=True).click()
    expect(other.locator("#step-1 summary").first).to_contain_text("because: Seen in the alert")
    other.context.close()


def test_a_click_in_the_list_lights_the_step_in_the_drawing(page, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    page.locator("#step-3 .text").click()
    expect(page.locator("#step-3")).to_have_class(re.compile(r"\blit\b"))
    expect(page.locator(".drawing a[data-step].lit")).to_have_attribute("href", "#step-3")


def test_a_step_is_edited_into_a_version_and_the_version_accepted(page, running, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    page.locator("#step-2 .more-work summary").click()
    page.locator("#step-2").get_by_role("link", name="Edit this step").click()
    page.get_by_label("What to do").fill("Ask the neighbour's team on the phone")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator("#step-2 .text")).to_contain_text("on the phone")
    expect(page.locator("#step-2 .unsourced")).to_be_visible()
    page.locator("#changes summary").click()
    expect(page.locator(".diff .changed").first).to_contain_text("text was")
    page.get_by_role("button", name="This workflow was the answer").click()
    expect(page.locator(".how-far .verdict.accepted")).to_be_visible()
    assert marks_of(running, ticket)["verdict"] == "accepted"


def test_an_edit_that_cannot_be_followed_is_refused_and_kept_in_the_form(browser, running, ticket):
    page = browser.new_context(base_url=running.url).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    step = first_choice(page)
    step.locator(".more-work summary").click()
    step.get_by_role("link", name="Edit this step").click()
    condition = page.locator(".edit input[name=condition]")
    other = condition.nth(1).input_value()
    condition.first.fill(other)
    page.get_by_role("button", name="Change the branch").first.click()
    expect(page.get_by_role("alert")).to_contain_text("2 exits for")
    expect(condition.first).to_have_value(other)
    page.context.close()


def test_without_scripts_a_step_is_ticked_and_edited(browser, running, ticket):
    context = browser.new_context(base_url=running.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/tickets/{ticket['id']}")
    page.get_by_role("button", name="Step 1 is done").click()
    expect(page.locator("#step-1 .standing")).to_contain_text("Done")
    page.locator("#step-2 .more-work summary").click()
    page.locator("#step-2").get_by_role("link", name="Edit this step").click()
    page.get_by_label("A new step behind this one").fill("Note the time")
    page.get_by_role("button", name="Add the step").click()
    expect(page.locator("#step-3 .text")).to_contain_text("Note the time")
    context.close()


def doubts_of(running, ticket):
    """The page that the ticket's first step comes from, and the doubts that the step has raised."""
    workflow = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    document = workflow["steps"][0]["citations"][0]["document_id"]
    (reading,) = running.client.get("/v1/readings", params={"document": document}).json()
    detail = running.client.get(f"/v1/readings/{reading['text_hash']}").json()
    doubts = detail["reading"].get("doubts", [])
    return reading, [each for each in doubts if each["id"] == f"ticket:{ticket['id']}:s1"]


def test_a_rejected_step_is_a_doubt_of_its_page_until_it_is_taken_back(page, running, ticket):
    address = f"/v1/workflows/{ticket['workflow_id']}/steps/s1/judgement"
    running.client.put(address, json={"verdict": "rejected", "word": "the command hangs"})
    reading, doubts = eventually(lambda: doubts_of(running, ticket), lambda each: each[1])
    assert "the command hangs" in doubts[0]["question"]
    page.goto(f"/knowledge/readings/{reading['text_hash']}")
    link = page.get_by_role("link", name="the ticket", exact=True)
    expect(link.first).to_have_attribute("href", f"/tickets/{ticket['id']}")
    running.client.put(address, json={"verdict": ""})
    eventually(lambda: doubts_of(running, ticket), lambda each: not each[1])


def test_what_is_begun_elsewhere_stays_when_a_step_is_done(page, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    page.locator("#step-2 .more-work summary").click()
    page.locator("#step-2").get_by_role("link", name="Edit this step").click()
    page.get_by_label("What to do").fill("Ask the neighbour's team")
    page.get_by_label("Why step 2 is skipped").fill("Half a rea")
    page.get_by_role("button", name="Step 1 is done").click()
    expect(page.locator("#step-1 .standing")).to_contain_text("Done")
    expect(page.get_by_label("What to do")).to_have_value("Ask the neighbour's team")
    expect(page.get_by_label("Why step 2 is skipped")).to_have_value("Half a rea")
    expect(page.get_by_label("Why step 2 is skipped")).to_be_visible()


def test_enter_in_what_is_seen_keeps_the_note_and_follows_no_branch(page, running, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    seen = first_choice(page).get_by_label("What you see")
    seen.fill("Both ends are up")
    seen.press("Enter")
    expect(first_choice(page).locator(".seen")).to_contain_text("Both ends are up")
    assert {step["branch"] for step in marks_of(running, ticket)["steps"]} <= {None}
