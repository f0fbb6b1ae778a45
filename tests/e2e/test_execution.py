"""From an alert to a change that somebody let happen, in a browser and in a terminal."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from services.deployment.embedded import Embedded
from services.kit.clock import Clock
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.simulator.faults import Fault, RepairEffect
from services.simulator.simulation import PAGES, READINGS, Simulation
from tests.e2e.conftest import Running
from tests.waiting import eventually

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")


class Network(Running):
    """A platform beside a simulated network."""

    simulation: Simulation
    alert_count = 0

    def ticket(self, fault: Fault) -> str:
        """The ticket of the fault's alert, once it has a workflow."""
        self.simulation.heal()
        self.simulation.inject(fault)
        self.alert_count += 1
        alert = fault.alert(self.simulation.world) | {
            "startsAt": f"2026-01-01T00:{self.alert_count:02}:00Z"
        }
        body = {"version": "4", "alerts": [alert]}
        receipt = self.post(body, "/workflow/alertmanager", params={"wait": 60}).json()
        return str(receipt["tickets"][0]["id"])

    def approve_bindings(self, ticket: str) -> None:
        """All that are proposed."""
        for each in self.client.get("/v1/bindings", params={"ticket_id": ticket}).json():
            if each["binding"]["tool"]:
                body = {"ticket_id": ticket, "step": each["step"], "binding": each["binding"]}
                assert self.client.post("/v1/bindings", json=body).status_code == 200

    def changes(self) -> list[str]:
        """What the devices were sent that changes them."""
        return [f"{each.device} {each.line}" for each in self.simulation.log.changes()]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    folder = tmp_path_factory.mktemp("network")
    clock = Clock(begins_at=time.time(), speed=10)
    with pytest.MonkeyPatch.context() as patch, Simulation(folder / "world", clock=clock) as world:
        patch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(world.folder))
        settings = PlatformSettings(_env_file=None, data_dir=folder / "data", port=0)
        with Embedded(settings) as platform:
            platform.ingestion.ingest_here(PAGES)
            platform.start()
            server = ServerThread(platform.app, host="127.0.0.1", port=0)
            server.start()
            with httpx.Client(base_url=server.url, timeout=90) as client:
                drawn = {"file": (READINGS.name, READINGS.read_bytes())}
                taken = client.post("/v1/readings/import?approve=true", files=drawn).json()
                assert not taken["refused"]
                running = Network(server.url, client)
                running.simulation = world
                yield running
            server.stop()


@pytest.fixture
def page(browser: Browser, network: Network) -> Iterator[Page]:
    context = browser.new_context(base_url=network.url)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert not errors


def test_a_run_in_the_browser_asks_before_it_changes_and_shows_that_it_helped(page, network):
    ticket, before = network.ticket(SHUT), len(network.changes())
    page.goto(f"/tickets/{ticket}")
    page.click("#dry-run")
    expect(page.locator("h1")).to_have_text(re.compile("Dry run: BgpSessionDown"))
    let_up = page.locator("li", has_text="Let it up")
    expect(let_up).to_contain_text("no neighbor 10.0.11.1 shutdown")
    expect(let_up).to_contain_text("taken back by bgp_session_shut")
    page.click("#approve-bindings")
    expect(page.locator("#approve-bindings")).to_have_count(0)
    page.check("input[name=confirms]")
    page.click("button[value=supervised]")
    expect(page.locator("#approval")).to_have_text("May this be sent to leaf-1?", timeout=20_000)
    assert len(network.changes()) == before
    page.click("#approve")
    expect(page.locator(".run-head .state")).to_contain_text("Recovered", timeout=30_000)
    assert network.changes()[before:] == ["leaf-1 no neighbor 10.0.11.1 shutdown"]
    expect(page.locator(".report")).to_contain_text("BGP state = Established")
    where = f"/tickets/{ticket}"
    ended = "run of the workflow ended: recovered"
    eventually(lambda: network.client.get(where).text, lambda text: ended in text)


def test_a_ticket_s_page_tells_what_evidence_says_before_anybody_asks(page, network):
    fault = Fault("bgp_session_shut", "leaf-3", "10.0.13.1")
    ticket, before = network.ticket(fault), len(network.changes())
    query = {"ticket_id": ticket}
    runs = eventually(
        lambda: network.client.get("/v1/runs", params=query).json(),
        lambda listed: listed and listed[0]["phase"] == "ended",
    )
    assert (runs[0]["requested_by"], runs[0]["mode"]) == ("the policy", "read_only")
    page.goto(f"/tickets/{ticket}")
    query = page.locator("li.step.decision", has_text="administratively shut down").first
    expect(query.locator(".looked")).to_have_text(re.compile("A look at leaf-3 says: shut = yes"))
    expect(query.locator("button[aria-pressed=true]")).to_have_count(0)
    assert len(network.changes()) == before


def test_a_refusal_leaves_the_step_to_a_person(page, network):
    ticket, before = network.ticket(SHUT), len(network.changes())
    network.approve_bindings(ticket)
    body = {"ticket_id": ticket, "mode": "supervised", "confirms_page": True}
    run = network.client.post("/v1/runs", json=body).json()
    page.goto(f"/runs/{run['id']}")
    page.locator("#deny").click(timeout=20_000)
    expect(page.locator("#question")).to_contain_text("refused by local", timeout=20_000)
    page.get_by_role("button", name="Hand over").click()
    expect(page.locator(".run-head .state")).to_contain_text("Handed over", timeout=20_000)
    assert len(network.changes()) == before


