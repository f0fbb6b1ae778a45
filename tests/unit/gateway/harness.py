"""A gateway over fakes, with the worker's side in a test's hands."""

from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient

from services.gateway.app import create_app, create_walk, create_wording
from services.gateway.clarify.asking import WORD_TASK
from services.gateway.clarify.wording import Wording
from services.gateway.settings import GatewaySettings
from services.gateway.tickets import park
from services.gateway.walk import Walk
from services.kit.database import Database
from services.kit.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.llm.chat_model import ChatModel
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
    wording: Wording | None = None

    def work(self) -> int:
        """Run every due task once, as a worker would; how many there were."""
        due = self.outbox.due(limit=1000)
        for key, task, _ in due:
            if task == WORD_TASK and self.wording:
                self.outbox.run(key, self.wording.run)
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


def gateway_over(database: Database, *, model: ChatModel | None = None, **settings: Any) -> Gateway:
    """A gateway on a migrated database, with settings that differ from the defaults."""
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
        model=model,
    )
    wording = create_wording(chosen, database=database, outbox=outbox, model=model)
    app = create_app(
        chosen,
        PlatformSettings(_env_file=None),
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        model=model,
    )
    client = TestClient(app, base_url="http://127.0.0.1")
    return Gateway(client, database, outbox, walk, retrieval, planner, scorer, wording)
