"""What the page on execution says to try is done, command by command and click by click."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.blocks import ROOT, blocks
from tests.ports import free_port

PAGE = ROOT / "docs" / "execution.md"
STARTS_WITHIN_S = 60

TRY, _ = PAGE.read_text("utf-8").split("## The catalogue", 1)
BLOCKS = [each for each in blocks(PAGE) if each.line < TRY.count("\n")]
[SIMULATE], [INGEST, IMPORT, UP], [POST] = (list(each.commands()) for each in BLOCKS)
SIMULATED = BLOCKS[0].text.splitlines()[1:]
"""What the first command prints."""
_ASKS = re.search(r"> \*\*(.+?)\*\* `(.+?)`", TRY)
assert _ASKS
QUESTION, SENT = _ASKS.groups()


class Terminal:
    """Where the reader types, in a folder of their own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self._running: list[subprocess.Popen[str]] = []

    def run(self, command: str) -> str:
        """What it prints, once it is over."""
        words, env = self._words(command)
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def start(self, command: str, *more: str) -> subprocess.Popen[str]:
        """Let it run; it is ended with the test."""
        words, env = self._words(command)
        with (self.folder / f"printed-{len(self._running)}").open("w") as printed:
            process = subprocess.Popen(
                [*words, *more], cwd=self.folder, env=env, text=True, stdout=printed, stderr=printed
            )
        self._running.append(process)
        return process

    def printed(self, process: subprocess.Popen[str], last: str) -> list[str]:
        """What it has printed, once it has come to this."""
        path = self.folder / f"printed-{self._running.index(process)}"
        until = time.monotonic() + STARTS_WITHIN_S
        while last not in path.read_text():
            is_hopeless = process.poll() is not None or time.monotonic() > until
            assert not is_hopeless, path.read_text()
            time.sleep(0.1)
        return path.read_text().splitlines()

    def end(self) -> None:
        """As the reader does: Ctrl-C."""
        for process in reversed(self._running):
            process.send_signal(signal.SIGINT)
            process.wait(30)

    def _words(self, command: str) -> tuple[list[str], dict[str, str]]:
        """The command with its own variables, and with the port that is free here."""
        words = [
            each.replace("localhost:8080", f"127.0.0.1:{self.port}")
            for each in shlex.split(command)
        ]
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",
        }
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        if words[0] == "flowxpert":
            words[:1] = [sys.executable, "-m", "services.cli"]
        return words, env


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, free_port())
    yield terminal
    terminal.end()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_what_is_to_be_tried_in_five_minutes_ends_in_recovered(
    terminal: Terminal, page: Page
) -> None:
    network = terminal.start(SIMULATE)
    assert terminal.printed(network, SIMULATED[-1]) == SIMULATED
    terminal.run(INGEST)
    terminal.run(IMPORT)
    platform = terminal.start(UP, "--port", str(terminal.port))
    url = f"http://127.0.0.1:{terminal.port}"
    terminal.printed(platform, "Ctrl-C ends")
    [ticket] = json.loads(terminal.run(POST))["tickets"]

    page.goto(f"{url}/tickets/{ticket['id']}")
    page.get_by_role("button", name="What would a run send?").click()
    expect(page.locator("h1")).to_contain_text("Dry run")
    page.click("#approve-bindings")
    expect(page.locator("#approve-bindings")).to_have_count(0)
    page.check("input[name=confirms]")
    page.click("button[value=supervised]")
    expect(page.locator("#approval")).to_have_text(QUESTION, timeout=20_000)
    expect(page.locator("main")).to_contain_text(SENT)
    sent = (terminal.folder / "world" / "sent.jsonl").read_text()
    assert SENT.rpartition("; ")[2] not in sent
    page.get_by_role("button", name="Send it, once").click()
    expect(page.locator(".run-head .state")).to_contain_text("Recovered", timeout=30_000)
    expect(page.locator(".report")).to_contain_text("BGP state = Established")

    lines = [json.loads(line) for line in (terminal.folder / "world" / "sent.jsonl").open()]
    assert [each["line"] for each in lines].count(SENT.rpartition("; ")[2]) == 1
    [run] = [
        each
        for each in httpx.get(f"{url}/v1/runs", params={"ticket_id": ticket["id"]}).json()
        if each["mode"] == "supervised"
    ]
    assert run["outcome"] == "recovered"
