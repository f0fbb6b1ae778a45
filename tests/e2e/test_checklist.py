"""A page that nobody has read, worked off on its ticket: boxes, notes, what does not apply."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from services.workflow.model import WorkflowKind

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def ticket(running, example):
    """A ticket on an example page that comes without a reading; its boxes bear no marks."""
    body = example("generic/flapping-link")
    body["external_id"] = "NET-CHECKLIST"
    ticket = running.walked(body)
    assert ticket["kind"] == WorkflowKind.CHECKLIST
    for each in running.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()["steps"]:
        address = f"/v1/workflows/{ticket['workflow_id']}/steps/{each['step']}"
        running.client.put(f"{address}/mark", json={})
    return ticket


@pytest.fixture
def worked(page, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    return page


def box(page, words):
    """The innermost box that says so."""
    return page.locator(".box").filter(has_text=words).last


def test_a_tick_is_taken_and_the_next_box_is_in_sight(worked):
    first = box(worked, "Count the changes")
    first.get_by_role("checkbox").click()
    expect(first.get_by_role("checkbox")).to_be_checked()
    second = box(worked, "Is it one port or many")
    expect(second).to_be_focused()
    expect(second.locator("> .lead")).to_be_in_viewport()
    expect(worked.get_by_role("group", name="The work on this workflow")).to_contain_text("1 of")
    first.get_by_role("checkbox").click()
    expect(first.get_by_role("checkbox")).not_to_be_checked()


def test_the_keyboard_ticks_and_goes_on(worked):
    first = box(worked, "Count the changes")
    first.get_by_role("checkbox").focus()
    worked.keyboard.press("Space")
    expect(box(worked, "Is it one port or many")).to_be_focused()
    worked.evaluate("scrollTo(0, 0)")
    worked.keyboard.press("n")
    expect(box(worked, "Is it one port or many").locator("> .lead")).to_be_in_viewport()


def test_what_does_not_apply_is_undone(worked):
    at = box(worked, "Compare auto-negotiation")
    at.get_by_label("Note, skip").click()
    at.get_by_role("button", name="Does not apply").click()
    expect(at.get_by_text("Does not apply", exact=False).first).to_be_visible()
    at.get_by_role("button", name="Undo").click()
    expect(at.get_by_role("button", name="Undo")).to_have_count(0)


def test_a_note_comes_to_who_else_looks_at_the_page(browser, running, worked, ticket):
    other = browser.new_context(base_url=running.url).new_page()
    other.goto(f"/tickets/{ticket['id']}")
    at = box(worked, "Was there a change on that port")
    at.get_by_label("Note, skip").click()
    at.get_by_label("What you see at").fill("The module was changed")
    at.get_by_role("button", name="Keep note").click()
    expect(box(other, "Was there a change on that port").locator(".seen")).to_contain_text(
        "The module was changed"
    )
    other.context.close()


def test_what_is_begun_stays_while_a_box_is_ticked(worked):
    at = box(worked, "Was there a change on that port")
    at.get_by_label("Note, skip").click()
    at.get_by_label("What you see at").fill("Half a sen")
    first = box(worked, "Count the changes")
    first.get_by_role("checkbox").click()
    expect(first.get_by_role("checkbox")).to_be_checked()
    expect(at.get_by_label("What you see at")).to_have_value("Half a sen")


def beside(page):
    """The page that stands beside the ticket's own."""
    return page.get_by_role("region", name="Optic reports low receive power")


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE])
def test_a_link_opens_the_page_that_it_means_and_ticks_stay_there(
    browser, running, ticket, viewport
):
    page = browser.new_context(base_url=running.url, viewport=viewport).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    link = page.locator(".item a").filter(has_text="Optic reports low receive power")
    link.click()
    expect(
        page.get_by_role("heading", name="Optic reports low receive power").first
    ).to_be_focused()
    first = beside(page).locator(".box").filter(has_text="Read the levels")
    was = first.get_by_role("checkbox").is_checked()
    first.get_by_role("checkbox").click()
    expect(first.get_by_role("checkbox")).to_be_checked(checked=not was)
    assert "beside=" in page.url
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.locator("#close-beside").click()
    expect(beside(page)).to_have_count(0)
    link.click()
    expect(first.get_by_role("checkbox")).to_be_checked(checked=not was)
    first.get_by_role("checkbox").click()
    expect(first.get_by_role("checkbox")).to_be_checked(checked=was)
    page.context.close()


def test_without_scripts_a_link_opens_the_page_beside(browser, running, ticket):
    page = browser.new_context(base_url=running.url, java_script_enabled=False).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    page.locator(".item a").filter(has_text="Optic reports low receive power").click()
    expect(beside(page)).to_be_in_viewport()
    page.locator("#close-beside").click()
    expect(beside(page)).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE])
def test_a_page_is_accessible_and_no_wider_than_its_screen(
    browser, running, ticket, scheme, viewport
):
    size = viewport or {"width": 1440, "height": 1000}
    page = browser.new_context(base_url=running.url, viewport=size, color_scheme=scheme).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    box(page, "Was there a change on that port").get_by_label("Note, skip").click()
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.context.close()


def test_without_scripts_a_box_is_ticked(browser, running, ticket):
    page = browser.new_context(base_url=running.url, java_script_enabled=False).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    box(page, "Count the changes").get_by_role("checkbox").click()
    expect(box(page, "Count the changes").get_by_role("checkbox")).to_be_checked()
    page.context.close()


def test_an_owner_says_that_a_box_is_none_and_the_page_is_made_again(worked, running, ticket):
    at = box(worked, "Reseat the module")
    done = box(worked, "Count the changes")
    done.get_by_role("checkbox").click()
    expect(done.get_by_role("checkbox")).to_be_checked()
    at.get_by_label("Note, skip").click()
    at.get_by_role("button", name="This is no step").click()
    expect(worked.get_by_text("Your word on the box is kept")).to_be_visible()
    workflow = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    key = next(step["node"] for step in workflow["steps"] if "Reseat the module" in step["text"])
    word = {"document_id": workflow["page"]["document_id"], "key": key, "is_step": None}
    worked.get_by_role("button", name="Make the page of this ticket again").click()
    row = worked.get_by_role("listitem").filter(has_text="Reseat the module").last
    expect(row.get_by_role("checkbox")).to_have_count(0, timeout=30_000)
    expect(done.get_by_role("checkbox")).to_be_checked()
    assert running.client.post("/v1/readings/boxes", json=word).status_code == 200
