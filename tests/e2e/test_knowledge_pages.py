"""The pages of what is known, in a real browser."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from markupsafe import escape
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Running, taken_in

PAGE = """# Tape library arm stuck

1. Look at the arm through the door.
2. If the arm is bent, call the vendor.
3. Otherwise restart the library with `library restart`.
"""


def upload(page: Page, name: str, text: str) -> None:
    """By the form, until its job is over."""
    page.goto("/knowledge/upload")
    file = {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}
    page.set_input_files("#files", [file])
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/knowledge/jobs/*")
    expect(page.locator("[data-final]")).to_be_visible(timeout=60_000)
    expect(page.locator("[data-field=status]")).to_have_text("done")


def block(page: Page, words: str) -> Locator:
    """The item or paragraph of an owner's page that begins with these words."""
    return page.locator(".own [data-block]", has_text=words).first


def forget(running: Running, document: str) -> None:
    """Whoever comes next has the platform without it."""
    roots = running.client.get("/v1/roots").json()
    root = next(each["path"] for each in roots if each["is_upload"])
    data = {"root": root, "document": document}
    running.client.post("/knowledge/forget", data=data)
    taken_in(running.client, document, is_there=False)


HUMMING = """# Cable duct hums

1. Listen at the duct.
2. If it hums, tighten the clamp.
3. Note the hour.
"""


@pytest.fixture
def read_page(running: Running) -> Iterator[str]:
    """The text hash of a page whose reading nobody approved, with a doubt."""
    file = {"files": ("cable-duct.md", HUMMING.encode(), "text/markdown")}
    running.client.post("/v1/documents", files=file).raise_for_status()
    taken_in(running.client, "cable-duct.md")
    contents = running.client.get("/v1/contents/cable-duct.md").json()
    arm = {
        "when": "Does it hum?",
        "at": [[4, 4]],
        "steps": [{"do": "Tighten the clamp", "id": "n3", "at": [[4, 4]]}],
    }
    steps = [
        {"do": "Listen at the duct", "id": "n1", "at": [[3, 3]]},
        {"choice": "exclusive", "id": "n2", "arms": [arm], "at": [[4, 4]]},
        {"do": "Note the hour", "id": "n4", "at": [[5, 5]]},
    ]
    doubt = {
        "id": "d1",
        "kind": "step",
        "node": "n4",
        "question": "Is this a step?",
        "answers": [{"text": "As read"}, {"text": "It is none", "replace": []}],
    }
    procedures = [{"title": "Cable duct hums", "at": [[1, 5]], "steps": steps}]
    reading = {"procedures": procedures, "doubts": [doubt]}
    text_hash = contents["document"]["text_hash"]
    running.client.put(f"/v1/readings/{text_hash}", json=reading).raise_for_status()
    yield text_hash
    forget(running, "cable-duct.md")


def test_a_document_is_uploaded_found_checked_approved_and_forgotten(page, running):
    upload(page, "tape-arm.md", PAGE)
    page.goto("/knowledge/documents?text=tape+arm")
    page.get_by_role("link", name="Tape library arm stuck").click()
    expect(page.locator("#L3")).to_contain_text("Look at the arm")
    page.get_by_role("link", name="Its reading").click()

    page.wait_for_url("**/knowledge/readings/*")
    page.wait_for_load_state()  # what hovers needs the script
    look = block(page, "Look at the arm")
    look.hover()
    expect(page.locator(".drawn a.lit")).to_contain_text("Look at the arm")
    drawn = page.locator(".drawn a[data-step]")
    drawn.filter(has_text="estart the library").hover()
    expect(page.locator(".own .lit")).to_contain_text("restart the library")

    page.get_by_text("Edit what is stored").click()
    expect(page.locator("#notation")).to_be_visible()
    page.get_by_role("button", name="The boxes are right").click()
    expect(page.get_by_text("its boxes approved by local")).to_be_visible()
    page.get_by_role("button", name="Its decisions too").click()
    expect(page.get_by_text("its boxes approved by")).to_have_count(0)
    expect(page.locator(".verdict").get_by_text("approved by local")).to_be_visible()
    expect(page.locator(".history li").first).to_contain_text("Approved")
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="The boxes are right")).to_be_visible()
    page.get_by_role("button", name="Its decisions too").click()
    expect(page.locator(".verdict").get_by_text("approved by local")).to_be_visible()

    page.goto(f"/knowledge/document/{quote('tape-arm.md')}")
    page.get_by_role("link", name="Forget this document").click()
    expect(page.get_by_text("1 approved procedure will be lost")).to_be_visible()
    page.get_by_role("button", name="Forget").click()
    expect(page.locator("[data-final]")).to_be_visible(timeout=60_000)
    assert running.client.get("/v1/contents/tape-arm.md").status_code == 404


