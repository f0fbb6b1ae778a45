"""Commands with gaps: what is copied is what was filled in, and nothing half filled is copied."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Running
from tests.waiting import eventually

PAGE = """# Lamp of a bridge crane stays dark

Alert `CraneLampDark`.

1. Look at the lamp of the crane:

   ```sh
   cranectl describe lamp <lamp name> --hall $HALL
   ```

2. If the lamp shows `LOST`, start its driver anew:

   ```sh
   cranectl restart lamp <lamp name>
   ```

3. Look at its log; it shows lines like these:

   ```
   2026-03-02T10:11:12Z WARN lamp driver lost the bus
   ```

4. Graph the hours of light by using the following query:

   ```text
   lamp_hours_total{crane="<crane name>"}
   ```
"""
BODY = {
    "title": "CraneLampDark",
    "description": "The lamp of the bridge crane stays dark.",
    "labels": {"alertname": "CraneLampDark", "hall": "north-2"},
}


@pytest.fixture(scope="module")
def ticket_id(running: Running) -> str:
    """A ticket over a page whose commands have gaps."""
    files = {"files": ("crane-lamp.md", PAGE.encode(), "text/markdown")}
    job = running.client.post("/v1/documents", files=files)
    assert job.status_code == 202, job.text
    where = f"/v1/ingestions/{job.json()['id']}"
    eventually(lambda: running.client.get(where).json(), lambda now: now["status"] == "done")
    return str(running.walked(BODY)["id"])


@pytest.fixture
def opened(page: Page, ticket_id: str) -> Page:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/tickets/{ticket_id}")
    return page


def command(page: Page, begins: str) -> Locator:
    return page.locator("#work .command", has_text=begins).first


def lamp(command: Locator) -> Locator:
    return command.get_by_role("textbox", name="lamp name")


def copied(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_command_with_an_empty_gap_is_not_copied(opened: Page) -> None:
    opened.evaluate("navigator.clipboard.writeText('before')")
    look = command(opened, "cranectl describe lamp")
    look.get_by_role("button", name="Copy").click()
    expect(look.get_by_role("status")).to_have_text("Fill in <lamp name> first.")
    expect(lamp(look)).to_be_focused()
    assert copied(opened) == "before"


def test_what_is_filled_in_once_stands_in_each_command_and_is_copied(opened: Page) -> None:
    look, start = command(opened, "cranectl describe"), command(opened, "cranectl restart")
    lamp(look).fill("lamp-7")
    expect(lamp(start)).to_have_value("lamp-7")
    look.get_by_role("button", name="Copy").click()
    expect(look.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(opened) == "cranectl describe lamp lamp-7 --hall north-2"
    opened.reload()
    expect(lamp(command(opened, "cranectl restart"))).to_have_value("lamp-7")


def test_what_the_ticket_says_stands_in_its_gap_until_somebody_says_otherwise(opened: Page) -> None:
    look = command(opened, "cranectl describe")
    hall = look.get_by_role("textbox", name="hall")
    expect(hall).to_have_value("north-2")
    lamp(look).fill("lamp-7")
    hall.fill("south-1")
    opened.reload()
    look.get_by_role("button", name="Copy").click()
    expect(look.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(opened) == "cranectl describe lamp lamp-7 --hall south-1"
    hall.fill("")
    opened.reload()
    look.get_by_role("button", name="Copy").click()
    expect(look.get_by_role("status")).to_have_text("Fill in $HALL first.")


@pytest.mark.parametrize("value", ["a; reboot", "$(reboot)", "-f", "a b", "`id`", "x|tee"])
def test_what_a_shell_would_read_as_more_is_not_copied(opened: Page, value: str) -> None:
    opened.evaluate("navigator.clipboard.writeText('before')")
    start = command(opened, "cranectl restart")
    lamp(start).fill(value)
    start.get_by_role("button", name="Copy").click()
    expect(start.get_by_role("status")).to_contain_text("a shell would read more")
    assert copied(opened) == "before"
    lamp(start).fill("")


def test_what_changes_is_said_above_it_and_a_log_line_is_no_command(opened: Page) -> None:
    restart = opened.locator("#work li.item", has=opened.get_by_text("cranectl restart"))
    expect(restart.locator(".effect").first).to_be_visible()
    assert opened.locator(".command", has_text="lost the bus").count() == 0


def test_a_query_is_no_output_and_is_copied_with_its_gap_filled(opened: Page) -> None:
    query = command(opened, "lamp_hours_total")
    query.locator(".gap").fill("north-2")
    query.get_by_role("button", name="Copy").click()
    expect(query.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(opened) == 'lamp_hours_total{crane="north-2"}'
