"""The pages in a real browser."""

import re

import pytest
from playwright.sync_api import expect

SCRIPT = "<img src=x onerror=\"document.title='broken in'\"><script>document.title='in'</script>"


def test_a_ticket_shows_its_drawn_workflow_its_steps_and_its_five_scores(page, running, example):
    ticket = running.walked(example("alertmanager/bgp-down"))
    page.goto(f"/tickets/{ticket['id']}")
    steps = page.locator("li.step")
    assert steps.count() == ticket["candidates"][0]["steps"]
    expect(page.locator(".drawing svg [data-step]")).to_have_count(steps.count())
    expect(page.locator(".scores meter")).to_have_count(5)


def test_a_step_of_the_drawing_leads_to_its_place_in_the_list(page, running, example):
    ticket = running.walked(example("alertmanager/bgp-down"))
    page.goto(f"/tickets/{ticket['id']}")
    page.locator(".drawing a").nth(1).click()
    expect(page).to_have_url(re.compile(r"#step-2$"))
    expect(page.locator("#step-2")).to_be_in_viewport()


def test_a_click_on_a_citation_opens_the_source_at_its_lines(page, running, example):
    ticket = running.walked(example("alertmanager/bgp-down"))
    page.goto(f"/tickets/{ticket['id']}")
    citation = page.locator("a.cite").first
    citation.click()
    dialog = page.locator("dialog#source")
    expect(dialog).to_be_visible()
    expect(dialog.locator(".cited").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(citation).to_be_focused()


def test_without_scripts_a_citation_is_a_page_of_its_own(browser, running, example):
    ticket = running.walked(example("alertmanager/bgp-down"))
    context = browser.new_context(base_url=running.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/tickets/{ticket['id']}")
    page.locator("a.cite").first.click()
    expect(page.locator(".listing .cited").first).to_be_visible()
    context.close()


def test_another_candidate_is_shown_on_request(page, running):
    ticket = running.walked({"id": "TWO-1", "title": "BGP and CRC errors on link"})
    assert len(ticket["candidates"]) > 1
    page.goto(f"/tickets/{ticket['id']}")
    page.get_by_role("heading", name="Candidates side by side").click()
    page.locator(".candidates a").nth(1).click()
    expect(page.locator(".candidates [aria-current]")).to_have_count(1)
    expect(page.get_by_text("back to the best candidate")).to_be_visible()


def test_the_list_shows_a_new_ticket_by_itself(page, running):
    with page.expect_response("**/v1/events"):
        page.goto("/")
    running.post({"id": "LIVE-1", "title": "Fan tray of leaf-77 reports a fault"})
    expect(page.get_by_role("link", name="Fan tray of leaf-77")).to_be_visible(timeout=60_000)


def test_a_ticket_that_is_being_walked_shows_its_workflow_when_it_is_there(page, running, example):
    body = example("alertmanager/low-light")
    body["alerts"][0]["fingerprint"] = "00000000000000bb"
    ticket_id = running.post(body).json()["id"]
    page.goto(f"/tickets/{ticket_id}")
    expect(page.locator("li.step").first).to_be_visible(timeout=20_000)


def test_a_refused_ticket_says_so(page, running, example):
    ticket = running.walked(example("generic/nothing-fits"))
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.get_by_role("heading", name="Nothing known fits")).to_be_visible()


def test_a_ticket_that_may_not_fit_says_so_and_why(page, running):
    ticket = running.walked(
        {
            "title": "Neighbour session keeps dropping",
            "description": "Every few minutes the routing session to the provider resets.",
        }
    )
    page.goto(f"/tickets/{ticket['id']}")
    banner = page.get_by_role("region", name="Closest known page, not sure that it is the one")
    expect(banner).to_be_visible()
    expect(banner.get_by_role("listitem").first).to_be_visible()
    expect(page.locator("li.step").first).to_be_visible()


def test_markup_in_a_ticket_is_shown_and_does_nothing(page, running):
    fields = ("id", "title", "description", "severity", "alert_name", "url")
    body = dict.fromkeys(fields, SCRIPT) | {"labels": {SCRIPT: SCRIPT}}
    ticket_id = running.post(body).json()["id"]
    for path in ("/", f"/tickets/{ticket_id}"):
        page.goto(path)
        expect(page.get_by_text("<script>").first).to_be_visible()
        assert page.locator("img[src=x]").count() == 0
        assert page.title() not in {"in", "broken in"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(browser, running, example, scheme):
    ticket = running.walked(example("alertmanager/bgp-down"))
    viewport = {"width": 375, "height": 700}
    context = browser.new_context(base_url=running.url, viewport=viewport, color_scheme=scheme)
    page = context.new_page()
    for path in ("/", f"/tickets/{ticket['id']}"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
    context.close()


def test_the_keyboard_reaches_the_first_ticket_and_opens_it(page, running, example):
    running.walked(example("alertmanager/bgp-down"))
    page.goto("/")
    page.wait_for_load_state()
    page.keyboard.press("j")
    expect(page.locator(".what a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/tickets/*")
