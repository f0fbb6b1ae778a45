"""The ticket page while one works: it opens where the work is, and what is done takes one line."""

import pytest
from playwright.sync_api import expect

LINE_HEIGHT = 60


@pytest.fixture
def ticket(running, example):
    """A ticket without marks."""
    body = example("alertmanager/fan-tray")
    body["alerts"][0]["fingerprint"] = "00000000000000cd"  # a shared one is a shared ticket
    ticket = running.walked(body)
    for each in running.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()["steps"]:
        address = f"/v1/workflows/{ticket['workflow_id']}/steps/{each['step']}"
        running.client.put(f"{address}/mark", json={})
    return ticket


@pytest.fixture
def worked(page, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    return page


def do_next(page):
    """Does what is next, at a choice by its last branch; returns the step's id on the page."""
    step = page.locator("li.step.next")
    at = step.get_attribute("id")
    button = step.locator("button.tick, .exits button").last
    button.click()
    expect(page.locator(f"#{at}.done, #{at}.next:has(.standing:text('Again'))")).to_have_count(1)
    return at


def test_what_is_done_is_one_line_and_its_words_open_on_demand(worked):
    before = worked.evaluate("document.documentElement.scrollHeight")
    done = do_next(worked)
    step = worked.locator(f"#{done}")
    assert step.bounding_box()["height"] < LINE_HEIGHT
    assert worked.evaluate("document.documentElement.scrollHeight") < before
    expect(step.locator(".cites")).not_to_be_visible()
    step.locator("summary").first.click()
    expect(step.locator(".cites")).to_be_visible()


def test_the_keyboard_goes_on_at_the_next_step(worked):
    worked.locator("li.step.next button.tick").focus()
    worked.keyboard.press("Enter")
    expect(worked.locator("#step-2.next")).to_be_focused()


def test_a_page_that_is_opened_again_begins_at_the_next_step(worked, ticket):
    for _ in range(3):
        do_next(worked)
    worked.goto("/")
    worked.goto(f"/tickets/{ticket['id']}")
    expect(worked.locator("li.step.next")).to_be_in_viewport()


def test_the_bar_stays_and_leads_to_what_is_next(worked):
    bar = worked.get_by_role("group", name="The work on this workflow")
    expect(bar).to_be_in_viewport()
    expect(bar).to_contain_text("0 of")
    do_next(worked)
    expect(bar).to_contain_text("1 of")
    worked.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    bar.get_by_role("link", name="Next").click()
    expect(worked.locator("li.step.next")).to_be_focused()


def test_after_the_last_step_the_page_asks_how_it_ended(worked):
    bar = worked.get_by_role("group", name="The work on this workflow")
    while worked.locator("li.step.next:not(:has(.standing:text('Again')))").count():
        do_next(worked)
    expect(bar).to_contain_text("How did it end?")
    expect(bar.get_by_role("button", name="This workflow was the answer")).to_be_visible()
    expect(bar.get_by_role("button", name="The fault is over")).to_be_visible()


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_the_first_step_is_on_the_first_screen(browser, running, ticket, size):
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_context(base_url=running.url, viewport=viewport).new_page()
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.locator("#step-1 .text")).to_be_in_viewport()