WRONG = """# Coolant pump stands still

1. Look at the lamp of the pump.
2. If the lamp is red, swap the fuse.
3. Note the hour.
"""


def test_a_condition_is_set_by_pointing_with_keys_and_undone(page, running):
    upload(page, "coolant-pump.md", WRONG)
    document = running.client.get("/v1/contents/coolant-pump.md").json()["document"]
    address = f"/v1/readings/{document['text_hash']}"
    page.goto(f"/knowledge/readings/{document['text_hash']}")
    page.wait_for_load_state()
    swap, note = block(page, "If the lamp is red"), block(page, "Note the hour")
    note.focus()
    page.keyboard.press("k")
    expect(swap).to_be_focused()
    page.keyboard.press("o")
    expect(page.get_by_text("Tap the block that you mean")).to_be_visible()
    block(page, "Look at the lamp").click(position={"x": 200, "y": 8})
    expect(swap.get_by_role("button", name="Yes", exact=True)).to_be_focused()
    swap.get_by_text("another question or answer").click()
    swap.get_by_role("textbox", name="The question").fill("Is the lamp <b>red</b>?")
    swap.get_by_role("button", name="Yes", exact=True).click()
    expect(swap.locator(".chip.only-if")).to_have_text("only if “Is the lamp <b>red</b>?”: Yes")
    expect(page.locator(".drawing")).to_contain_text("Is the lamp <b>red</b>?")
    stored = running.client.get(address).json()["reading"]["procedures"][0]["steps"]
    assert stored[1]["arms"][0]["at"] == [[3, 3]]

    note.focus()
    page.keyboard.press("b")
    expect(note.get_by_role("checkbox")).not_to_be_checked()
    page.keyboard.press("u")
    expect(note.get_by_role("checkbox")).to_be_checked()
    page.keyboard.press("u")
    expect(page.locator(".chip.only-if")).to_have_count(0)
    expect(page.get_by_text("nobody has read it")).to_be_visible()
    forget(running, "coolant-pump.md")


def test_two_owners_at_once_one_is_refused_with_what_he_typed(browser, running, read_page):
    context = browser.new_context(base_url=running.url)
    page = context.new_page()
    page.goto(f"/knowledge/readings/{read_page}")
    page.wait_for_load_state()
    note = block(page, "Note the hour")
    note.get_by_role("link", name="Change").click()
    note.get_by_text("Join, move, add").click()
    note.get_by_label("A new note here").fill("Mind the clamp")
    key = note.get_attribute("data-block")
    other = {"edit": {"edit": "end", "block": key, "kind": "resolved"}}
    running.client.post(f"/v1/readings/{read_page}/block-edits", json=other).raise_for_status()
    note.get_by_role("button", name="Add the note").click()
    expect(page.get_by_role("alert")).to_contain_text("has changed meanwhile")
    expect(note.get_by_label("A new note here")).to_have_value("Mind the clamp")
    note.get_by_role("button", name="Add the note").click()
    expect(note).to_contain_text("Note: Mind the clamp")
    context.close()


