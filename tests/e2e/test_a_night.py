"""One incident from its alert to its end, as an on-call engineer goes through it in a browser."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

RUNBOOK = """# Badge reader of the cage blinks red

1. Look at the controller's log: `badgectl log`.
2. If the log says offline, restart the controller: `badgectl restart`.
3. Check whether the reader is green. If not, call the site manager.
"""
TITLE = "BGP session of leaf-88 to 10.255.8.2 is down"


def test_an_alert_is_worked_on_to_its_end(page: Page, running, example) -> None:
    body = example("alertmanager/bgp-down")
    body["alerts"][0] |= {"fingerprint": "00000000000000ee"}
    body["alerts"][0]["annotations"]["summary"] = TITLE
    body["alerts"][0]["labels"]["instance"] = "leaf-88"

    arrives_live(page, running, body)
    expect(page.locator(".drawing svg [data-step]").first).to_be_visible(timeout=60_000)
    opens_the_source_at_its_lines(page)
    answers_the_question(page)
    follows_a_branch(page)
    edits_and_accepts(page)
    history = page.locator("#history")
    expect(history).to_contain_text(re.compile("accepted", re.IGNORECASE))


def arrives_live(page: Page, running, body) -> None:
    with page.expect_response("**/v1/events*"):
        page.goto("/")
    running.post(body)
    page.get_by_role("link", name=TITLE).click(timeout=60_000)
    page.wait_for_url("**/tickets/*")


def opens_the_source_at_its_lines(page: Page) -> None:
    citation = page.locator("a.cite").first
    (lines,) = parse_qs(urlsplit(citation.get_attribute("href")).query)["lines"]
    citation.click()
    shown = page.locator("dialog#source .line.cited .number")
    expect(shown.first).to_have_text(lines.partition("-")[0])
    expect(shown.last).to_have_text(lines.rpartition("-")[2])
    page.keyboard.press("Escape")


def answers_the_question(page: Page) -> None:
    question = page.locator("#questions .asked").inner_text()
    page.locator("#questions .choices button").first.click()
    expect(page.locator("#questions .turns dt").first).to_have_text(question, timeout=60_000)
    expect(page.locator("li.step .settled").first).to_be_visible(timeout=60_000)


def follows_a_branch(page: Page) -> None:
    choice = page.locator("li.step", has=page.locator("form.branches")).first
    choice.locator("button[name=exit]").last.click()
    expect(page.locator("li.step.aside").first).to_be_visible()


def edits_and_accepts(page: Page) -> None:
    step = page.locator("#step-2")
    step.locator(".more-work summary").click()
    step.get_by_role("link", name="Edit this step").click()
    page.get_by_label("What to do").fill("Read the state aloud on the bridge call")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator("#step-2 .text")).to_contain_text("aloud on the bridge call")
    page.get_by_role("button", name="This workflow was the answer").click()
    expect(page.locator(".how-far .verdict.accepted")).to_be_visible()


def test_what_is_uploaded_answers_the_next_alert(page: Page, running) -> None:
    page.goto("/knowledge/upload")
    file = {"name": "badge.md", "mimeType": "text/markdown", "buffer": RUNBOOK.encode()}
    page.set_input_files("#files", [file])
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-field=status]")).to_have_text("done", timeout=60_000)
    ticket = running.walked({"id": "BADGE-1", "title": "Badge reader of the cage blinks red"})
    page.goto(f"/tickets/{ticket['id']}")
    answer = page.get_by_role("region", name="Badge reader of the cage blinks red")
    expect(answer.get_by_role("link", name="badge.md")).to_be_visible()
    expect(answer.get_by_role("checkbox")).to_have_count(3)
    expect(answer.get_by_text("badgectl restart").first).to_be_visible()
