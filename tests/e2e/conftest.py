"""The whole platform in this process, with the example documents, at an address."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from tests.waiting import eventually

EXAMPLES = Path(__file__).parents[2] / "examples"
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Running:
    """A running platform and a client of it."""

    url: str
    client: httpx.Client

    def post(self, body: Any, path: str = "/workflow", **arguments: Any) -> httpx.Response:
        """Deliver a body."""
        return self.client.post(path, json=body, **arguments)

    def walked(self, body: Any) -> Any:
        """Deliver a body, wait for the end of its walk and return its ticket."""
        answer = self.post(body, params={"wait": 60})
        assert answer.status_code == 200, answer.text
        return self.client.get(answer.json()["status_url"]).json()


def taken_in(client: httpx.Client, document_id: str, *, is_there: bool = True) -> None:
    """Wait until a document is known, or is known no more, and the job that did it is over."""
    expected = 200 if is_there else 404

    def is_so() -> bool:
        has_status = client.get(f"/v1/documents/{document_id}").status_code == expected
        jobs = client.get("/v1/ingestions").json()
        return has_status and all(each["status"] in {"done", "failed"} for each in jobs)

    eventually(is_so)


def example_alert(name: str) -> Any:
    """An example body, such as `alertmanager/bgp-down`."""
    return json.loads((EXAMPLES / "alerts" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def ingested(shared: Path) -> Path:
    """A data folder with the example documents and their readings, as `flowxpert run` has them.

    Some worker has made it; it is to be copied.
    """
    folder = shared / "ingested"
    with (shared / "ingested.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = shared / "ingesting"
            with Embedded(PlatformSettings(_env_file=None, data_dir=made)) as platform:
                platform.ingestion.ingest_here(EXAMPLES / "documents")
                readings = (EXAMPLES / "readings.jsonl").read_bytes().splitlines()
                platform.ingestion.readings("ada").import_lines(readings, approve=True)
            made.rename(folder)
    return folder


@contextmanager
def started(ingested: Path, folder: Path) -> Iterator[Running]:
    """A platform on a copy of the ingested examples."""
    settings = PlatformSettings(
        _env_file=None, data_dir=shutil.copytree(ingested, folder / "data"), port=0
    )
    with Embedded(settings) as platform:
        platform.start()
        server = ServerThread(platform.app, host="127.0.0.1", port=0)
        server.start()
        with httpx.Client(base_url=server.url, timeout=90) as client:
            yield Running(server.url, client)
        server.stop()


@pytest.fixture(scope="session")
def running(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The platform, started once for all tests here that a worker runs."""
    with started(ingested, tmp_path_factory.mktemp("platform")) as running:
        yield running


@pytest.fixture
def example() -> Any:
    """Reads an example body by name."""
    return example_alert


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; of a module alone, as no other event loop runs beside it."""
    if not CHROMIUM.exists():
        pytest.skip("install Debian's chromium to test the pages")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, running: Running) -> Iterator[Page]:
    """A page that fails its test when a script or the security policy complains."""
    context = browser.new_context(base_url=running.url)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    yield page
    context.close()
    assert complaints == []
