"""How pages look and are used: contrast, names, keyboard, phone, themes, no foreign request."""

import html
import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Running, example_alert
from tests.unit.ingestion.proposing import page as proposed_page
from tests.unit.ingestion.proposing import run
from tests.waiting import eventually

PHONE = {"width": 375, "height": 700}
UNSURE = {
    "title": "Neighbour session keeps dropping",
    "description": "Every few minutes the routing session to the provider resets.",
}


def planned(running: Running) -> str:
    return running.walked(example_alert("alertmanager/bgp-down"))["id"]


def refused(running: Running) -> str:
    return running.walked(example_alert("generic/nothing-fits"))["id"]


def handed_over(running: Running) -> str:
    running.client.post("/v1/teams", json={"name": "Storage"}).raise_for_status()
    ticket_id = running.walked({"id": "HAND-1", **example_alert("generic/disk-full")})["id"]
    for path, body in (("triage", {"reason": "no disk"}), ("team", {"team": "Storage"})):
        running.client.request(
            "POST" if path == "triage" else "PUT", f"/v1/tickets/{ticket_id}/{path}", json=body
        ).raise_for_status()
    return ticket_id


def cited(running: Running) -> str:
    workflow = running.client.get(f"/v1/tickets/{planned(running)}").json()["workflow_id"]
    steps = running.client.get(f"/v1/workflows/{workflow}").json()["workflow"]["steps"]
    citation = next(each for step in steps for each in step["citations"])
    lines = f"{citation['start_line']}-{citation['end_line']}"
    return f"/sources/{citation['document_id']}?lines={lines}"


def all_walked(running: Running) -> None:
    waiting = "/v1/tickets?status=received&status=planning"
    eventually(lambda: running.client.get(waiting).json()["tickets"], lambda left: not left)


def linked(path: str, start: str) -> Callable[[Running], str]:
    """The first address that the page links to and that begins so."""

    def first_link(running: Running) -> str:
        text = running.client.get(path, headers={"accept": "text/html"}).text
        address = re.search(rf'href="({re.escape(start)}[^"]+)"', text)
        assert address, f"{path} links to no {start}"
        return html.unescape(address[1])

    return first_link


drawn = linked("/knowledge/document/runbooks/BgpSessionDown.md", "/knowledge/readings/")


def block(running: Running) -> str:
    reading = drawn(running)
    return linked(reading, f"{reading}?document=")(running)


def proposed(running: Running) -> str:
    """A page that waits, of one path."""
    body = proposed_page(runs=(run(),)).model_dump(mode="json")
    return str(running.post(body, "/v1/proposals").json()["id"])


PAGES: dict[str, Callable[[Running], str]] = {
    "list": lambda _running: "/",
    "held list": lambda _running: "/?severity=critical&text=a&sort=severity",
    "empty list": lambda _running: "/?text=there-is-no-such-thing",
    "planned": lambda running: f"/tickets/{planned(running)}",
    "not sure": lambda running: f"/tickets/{running.walked(UNSURE)['id']}",
    "refused": lambda running: f"/tickets/{refused(running)}",
    "handed over": lambda running: f"/tickets/{handed_over(running)}",
    "source": cited,
    "readings": lambda _running: "/knowledge/readings",
    "reading": drawn,
    "reading to begin": linked("/knowledge/readings", "/knowledge/readings/"),
    "block of a reading": block,
    "proposed pages": lambda running: proposed(running) and "/knowledge/proposals",
    "proposed page": lambda running: f"/knowledge/proposals/{proposed(running)}",
    "compose": lambda _running: "/compose",
    "documents": lambda _running: "/knowledge/documents",
    "document": lambda _running: "/knowledge/document/runbooks/BgpSessionDown.md",
    "incidents": lambda _running: "/knowledge/incidents",
    "incident": linked("/knowledge/incidents", "/knowledge/incidents/"),
    "coverage": lambda _running: "/knowledge/coverage",
    "upload": lambda _running: "/knowledge/upload",
    "acceptance": lambda _running: "/acceptance",
    "no such page": lambda _running: "/?cursor=x&sort=severity",
}
"""The address of every page; a new page has its line here."""


@pytest.fixture
def page(browser, running):
    """As elsewhere, but refusals are part of what is looked at."""
    context = browser.new_context(base_url=running.url)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    yield page
    context.close()
    assert [each for each in complaints if "status of 4" not in each] == []


