"""A gateway with its worker in a process of its own, to be killed by a test.

`python -m tests.integration.gateway_process FOLDER PORT` serves until its end.
"""

import sys
import time
from pathlib import Path

from services.contracts.planner import PlanRequest, PlanResponse
from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.gateway.work import create_walk, register_learning, register_tasks
from services.integrations.writeback.service import WriteBack
from services.integrations.writeback.settings import WriteBackSettings
from services.kit.http.server import ServerThread
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import OutboxWorker, Workforce
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.queries import Queries
from services.tickets.triage.team_router import TeamRouter
from tests.unit.gateway.fakes import FakePlanner, FakeRetrieval, FakeScorer

PLANNING_S = 0.02


class SlowPlanner(FakePlanner):
    """Takes long enough to be killed over."""

    def plan(self, request: PlanRequest) -> PlanResponse:
        time.sleep(PLANNING_S)
        return super().plan(request)


def main(folder: Path, port: int) -> None:
    """Serve and walk."""
    database = Database(f"sqlite:///{folder / 'gateway.db'}")
    database.migrate("kit", "gateway", "knowledge")
    outbox, settings, retrieval = Outbox(database), GatewaySettings(), FakeRetrieval()
    write_back = WriteBack(WriteBackSettings(_env_file=None), database, outbox)
    triage = TeamRouter(database, SqlGraphStore(database), HashingEmbedder(), settings)
    walk = create_walk(
        settings,
        database=database,
        outbox=outbox,
        retrieval=retrieval,
        planner=SlowPlanner(),
        scorer=FakeScorer(),
        write_back=write_back,
        triage=triage,
    )
    register_tasks(outbox, walk, write_back)
    register_learning(outbox, triage, Queries(database))
    outbox.restart()
    Workforce(outbox, [OutboxWorker(outbox, "gateway")], stop_within_s=0).start()
    platform = PlatformSettings(_env_file=None)
    app = create_app(
        GatewayParts(
            settings,
            platform,
            database=database,
            outbox=outbox,
            retrieval=retrieval,
            triage=triage,
            write_back=None,
        )
    )
    ServerThread(app, host="127.0.0.1", port=port).start()
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
