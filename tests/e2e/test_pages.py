"""The pages in a real browser."""

import re

from playwright.sync_api import expect


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
