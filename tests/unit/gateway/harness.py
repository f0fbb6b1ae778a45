"""A gateway over fakes, with the worker's side in a test's hands."""

from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient

from services.gateway.app import create_app, create_walk
from services.gateway.settings import GatewaySettings
from services.gateway.sources.settings import WebhookSettings
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.gateway.writeback.service import WRITE_BACK_TASK, WriteBack
from services.gateway.writeback.service import park as park_write_back
from services.gateway.writeback.settings import WriteBackSettings
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
    write_back: WriteBack

    def work(self) -> int:
        """Run every due task once, as a worker would; how many there were."""
        due = self.outbox.due(limit=1000)
        for key, task, _ in due:
            if task == WRITE_BACK_TASK:
                self.outbox.run(key, self.write_back.run, on_parked=park_write_back)
            else:
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


def gateway_over(
    database: Database,
    webhooks: dict[str, Any] | None = None,
    write_back: dict[str, Any] | None = None,
    api_key: str | None = None,
    **settings: Any,
) -> Gateway:
    """A gateway on a migrated database, with settings that differ from the defaults."""
    outbox = Outbox(database, max_attempts=3)
    retrieval, planner, scorer = FakeRetrieval(), FakePlanner(), FakeScorer()
    chosen = GatewaySettings(_env_file=None, **{"event_poll_s": 0.02, **settings})
    telling = WriteBackSettings(_env_file=None, **(write_back or {}))
    written = WriteBack(telling, database, outbox)
    walk = create_walk(
        chosen,
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        planner=planner,
        scorer=scorer,
        write_back=written,
    )
    app = create_app(
        chosen,
        PlatformSettings(_env_file=None, api_key=api_key),
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        webhooks=WebhookSettings(_env_file=None, **(webhooks or {})),
    )
    client = TestClient(app, base_url="http://127.0.0.1")
    return Gateway(client, database, outbox, walk, retrieval, planner, scorer, written)