def test_changes_in_quick_succession_are_all_stored(page, running, read_page):
    page.goto(f"/knowledge/readings/{read_page}")
    page.wait_for_load_state()
    boxes = page.locator('.own .items .check[aria-checked="true"]')
    expect(boxes).to_have_count(3)
    page.evaluate("""() => {
      const [, ...all] = document.querySelectorAll('.own .items .check');
      for (const each of all) each.click();
    }""")
    expect(boxes).to_have_count(1, timeout=20_000)
    changes = running.client.get(f"/v1/readings/{read_page}/history").json()
    assert [each["what"] for each in changes[:3]] == ["replaced"] * 3
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(boxes).to_have_count(3, timeout=20_000)


def test_a_drawing_is_zoomed_and_fits(page, read_page):
    page.goto(f"/knowledge/readings/{read_page}")
    page.wait_for_load_state()
    svg = page.locator(".drawing svg")
    before = svg.bounding_box()["width"]
    drawing = page.locator(".drawing").bounding_box()
    assert svg.bounding_box()["height"] <= drawing["height"]
    page.get_by_role("button", name="Larger").click()
    assert svg.bounding_box()["width"] > before
    page.get_by_role("button", name="Fit", exact=True).click()
    drawing = page.locator(".drawing").bounding_box()
    assert svg.bounding_box()["height"] <= drawing["height"]
    assert svg.bounding_box()["width"] <= drawing["width"]


WINCH = """# Winch stalls

1. Look at the rope. Then grease it.
2. Note the hour.

   ```sh
   show clock
   ```
"""


def test_words_of_a_step_are_changed_with_keys_and_said_beside_undo(page, running):
    upload(page, "winch.md", WINCH)
    document = running.client.get("/v1/contents/winch.md").json()["document"]
    page.goto(f"/knowledge/readings/{document['text_hash']}")
    page.wait_for_load_state()
    rope, note = block(page, "Look at the rope"), block(page, "Note the hour")
    note.focus()
    page.keyboard.press("w")
    expect(note.get_by_role("textbox", name="Its words")).to_be_focused()
    page.keyboard.type("Write down the hour")
    page.keyboard.press("Enter")
    expect(page.locator(".drawing")).to_contain_text("Write down the hour")
    expect(page.locator(".verdict .last")).to_contain_text("now reads “Write down the hour”")
    expect(page.get_by_role("button", name="Copy")).to_be_visible()

    rope.get_by_role("link", name="Change").click()
    rope.get_by_role("button", name="Split into 2 steps").click()
    expect(page.locator(".drawn a[data-step]").nth(1)).to_contain_text("grease it")
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.locator(".drawing")).not_to_contain_text("Write down the hour")
    forget(running, "winch.md")


HOIST = """# Hoist stalls

## Rope

The rope is looked at and greased.

1. Look at the drum.

## Brake

The brake is looked at and oiled.

1. Note the hour.
"""


def test_questions_keep_their_numbers_and_a_double_click_answers_one(page, running):
    upload(page, "hoist.md", HOIST)
    document = running.client.get("/v1/contents/hoist.md").json()["document"]
    page.goto(f"/knowledge/readings/{document['text_hash']}")
    page.wait_for_load_state()
    count, rope = page.locator("[data-next]"), block(page, "The rope is")
    expect(count).to_have_text("0 of 2 answered: next")
    rope.get_by_role("button", name="No", exact=True).dblclick()
    expect(rope.locator(".answered")).to_contain_text("✓ 1 of 2: Is this a step: “The rope is")
    expect(count).to_have_text("1 of 2 answered: next")
    expect(page.get_by_text("Question 2 of 2")).to_be_visible()
    block(page, "The brake is").get_by_role("button", name="Yes", exact=True).click()
    expect(count).to_have_text("All 2 answered")
    page.get_by_role("button", name="Take back").click()
    expect(count).to_have_text("1 of 2 answered: next")
    expect(page.get_by_text("Question 2 of 2")).to_be_visible()
    forget(running, "hoist.md")