def test_what_no_page_tells_is_done_by_hand_and_by_leave(page, network):
    ticket, before = network.ticket(SHUT), len(network.changes())
    page.goto(f"/tickets/{ticket}")
    page.get_by_role("link", name="Something else, by hand").click()
    page.select_option("select[name=tool]", "bgp_session_enable")
    page.get_by_role("button", name="Show what it needs").click()
    expect(page.locator("select[name=target]")).to_have_value("leaf-1")
    expect(page.locator("input[name='argument.neighbor']")).to_have_value("10.0.11.1")
    page.fill("input[name='argument.asn']", "65001")
    page.click("#start-by-hand")
    expect(page.locator("#approval")).to_have_text("May this be sent to leaf-1?", timeout=20_000)
    page.click("#approve")
    expect(page.locator(".run-head .state")).to_contain_text("Recovered", timeout=30_000)
    assert network.changes()[before:] == ["leaf-1 no neighbor 10.0.11.1 shutdown"]


def test_how_a_step_is_carried_out_is_said_in_a_form(page, network):
    ticket = network.ticket(SHUT)
    run = network.client.post("/v1/runs", json={"ticket_id": ticket}).json()
    step = next(each["id"] for each in run["steps"] if each["text"] == "Look at the session again")
    page.goto(f"/runs/{run['id']}/bindings/{step}")
    page.select_option("select[name=tool]", "ping")
    page.get_by_role("button", name="Show what it needs").click()
    page.select_option("select[name='origin.neighbor']", "label:neighbor")
    page.select_option("select[name='origin.count']", "given")
    page.fill("input[name='value.count']", "99")
    page.get_by_role("button", name="Approve this").click()
    expect(page.locator("body")).to_contain_text("count lies in 1.0 to 20.0")
    page.go_back()
    page.fill("input[name='value.count']", "5")
    page.get_by_role("button", name="Approve this").click()
    page.wait_for_url(f"**/runs/{run['id']}#step-{step}")
    bindings = network.client.get("/v1/bindings", params={"ticket_id": ticket}).json()
    bound = next(each for each in bindings if each["step"] == step)
    assert bound["approved_by"] == "local"
    assert bound["binding"]["arguments"]["count"] == {"origin": "given", "value": "5"}
    body = {"ticket_id": ticket, "step": step, "binding": _look(bindings)}
    assert network.client.post("/v1/bindings", json=body).status_code == 200


def _look(bindings):
    return next(each["binding"] for each in bindings if each["text"] == "Look at the session")


def test_a_change_that_did_not_help_opens_the_ticket_again(network):
    ticket = network.ticket(Fault("bgp_session_shut", "leaf-1", "10.0.11.1", RepairEffect.NOTHING))
    network.approve_bindings(ticket)
    network.client.post(f"/v1/tickets/{ticket}/resolution")
    body = {"ticket_id": ticket, "mode": "supervised", "confirms_page": True}
    run = network.client.post("/v1/runs", json=body).json()
    where = f"/v1/runs/{run['id']}"

    def goes_on() -> dict[str, Any]:
        now = network.client.get(where).json()
        if now["approval"]:
            leave = {"digest": now["approval"]["digest"]}
            network.client.post(f"{where}/approval", json=leave)
        if now["question"]:
            answer = {"question": now["question"]["seq"], "option": "hand over"}
            network.client.post(f"{where}/answer", json=answer)
        return now

    run = eventually(goes_on, lambda now: now["phase"] == "ended")
    assert run["outcome"] == "handed_over"
    eventually(
        lambda: network.client.get(f"/v1/tickets/{ticket}").json(),
        lambda now: now["resolved_at"] is None,
    )


def test_a_run_in_a_terminal_asks_there(network):
    ticket, before = network.ticket(SHUT), len(network.changes())
    network.approve_bindings(ticket)
    command = [sys.executable, "-m", "services.cli", "execute", ticket, "--url", network.url]
    dry = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "router bgp <asn>; no neighbor 10.0.11.1 shutdown on leaf-1" in dry.stdout
    assert len(network.changes()) == before
    done = subprocess.run(
        [*command, "--mode", "supervised", "--this-is-the-page"],
        input="y\n",
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert "Send it?" in done.stdout, done.stdout + done.stderr
    assert "**Recovered: what was changed was seen to work.**" in done.stdout
    assert len(network.changes()) == before + 1


def test_all_runs_are_stopped_and_let_go_on_by_a_click(page, network):
    page.goto("/runs")
    page.get_by_text("Stop all runs", exact=True).click()
    page.fill("input[name=why]", "a storm")
    page.get_by_role("button", name="Stop all runs now").click()
    expect(page.locator("main")).to_contain_text("All runs stand still")
    ticket, before = network.ticket(SHUT), len(network.simulation.log.sent())
    run = network.client.post("/v1/runs", json={"ticket_id": ticket, "mode": "read_only"}).json()
    where = f"/v1/runs/{run['id']}"
    eventually(lambda: network.client.get(where).json(), lambda now: "stand still" in now["why"])
    assert len(network.simulation.log.sent()) == before
    page.get_by_role("button", name="Let them go on").click()
    eventually(lambda: len(network.simulation.log.sent()) > before)
    network.client.post(f"{where}/cancellation", json={})
