"""What somebody writes on a ticket stays, whatever others do meanwhile, in a real browser."""

import itertools
import time

import pytest
from playwright.sync_api import expect

from tests.waiting import eventually

_NUMBERS = itertools.count(1)
TICKET = {"title": "BGP session lost on leaf-12", "description": "Routes are gone since 14:05."}


OTHER = {"title": "CRC errors on Ethernet1/7 of leaf-3", "description": "Input errors go up."}


def walked(running, body):
    number = f"{next(_NUMBERS)}-{time.time_ns()}"
    return running.walked(body | {"id": f"W-{number}", "title": f"{body['title']} ({number})"})


@pytest.fixture
def ticket(running):
    return walked(running, TICKET)


@pytest.fixture
def other_ticket(running):
    """Its page is edited here: what is edited is a doubt of the page from then on."""
    return walked(running, OTHER)


def mark(running, workflow_id, step, **fields):
    address = f"/v1/workflows/{workflow_id}/steps/{step}/mark"
    answer = running.client.put(address, json=fields)
    assert answer.status_code == 200, answer.text


def answered(running, ticket):
    """The ticket walked again with an answer to its question."""
    question = ticket["clarifications"][-1]
    address = f"/v1/tickets/{ticket['id']}"
    path = f"{address}/clarifications/{question['id']}/answers"
    running.client.post(path, json={"choice": 1})
    before = ticket["workflow_id"]
    return eventually(
        lambda: running.client.get(address).json(),
        lambda now: now["status"] == "planned" and now["workflow_id"] != before,
    )


def typed(page, step="#step-1"):
    page.locator(f"{step} .more-work summary").click()
    field = page.locator(f"{step} input[name=seen]")
    field.click()
    page.keyboard.type("Half a note")
    return field


def test_an_answer_keeps_marks_and_the_note_somebody_is_at(page, running, ticket):
    mark(running, ticket["workflow_id"], "s1", state="done", seen="Seen at noon")
    with page.expect_response("**/events*"):
        page.goto(f"/tickets/{ticket['id']}")
    field = typed(page, "#step-2")
    page.evaluate("document.activeElement.setSelectionRange(2, 6)")
    shown = answered(running, ticket)
    work = page.locator("#work")
    expect(page.locator("#step-1 .carried")).to_be_visible()
    expect(page.locator("#step-1 .standing")).to_contain_text("Done")
    expect(page.locator("#step-1 .seen").first).to_contain_text("Seen at noon")
    expect(work).not_to_have_attribute("data-candidate", ticket["workflow_id"])
    expect(field).to_have_value("Half a note")
    expect(field).to_be_focused()
    selection = "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"
    assert page.evaluate(selection) == [2, 6]
    field.press("Enter")
    expect(page.locator("#step-2 .seen").first).to_contain_text("Half a note")
    stored = running.client.get(f"/v1/workflows/{shown['workflow_id']}/work").json()
    assert {"Seen at noon", "Half a note"} <= {each["seen"] for each in stored["steps"]}


def test_a_half_written_note_is_there_after_a_reload_and_gone_once_it_is_sent(page, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    typed(page)
    page.reload()
    field = page.locator("#step-1 input[name=seen]")
    expect(field).to_have_value("Half a note")
    expect(field).to_be_visible()
    field.press("Enter")
    expect(page.locator("#step-1 .seen").first).to_contain_text("Half a note")
    page.reload()
    expect(page.locator("#step-1 .seen").first).to_contain_text("Half a note")
    expect(page.locator("#drafts")).to_be_hidden()


def test_a_note_whose_step_is_gone_is_offered_and_can_be_discarded(page, running, other_ticket):
    ticket = other_ticket
    with page.expect_response("**/events*"):
        page.goto(f"/tickets/{ticket['id']}")
    typed(page)
    edit = {"edits": [{"edit": "change", "step": "s1", "text": "Something else entirely"}]}
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    assert running.client.post(address, json=edit).status_code == 201
    expect(page.locator("#step-1 .text")).to_contain_text("Something else entirely")
    drafts = page.locator("#drafts")
    expect(drafts).to_contain_text("Half a note")
    expect(page.locator("#step-1 input[name=seen]")).to_have_value("")
    drafts.get_by_role("button", name="Discard").click()
    expect(drafts).to_be_hidden()


def test_two_notes_at_one_step_at_one_moment_are_both_there(browser, page, running, ticket):
    context = browser.new_context(base_url=running.url)
    other = context.new_page()
    for each in (page, other):
        with each.expect_response("**/events*"):
            each.goto(f"/tickets/{ticket['id']}")
    field = typed(page)
    mark(running, ticket["workflow_id"], "s1", seen="The other's note")
    expect(page.locator("#step-1 .seen").first).to_contain_text("The other's note")
    expect(field).to_have_value("Half a note")
    field.press("Enter")
    expect(page.locator("#step-1 .seen").first).to_contain_text("Half a note")
    expect(page.locator("#step-1 .seen.also")).to_contain_text("The other's note")
    expect(other.locator("#step-1 .seen.also")).to_contain_text("The other's note")
    context.close()


def test_a_mark_on_text_that_changed_is_listed_and_not_under_the_new_text(
    page, running, other_ticket
):
    ticket = other_ticket
    mark(running, ticket["workflow_id"], "s1", state="done", seen="Seen before the edit")
    edit = {"edits": [{"edit": "change", "step": "s1", "text": "Something else entirely"}]}
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    assert running.client.post(address, json=edit).status_code == 201
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.locator("#step-1 .standing")).not_to_contain_text("Done")
    expect(page.locator("#step-1")).not_to_contain_text("Seen before the edit")
    expect(page.locator("#left-behind")).to_contain_text("Seen before the edit")


def test_a_corrected_reading_is_offered_and_taken_with_the_marks(page, running, other_ticket):
    ticket = other_ticket
    shown = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    document = shown["steps"][0]["citations"][0]["document_id"]
    (reading,) = running.client.get("/v1/readings", params={"document": document}).json()
    address = f"/v1/readings/{reading['text_hash']}"
    mark(running, ticket["workflow_id"], "s1", state="done", seen="Seen by the first")
    page.goto(f"/tickets/{ticket['id']}")
    expect(page.locator("#renew")).to_have_count(0)
    assert running.client.post(f"{address}/approvals", json={"procedure": 0}).status_code == 200
    page.reload()
    expect(page.get_by_text("The page's reading was")).to_be_visible()
    page.get_by_role("button", name="Take the new one").click()
    expect(page.locator("#step-1 .carried")).to_be_visible(timeout=30_000)
    expect(page.locator("#step-1 .seen").first).to_contain_text("Seen by the first")
    expect(page.locator("#renew")).to_have_count(0)
    assert running.client.post(f"{address}/undo").status_code == 200
    page.reload()
    expect(page.get_by_text("was taken back by")).to_be_visible()


def test_the_end_of_a_fault_is_taken_back(page, running, ticket):
    page.goto(f"/tickets/{ticket['id']}")
    page.get_by_role("button", name="The fault is over").click()
    page.get_by_role("button", name="It is not over").click()
    expect(page.get_by_role("button", name="The fault is over")).to_be_visible()
    assert running.client.get(f"/v1/tickets/{ticket['id']}").json()["resolved_at"] is None
