"""The strip with the question, in a browser: answered, not settled, gone; and a hand-over."""

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Running

TICKET = {"title": "Users report slow pages", "description": "Since noon rack 7 is slow."}


def opened(page: Page, running: Running, id_: str) -> str:
    ticket_id: str = running.walked(TICKET | {"id": id_})["id"]
    page.goto(f"/tickets/{ticket_id}")
    expect(page.locator("#questions .asked")).to_be_visible()
    return ticket_id


def test_there_is_one_strip_and_its_choices_are_in_reach(page: Page, running: Running) -> None:
    opened(page, running, "STRIP-1")
    expect(page.locator("#questions")).to_have_count(1)
    expect(page.locator("#questions .page-card button").first).to_be_in_viewport()


def test_one_tap_takes_another_page_and_the_others_stay_in_reach(
    page: Page, running: Running
) -> None:
    opened(page, running, "STRIP-6")
    other = page.locator("#questions .page-card").nth(1)
    title = other.locator("h3").inner_text().partition(" › ")[0]
    other.get_by_role("button", name="Take this page").click()
    expect(page.locator("#questions .page-taken")).to_contain_text(
        "chose this page", timeout=60_000
    )
    expect(page.locator("#questions .page-card.shown h3")).to_contain_text(title)
    expect(page.locator("#questions .page-card").first).to_be_hidden()
    page.get_by_text("Other pages").click()
    expect(page.locator("#questions .page-card").first).to_be_visible()


def test_words_that_settle_nothing_say_so_and_the_question_stays(
    page: Page, running: Running
) -> None:
    opened(page, running, "STRIP-2")
    question = page.locator("#questions .asked").inner_text()
    page.get_by_text("In your own words").click()
    page.get_by_label("Answer in your own words").fill("the night shift saw smoke")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("#questions .kept")).to_have_text(
        "“the night shift saw smoke” did not settle the question; it is kept with the ticket."
    )
    expect(page.locator("#questions .asked")).to_have_text(question)


def test_a_question_goes_when_its_branch_is_followed_below(page: Page, running: Running) -> None:
    opened(page, running, "STRIP-3")
    drain = page.get_by_role("region", name="Drain a leaf")
    drain.get_by_role("button", name="Take this page").click()
    expect(page.locator("#questions .page-taken")).to_be_visible()
    expect(page.locator("#questions .asked")).to_be_visible(timeout=60_000)
    ticket = running.client.get(page.url.replace("/tickets/", "/v1/tickets/")).json()
    question = ticket["clarifications"][-1]
    assert (question["about"], question["state"]) == ("steps", "open")
    expect(page.locator("#questions .asked")).to_have_text(question["question"])
    (decision,) = question["decisions"]
    step = page.locator("li.step.decision", has_text=decision).first
    step.locator("button[name=exit]").first.click()
    expect(page.locator("#questions .asked")).to_have_count(0)


def test_a_question_goes_when_the_fault_is_over(page: Page, running: Running) -> None:
    opened(page, running, "STRIP-4")
    page.get_by_role("button", name="The fault is over").first.click()
    expect(page.locator("#questions .asked")).to_have_count(0)


def test_a_rejected_workflow_is_folded_and_a_team_is_chosen(page: Page, running: Running) -> None:
    running.client.post("/v1/teams", json={"name": "Fabric"}).raise_for_status()
    opened(page, running, "STRIP-5")
    page.get_by_text("This workflow is not the answer").click()
    page.get_by_label("Why the workflow is not the answer").fill("another site")
    page.get_by_role("button", name="Reject it").click()
    folded = page.locator("#rejected-workflow")
    expect(folded.locator("summary").first).to_contain_text("another site")
    expect(folded.locator("input[type=checkbox], button").first).to_be_hidden()
    expect(page.get_by_text("▶ Next")).to_have_count(0)
    page.get_by_label("Team", exact=True).select_option("Fabric")
    page.get_by_role("button", name="Assign").click()
    expect(page.locator("#triage")).to_have_text("Handed over to the team Fabric")