def serious_violations(violations: list[dict]) -> list[str]:
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in violations
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_can_be_seen_and_read_aloud_fits_a_phone_and_asks_nobody_else(
    page, running, name
):
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(PAGES[name](running))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert serious_violations(Axe().run(page).response["violations"]) == [], scheme
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert serious_violations(Axe().run(page).response["violations"]) == [], "phone"
    assert requested
    assert {url for url in requested if not url.startswith(f"{running.url}/")} == set()


def background(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_a_chosen_theme_stays_and_is_there_before_anything_is_painted(page):
    page.emulate_media(color_scheme="light")
    page.goto("/")
    light = background(page)
    page.get_by_role("button", name="Theme: system").click()
    dark = background(page)
    assert light != dark
    page.add_init_script(
        "document.addEventListener('readystatechange', () => { window.early ??= "
        "document.documentElement.dataset.theme; })"
    )
    page.goto("/?text=a")
    assert (background(page), page.evaluate("early")) == (dark, "dark")
    page.get_by_role("button", name="Theme: dark").click()
    page.get_by_role("button", name="Theme: light").click()
    page.emulate_media(color_scheme="dark")
    assert background(page) == dark
    assert page.evaluate("localStorage.length") == 0


def test_keys_go_through_the_list_and_never_disturb_typing(page, running):
    for number in range(3):
        running.post({"id": f"KEY-{number}", "title": f"Keyed fault {number} of nothing known"})
    page.goto("/?text=keyed&sort=oldest")
    links = page.locator(".what a")
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(links.nth(2)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    page.keyboard.type("jk?/")
    expect(search).to_have_value("jk?/")
    expect(page.locator("#keys")).to_be_hidden()
    links.nth(1).focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("j")
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/tickets/*")


def test_what_is_chosen_stays_on_the_way_to_a_ticket_and_back(page, running):
    running.walked({"id": "BACK-1", "title": "Fault to come back from", "severity": "low"})
    page.goto("/")
    page.get_by_role("searchbox").fill("come back")
    page.keyboard.press("Enter")
    page.locator("#facet-severity").get_by_role("link", name="low").click()
    chosen = re.compile(r"/\?severity=low&text=come\+back$")
    expect(page).to_have_url(chosen)
    page.locator(".what a").click()
    page.wait_for_url("**/tickets/*")
    page.get_by_role("link", name="Incidents").click()
    expect(page).to_have_url(chosen)
    page.get_by_role("link", name="Clear all").click()
    expect(page).to_have_url(re.compile(r"/$"))


def test_a_list_that_is_renewed_keeps_focus_selection_scroll_and_what_is_open(page, running):
    for number in range(12):
        team = {"team": f"Desk {number}"}
        running.post({"id": f"MORPH-{number}", "title": f"Moving fault {number}", **team})
    all_walked(running)
    page.set_viewport_size({"width": 1200, "height": 300})
    with page.expect_response("**/v1/events"):
        page.goto("/?text=moving+fault&limit=8")
    page.locator("#facet-team summary").click()
    link = page.get_by_role("link", name="Moving fault 6", exact=True)
    link.focus()
    link.scroll_into_view_if_needed()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.found'))")
    at = link.bounding_box()["y"]
    running.post({"id": "MORPH-new", "title": "Moving fault that is new"})
    expect(page.locator(".what a").first).to_have_text("Moving fault that is new", timeout=30_000)
    expect(page.locator(".found")).to_contain_text("13")
    expect(link).to_be_focused()
    assert abs(link.bounding_box()["y"] - at) < 2
    expect(page.locator("#facet-team details")).to_have_attribute("open", "")
    assert page.evaluate("getSelection().toString()").strip() != ""


def test_a_printed_workflow_has_its_steps_branches_and_commands_and_nothing_to_press(page, running):
    page.goto(f"/tickets/{planned(running)}")
    page.emulate_media(media="print")
    expect(page.locator("li.step")).not_to_have_count(0)
    for part in ("li.step .text", ".exits", ".command pre", ".cites"):
        expect(page.locator(part).first).to_be_visible()
    expect(page.locator("li.decision .exits button, li.decision .exits a").first).to_be_visible()
    for part in (".bar", "input", ".copy", ".handing"):
        expect(page.locator(part).first).to_be_hidden()
    assert background(page) == "rgb(255, 255, 255)"
