"""A real browser signs in: at an issuer, with a key, and out again."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr
from sqlalchemy import delete, select

from services.deployment.embedded import Embedded
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.tables import AuditRow, SessionRow
from tests.e2e.conftest import example_alert
from tests.issuer import AUDIENCE, CLIENT, CLIENT_SECRET, ISSUER, Issuer
from tests.waiting import eventually

KEY = "the-key-of-the-platform"
REFUSED = "Failed to load resource: the server responded with a status of "
"""What the browser says of a page that is refused; it is ours, and shown."""


@dataclass
class Locked:
    """A platform that asks who calls, with an issuer that has one more page of its own."""

    url: str
    issuer: Issuer
    ticket_id: str
    database: Database


@pytest.fixture(scope="module")
def locked(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    folder = shutil.copytree(ingested, tmp_path_factory.mktemp("locked") / "data")
    issuer = Issuer()
    issuer.shows_page = True
    issuers = ServerThread(issuer.app, host="127.0.0.1", port=0)
    issuers.start()
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {
            "ISSUER": ISSUER,
            "AUDIENCE": AUDIENCE,
            "JWKS_URL": f"{issuers.url}/jwks",
            "CLIENT_ID": CLIENT,
            "CLIENT_SECRET": CLIENT_SECRET,
            "AUTHORIZATION_URL": f"{issuers.url}/authorize",
            "TOKEN_URL": f"{issuers.url}/token",
        }.items():
            environment.setenv(f"FLOWXPERT_OIDC_{name}", value)
        settings = PlatformSettings(
            _env_file=None, data_dir=folder, port=0, api_key=SecretStr(KEY), access_log=False
        )
        with Embedded(settings) as platform:
            platform.start()
            server = ServerThread(platform.app, host="127.0.0.1", port=0)
            server.start()
            body = example_alert("alertmanager/fan-tray")
            options = {"headers": {"x-api-key": KEY}, "params": {"wait": 60}, "timeout": 90}
            answer = httpx.post(f"{server.url}/workflow", json=body, **options)
            database = Database(settings.resolved_database_url)
            yield Locked(server.url, issuer, answer.json()["id"], database)
            database.close()
            server.stop()
    issuers.stop()


@pytest.fixture
def page(browser: Browser, locked: Locked) -> Iterator[Page]:
    """A page that fails its test when a script or the security policy complains."""
    context = browser.new_context(base_url=locked.url)
    page = context.new_page()
    complaints: list[str] = []

    def note(message: Any) -> None:
        if message.type == "error" and not message.text.startswith(REFUSED):
            complaints.append(message.text)

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", note)
    yield page
    context.close()
    assert complaints == []


def sign_in(page: Page) -> None:
    page.get_by_role("link", name="Sign in at login.example.org").click()
    page.get_by_role("link", name="I am ann").click()


def signed_out(page: Page) -> None:
    """Wait until the platform knows that the session is over; it asks once in a while."""
    eventually(lambda: page.request.get("/v1/tickets").status, lambda status: status == 401)


def test_a_person_signs_in_works_on_a_ticket_under_their_name_and_signs_out(
    page: Page, locked: Locked
) -> None:
    answer = page.goto(f"/tickets/{locked.ticket_id}")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(page)
    page.wait_for_url(f"{locked.url}/tickets/{locked.ticket_id}")
    expect(page.locator(".account .me")).to_have_text("ann")

    page.get_by_role("button", name="I have this").click()
    expect(page.locator(".holder")).to_contain_text("You have this")
    page.locator("li.step.next").get_by_role("button", name="Done").first.click()
    expect(page.locator(".how-far")).to_contain_text("1 of")
    page.locator("#history summary").click()
    expect(page.locator("#history")).to_contain_text("was done by ann")
    expect(page.locator("#history")).to_contain_text("Taken by ann")

    page.goto("/?holder=me")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody .held")).to_contain_text("you")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.goto("/").status == 401  # type: ignore[union-attr]
    page.go_back()
    expect(page.locator(".account")).to_have_count(0)
    with locked.database.session() as session:
        lines = session.execute(
            select(AuditRow.action, AuditRow.caller_id).where(AuditRow.who == "ann")
        ).all()
    assert {line.caller_id for line in lines} == {f"{ISSUER}#u-1"}
    assert {"session.begun", "ticket.taken", "ticket.marked", "session.ended"} <= {
        line.action for line in lines
    }


def test_a_key_signs_in_by_the_form_and_another_ones_ticket_is_asked_for(
    page: Page, locked: Locked
) -> None:
    keys = Keys(locked.database)
    key = keys.create("night-desk", frozenset({Scope.OPERATE}))
    page.goto("/")
    page.get_by_label("Or sign in with a key").fill(key[:-1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown, revoked or expired")
    page.get_by_label("Or sign in with a key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".account .me")).to_have_text("key night-desk")
    page.goto(f"/tickets/{locked.ticket_id}")
    page.get_by_text("Take it over").click()
    page.get_by_role("button", name="Take over from ann").click()
    expect(page.locator(".holder")).to_contain_text("You have this")
    page.locator("#history summary").click()
    expect(page.locator("#history")).to_contain_text("Taken over from ann by key night-desk")
    keys.revoke("night-desk")
    signed_out(page)
    assert page.goto("/").status == 401  # type: ignore[union-attr]
    expect(page.get_by_role("alert")).to_contain_text("session has ended")


def test_a_colleague_who_takes_it_is_seen_without_a_reload(page: Page, locked: Locked) -> None:
    page.goto(f"/tickets/{locked.ticket_id}")
    sign_in(page)
    page.get_by_text("Take it over").click()
    page.get_by_role("button", name="Take over from").click()
    expect(page.locator(".holder")).to_contain_text("You have this")
    page.evaluate("window.still = true")
    address = f"{locked.url}/v1/tickets/{locked.ticket_id}/holder"
    answer = httpx.put(address, json={"from": "ann"}, headers={"x-api-key": KEY})
    assert answer.status_code == 200
    expect(page.locator(".holder")).to_contain_text("api key has this")
    page.get_by_text("Take it over").click()
    page.get_by_role("button", name="Take over from api key").click()
    expect(page.locator(".holder")).to_contain_text("You have this")
    page.get_by_role("button", name="Give it back").click()
    expect(page.locator(".holder")).to_contain_text("Nobody has this")
    assert page.evaluate("window.still")


def test_a_list_that_loses_its_session_says_so_and_leads_back(page: Page, locked: Locked) -> None:
    page.goto("/?sort=oldest")
    sign_in(page)
    page.wait_for_url(f"{locked.url}/?sort=oldest")
    with locked.database.session() as session:
        session.execute(delete(SessionRow))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=15_000)
    sign_in(page)
    page.wait_for_url(f"{locked.url}/?sort=oldest")


def test_a_note_that_was_begun_stays_when_the_session_ends(page: Page, locked: Locked) -> None:
    page.goto(f"/tickets/{locked.ticket_id}")
    sign_in(page)
    step = page.locator("li.step.next")
    step.locator(".more-work summary").first.click()
    field = step.locator("textarea, input[type=text]").first
    field.fill("the tray sits askew")
    with locked.database.session() as session:
        session.execute(delete(SessionRow))
    signed_out(page)
    step.locator("form[data-quiet]:has(textarea, input[type=text]) button:visible").first.click()
    expect(page.locator("#refusal")).to_contain_text("session has ended")
    expect(field).to_have_value("the tray sits askew")


def test_who_cannot_see_and_who_has_a_phone_sign_in_too(page: Page, locked: Locked) -> None:
    def check() -> None:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert Axe().run(page).response["violations"] == [], scheme
        page.set_viewport_size({"width": 375, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert Axe().run(page).response["violations"] == []

    page.goto("/sign-in?problem=not-taken")
    check()
    locked.issuer.person = {
        "preferred_username": "ann.of-a-very-long-name" * 4,
        "roles": ["viewer"],
    }
    sign_in(page)
    expect(page.locator(".account .me")).to_be_visible()
    page.goto("/sign-in")
    check()
    page.goto(f"/tickets/{locked.ticket_id}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    expect(page.get_by_role("button", name="I have this")).to_have_count(0)
    locked.issuer.person = {"roles": ["responder"]}


def test_an_issuer_that_does_not_answer_is_told_of(page: Page, locked: Locked) -> None:
    locked.issuer.token_status = 503
    page.goto("/acceptance")
    sign_in(page)
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    assert "code=" not in page.url
    locked.issuer.token_status = 200
    sign_in(page)
    page.wait_for_url(f"{locked.url}/acceptance")