def test_a_block_is_changed_on_a_phone_without_a_script(browser, running, read_page):
    viewport = {"width": 375, "height": 700}
    context = browser.new_context(
        base_url=running.url, viewport=viewport, java_script_enabled=False, has_touch=True
    )
    page = context.new_page()

    def fits():
        page.wait_for_load_state()  # with its style
        width = page.evaluate("document.documentElement.scrollWidth")
        return width <= 375 or f"{page.url} is {width} wide"

    page.goto(f"/knowledge/readings/{read_page}")
    assert fits() is True
    note = block(page, "Note the hour")
    note.get_by_role("link", name="Change").click()
    assert fits() is True
    assert note.get_by_role("link", name="Close").bounding_box()["height"] >= 44
    note.get_by_label("This is a note of").select_option(label="Listen at the duct.")
    note.get_by_role("button", name="Make it a note").click()
    expect(note.locator(".chip.note")).to_have_text("note of “Listen at the duct.”")
    assert fits() is True
    expect(page.locator(".drawing").first).to_contain_text("+1 note")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".drawing").first).not_to_contain_text("+1 note")
    note.get_by_role("checkbox").click()
    expect(note.get_by_role("checkbox")).not_to_be_checked()
    context.close()


def test_a_procedure_that_changed_meanwhile_is_not_approved(page, running, read_page):
    page.goto(f"/knowledge/readings/{read_page}")
    detail = running.client.get(f"/v1/readings/{read_page}").json()
    reading = detail["reading"] | {"reader": "person"}
    reading["procedures"][0]["title"] += " again"
    running.client.put(f"/v1/readings/{read_page}", json=reading).raise_for_status()
    answer = running.client.post(
        f"/knowledge/readings/{read_page}/approvals",
        data={"procedure": "0", "revision": detail["revision"], "kind": "workflow"},
    )
    assert answer.status_code == 409
    assert "has changed meanwhile" in answer.text


def test_what_cannot_be_read_as_a_reading_stays_in_its_field(running):
    (row, *_) = running.client.post("/v1/readings/waiting", json={}).json()["readings"]
    for typed, expected in (
        ('{"procedures": [} <b>', "no JSON"),
        ('{"procedures": [{"title": 7}]}', "procedures.0"),
        ("[1]", "expected an object"),
    ):
        answer = running.client.post(
            f"/knowledge/readings/{row['text_hash']}", data={"reading": typed, "revision": "any"}
        )
        assert answer.status_code == 422
        assert expected in answer.text
        assert str(escape(typed)) in answer.text


def test_a_doubt_is_settled_by_a_button(page, read_page):
    page.goto(f"/knowledge/readings/{read_page}")
    doubts = page.locator(".asked")
    before = doubts.count()
    assert before > 0
    doubts.first.get_by_role("button").first.click()
    expect(doubts).to_have_count(before - 1)
    page.get_by_role("button", name="Undo").click()
    expect(doubts).to_have_count(before)


def test_a_document_tells_which_ticket_rests_on_it_and_an_incident_what_is_around(
    page, running, example
):
    ticket = running.walked(example("alertmanager/bgp-down"))
    workflow = running.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    cited = next(step["citations"][0] for step in workflow["steps"] if step.get("citations"))
    page.goto(f"/knowledge/document/{quote(cited['document_id'])}")
    expect(page.locator(f"#L{cited['start_line']}")).to_have_class(re.compile("rests"))
    resting = page.locator(f"a[href='/tickets/{ticket['id']}']")
    expect(resting).to_be_visible()
    page.locator("a[href^='/knowledge/incidents/']").first.click()
    expect(page.get_by_role("heading", name="Mitigation steps")).to_be_visible()
    expect(page.get_by_role("heading", name="Around it")).to_be_visible()


def test_what_nothing_fits_is_a_gap_with_its_tickets(page, running, example):
    ticket = running.walked(example("generic/nothing-fits"))
    page.goto("/knowledge/coverage")
    page.get_by_role("link", name=ticket["alert_name"] or ticket["title"]).first.click()
    expect(page.locator(f"a[href='/tickets/{ticket['id']}']")).to_be_visible()
