"""A platform learns from how its tickets ended, serves what it learned, and goes back."""

import json
import time
from itertools import product
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from services.cli import app
from services.contracts.retrieval import RetrieveRequest
from services.deployment.embedded import Embedded
from services.kit.fits import in_use as fits
from services.kit.settings import PlatformSettings

PAGES = Path(__file__).parents[2] / "examples" / "documents" / "wiki"
REQUEST = RetrieveRequest(title="Fan tray failed", description="The fan tray of a switch failed.")
DEVICES = ("leaf", "spine", "border", "core", "access", "lab", "edge", "oob", "stack", "pod", "dc")
WALKED_WITHIN_S = 60
WORDS = ("again", "since noon", "after the upgrade", "in the east", "once more", "overnight")


class Desk:
    """An engineer and what they do, over the API."""

    def __init__(self, platform):
        self.platform = platform
        self.client = TestClient(platform.app, base_url="http://127.0.0.1")

    def ticket(self, title):
        answer = self.client.post("/workflow", json={"id": title, "title": title})
        return answer.json()["id"]

    def reject(self, ticket_id):
        self.client.post(f"/v1/tickets/{ticket_id}/triage", json={"reason": "another fault"})

    def accept(self, ticket_id):
        shown = self.client.get(f"/v1/tickets/{ticket_id}").json()["workflow_id"]
        self.client.put(f"/v1/workflows/{shown}/acceptance", json={})

    def wait(self, tickets):
        until = time.monotonic() + WALKED_WITHIN_S
        while any(self._status(each) in {"received", "planning"} for each in tickets):
            assert time.monotonic() < until, "the tickets were not walked"
            time.sleep(0.1)

    def _status(self, ticket_id):
        return self.client.get(f"/v1/tickets/{ticket_id}").json()["status"]


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setattr(fits, "LOOK_EVERY_S", 0.0)
    return PlatformSettings(_env_file=None, data_dir=tmp_path, port=0, learn_every_hours=0)


def learn(settings, *arguments):
    done = CliRunner().invoke(app, ["learn", *arguments, "--data-dir", str(settings.data_dir)])
    assert done.exit_code == 0, done.output
    return done.output


def confidence(platform):
    return platform.retrieval.retrieve(REQUEST).confidence


def test_what_most_tickets_were_rejected_for_is_less_likely_from_then_on(settings):
    with Embedded(settings) as platform:
        platform.ingestion.ingest_here(PAGES)
        platform.start()
        desk, shipped = Desk(platform), confidence(platform)
        tickets = [
            desk.ticket(f"Fan tray of the {device} switch failed {words}")
            for device, words in product(DEVICES, WORDS)
        ]
        desk.wait(tickets)
        for number, each in enumerate(tickets):
            desk.accept(each) if number % 20 == 0 else desk.reject(each)

        printed = learn(settings)  # beside the running platform
        assert "taken: on 22 later ones" in printed, printed
        lower = confidence(platform)
        assert lower < shipped - 0.1

        (finding, *_) = json.loads(learn(settings, "status", "--json"))
        assert (finding["lessons"], finding["serving"]["learned"]) == (66, 44)
        assert "sources" not in finding["serving"]

        learn(settings, "back", "finding")
        assert confidence(platform) == pytest.approx(shipped)


def test_an_engineer_who_rejects_everything_teaches_nothing(settings):
    with Embedded(settings) as platform:
        platform.ingestion.ingest_here(PAGES)
        platform.start()
        desk = Desk(platform)
        tickets = [desk.ticket(f"Fan tray of the {device} switch failed") for device in DEVICES]
        desk.wait(tickets)
        for each in tickets:
            desk.reject(each)
        printed = learn(settings)
    assert "11 left out" in printed
    assert "too few" in printed
