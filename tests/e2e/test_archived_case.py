"""A resolved ticket helps the next one like it to its page, on the whole platform."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.retrieval.resolved import LOOK_EVERY_S
from services.serving.embedded import Embedded
from tests.e2e.conftest import Running, example_alert

VAGUE = {"title": "leaf-12 runs out of memory, telemetry grows"}


@pytest.fixture
def running(ingested: Path, tmp_path: Path) -> Iterator[Running]:
    """A platform of its own: what it archives must not reach other tests."""
    folder = shutil.copytree(ingested, tmp_path / "data")
    settings = PlatformSettings(_env_file=None, data_dir=folder, port=0)
    with Embedded.open(settings) as platform:
        platform.start()
        server = ServerThread(platform.app, host="127.0.0.1", port=0)
        server.start()
        with httpx.Client(base_url=server.url, timeout=90) as client:
            yield Running(server.url, client)
        server.stop()


def retrieved(running: Running, ticket_id: str) -> Any:
    """What the walk found, as its events tell."""
    lines = running.client.get(f"/v1/tickets/{ticket_id}/events").text.splitlines()
    at = lines.index("event: retrieved")
    told = next(line for line in lines[at - 2 : at + 3] if line.startswith("data: "))
    return json.loads(told.removeprefix("data: "))["facts"]


def archived(running: Running, ticket_id: str) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        events = running.client.get(f"/v1/tickets/{ticket_id}/events").text
        if "event: archived" in events:
            return True
        time.sleep(0.1)
    return False


def test_a_ticket_like_a_resolved_one_finds_the_page_that_helped(running: Running) -> None:
    before = retrieved(running, running.walked(VAGUE | {"id": "before"})["id"])
    assert not any("resolved ticket" in reason for reason in before["reasons"])

    body = example_alert("generic/memory-leak")
    solved = running.walked(body)
    assert (solved["status"], solved["fit"]) == ("planned", "sure")
    running.post({**body, "status": "resolved"})
    assert archived(running, solved["id"])
    time.sleep(LOOK_EVERY_S)

    again = running.walked(VAGUE | {"id": "after"})
    after = retrieved(running, again["id"])
    why = f"like the resolved ticket “{body['title']}”"
    assert any(reason.startswith(why) for reason in after["reasons"])
    assert after["confidence"] > before["confidence"]
    workflow = running.client.get(f"/v1/workflows/{again['workflow_id']}").json()["workflow"]
    first = running.client.get(f"/v1/workflows/{solved['workflow_id']}").json()["workflow"]
    assert workflow["provenance"]["document_ids"] == first["provenance"]["document_ids"]
