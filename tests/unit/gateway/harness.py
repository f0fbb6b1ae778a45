"""A gateway over fakes, with the worker's side in a test's hands."""

from dataclasses import dataclass, field
from typing import Any

from fastapi.testclient import TestClient

from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.gateway.work import create_walk, create_wording
from services.integrations.sources.settings import WebhookSettings
from services.integrations.writeback.service import WRITE_BACK_TASK, WriteBack
from services.integrations.writeback.service import park as park_write_back
from services.integrations.writeback.settings import WriteBackSettings
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.knowledge.tables import CaseEntityRow, CaseRow
from services.llm.chat_model import ChatModel
from services.tickets.adoption.doubts import DOUBT_TASK, DoubtReporter
from services.tickets.clarify.comment_reader import CommentReader
from services.tickets.clarify.question_policy import WORD_TASK
from services.tickets.clarify.question_writer import QuestionWriter
from services.tickets.erasure import ERASE_TASK, TicketErasure
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.queries import Queries
from services.tickets.ticket.queue import (
    CHOOSE_PAGE_TASK,
    LEARN_TICKET_TASK,
    LOOK_TASK,
    READ_COMMENT_TASK,
    WALK_TASK,
)
from services.tickets.triage.service import TriageService
from services.tickets.triage.team_router import LEARN_TASK, TeamRouter
from services.tickets.walk.catch_up import CATCH_UP_TASK
from services.tickets.walk.walk import Walk
from services.tickets.walk.walk_store import park
from services.web.ui.knowledge.backend import Knowledge
from tests.unit.gateway.fakes import FakeDoubts, FakePlanner, FakeRetrieval, FakeScorer


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
    triage: TeamRouter
    wording: QuestionWriter | None = None
    comments: CommentReader | None = None
    doubts: FakeDoubts = field(default_factory=FakeDoubts)
    looks: list[tuple[str, str]] = field(default_factory=list)
    """Tickets and workflows that the executor was told of."""

    @property
    def _works(self) -> dict[str, Any]:
        service = TriageService(self.database, self.outbox, self.triage, Queries(self.database))
        doubting = DoubtReporter(self.database, self.outbox, self.doubts, self.retrieval)
        works: dict[str, Any] = {
            WALK_TASK: (self.walk.run, park),
            CATCH_UP_TASK: (self.walk.catch_up.run, None),
            CHOOSE_PAGE_TASK: (self.walk.page_reranker.run, None),
            WRITE_BACK_TASK: (self.write_back.run, park_write_back),
            LEARN_TASK: (self.triage.learn_cases, None),
            LEARN_TICKET_TASK: (service.learn_ticket, None),
            DOUBT_TASK: (doubting.report, None),
            ERASE_TASK: (TicketErasure(self.database, self.doubts, self.triage, None).run, None),
            LOOK_TASK: (
                lambda ticket_id, workflow_id: self.looks.append((ticket_id, workflow_id)),
                None,
            ),
        }
        works |= {READ_COMMENT_TASK: (self.comments.run, None)} if self.comments else {}
        return works | ({WORD_TASK: (self.wording.run, None)} if self.wording else {})

    def work(self) -> int:
        """Run every due task once, as a worker would; how many there were."""
        due = self.outbox.due(limit=1000)
        for key, task, *_ in due:
            work, on_parked = self._works[task]
            self.outbox.run(key, work, on_parked=on_parked)
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
    *,
    model: ChatModel | None = None,
    looks: bool = False,
    knowledge: Knowledge | None = None,
    **settings: Any,
) -> Gateway:
    """A gateway on a migrated database, with settings that differ from the defaults."""
    outbox = Outbox(database, max_attempts=3)
    retrieval, planner, scorer = FakeRetrieval(), FakePlanner(), FakeScorer()
    chosen = GatewaySettings(_env_file=None, **{"event_poll_s": 0.02, **settings})
    telling = WriteBackSettings(_env_file=None, **(write_back or {}))
    written = WriteBack(telling, database, outbox)
    for row in (CaseRow, CaseEntityRow):
        row.__table__.create(database.engine, checkfirst=True)
    triage = TeamRouter(database, SqlGraphStore(database), HashingEmbedder(), chosen)
    walk = create_walk(
        chosen,
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        planner=planner,
        scorer=scorer,
        write_back=written,
        triage=triage,
        model=model,
        looks=looks,
    )
    wording = create_wording(
        chosen, database=database, outbox=outbox, write_back=written, model=model
    )
    parts = GatewayParts(
        chosen,
        PlatformSettings(_env_file=None, api_key=api_key),
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        webhooks=WebhookSettings(_env_file=None, **(webhooks or {})),
        triage=triage,
        write_back=written,
        model=model,
        knowledge=knowledge,
    )
    client = TestClient(create_app(parts), base_url="http://127.0.0.1")
    reader = CommentReader(database, outbox, parts.answer_handler)
    return Gateway(
        client, database, outbox, walk, retrieval, planner, scorer, written, triage, wording, reader
    )
