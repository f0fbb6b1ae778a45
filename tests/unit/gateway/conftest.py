"""A gateway over fakes that answer what a test tells them to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient

from services.gateway.app import create_app, create_walk
from services.gateway.settings import GatewaySettings
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.database import Database
from services.kit.outbox import Outbox
from services.kit.settings import PlatformSettings
from tests.unit.gateway.fakes import FakePlanner, FakeRetrieval, FakeScorer


@dataclass
class Gateway:
    """The app's client, and the worker's side by hand."""

    client: TestClient
    database: Database
    outbox: Outbox
    walk: Walk
    retrieval: FakeRetrieval
    planner: FakePlanner
    scorer: FakeScorer

    def work(self) -> int:
        """Run every due task once, as a worker would; how many there were."""
        due = self.outbox.due(limit=1000)
        for key, *_ in due:
            self.outbox.run(key, self.walk.run, on_parked=park)
        return len(due)

    def post(self, body: Any, path: str = "/workflow", **arguments: Any) -> Any:
        """POST JSON and return the answer's JSON; it must have been accepted."""
        answer = self.client.post(path, json=body, **arguments)
        assert answer.status_code in {200, 202}, answer.text
        return answer.json()

    def ticket(self, ticket_id: str) -> Any:
        """The ticket as the API tells it."""
        return self.client.get(f"/v1/tickets/{ticket_id}").json()


@pytest.fixture
def gateway(make_gateway: Callable[..., Gateway]) -> Gateway:
    """A gateway with the settings' defaults, but quick to look."""
    return make_gateway()


@pytest.fixture
def make_gateway() -> Iterator[Callable[..., Gateway]]:
    """Makes gateways with other settings."""
    opened: list[Database] = []

    def make(**settings: Any) -> Gateway:
        database = Database.memory()
        opened.append(database)
        database.migrate("kit", "gateway")
        outbox = Outbox(database, max_attempts=3)
        retrieval, planner, scorer = FakeRetrieval(), FakePlanner(), FakeScorer()
        chosen = GatewaySettings(_env_file=None, **{"event_poll_s": 0.02, **settings})
        walk = create_walk(
            chosen,
            database=database,
            outbox=outbox,
            retrieval=retrieval,
            planner=planner,
            scorer=scorer,
        )
        app = create_app(
            chosen,
            PlatformSettings(_env_file=None),
            database=database,
            outbox=outbox,
            retrieval=retrieval,
        )
        client = TestClient(app, base_url="http://127.0.0.1")
        return Gateway(client, database, outbox, walk, retrieval, planner, scorer)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def alert() -> dict[str, Any]:
    """One firing alert, as Alertmanager sends it."""
    return {
        "status": "firing",
        "labels": {"alertname": "FanFailed", "severity": "critical", "device": "spine-01"},
        "annotations": {"summary": "Fan 2 of spine-01 failed", "description": "It stands still."},
        "startsAt": "2025-03-12T08:14:51.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.net/graph",
        "fingerprint": "5e6f7081a2b3c4d5",
    }


@pytest.fixture
def group(alert: dict[str, Any]) -> dict[str, Any]:
    """A group of that one alert."""
    return {
        "version": "4",
        "groupKey": "{}",
        "status": "firing",
        "receiver": "flowxpert",
        "alerts": [alert],
    }
