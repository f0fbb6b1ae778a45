"""A resolved ticket helps the next one like it to its page, on the whole platform."""

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from tests.e2e.conftest import Running, example_alert
from tests.waiting import eventually

VAGUE = {"title": "leaf-12 runs out of memory, telemetry grows"}


@pytest.fixture
def running(ingested: Path, tmp_path: Path) -> Iterator[Running]:
    """A platform of its own: what it archives must not reach other tests."""
    folder = shutil.copytree(ingested, tmp_path / "data")
    settings = PlatformSettings(_env_file=None, data_dir=folder, port=0)
    with Embedded(settings) as platform:
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
    event = next(line for line in lines[at - 2 : at + 3] if line.startswith("data: "))
    return json.loads(event.removeprefix("data: "))["facts"]


def test_a_ticket_like_a_resolved_one_finds_the_page_that_helped(running: Running) -> None:
    before = retrieved(running, running.walked(VAGUE | {"id": "before"})["id"])
    assert not any("was resolved" in reason for reason in before["reasons"])

    body = example_alert("generic/memory-leak")
    solved = running.walked(body)
    assert (solved["status"], solved["fit"]) == ("planned", "sure")
    running.post({**body, "status": "resolved"})
    events = f"/v1/tickets/{solved['id']}/events"
    eventually(lambda: "event: archived" in running.client.get(events).text)

    numbers, why = itertools.count(), "like a ticket that was resolved with it"

    def next_one() -> tuple[Any, Any]:
        ticket = running.walked(VAGUE | {"id": f"after-{next(numbers)}"})
        return ticket, retrieved(running, ticket["id"])

    # What is archived is looked for every few seconds.
    again, after = eventually(
        next_one, lambda pair: any(reason.startswith(why) for reason in pair[1]["reasons"])
    )
    assert after["confidence"] > before["confidence"]
    workflow = running.client.get(f"/v1/workflows/{again['workflow_id']}").json()["workflow"]
    first = running.client.get(f"/v1/workflows/{solved['workflow_id']}").json()["workflow"]
    assert workflow["provenance"]["document_ids"] == first["provenance"]["document_ids"]
