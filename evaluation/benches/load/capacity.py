"""`bench capacity`: the CPU time of one ticket, stage by stage, in one process.

CPU time, not time by the clock: what else the machine does matters little then. The services answer
over HTTP, as they do apart, and one ticket is walked at a time, so that what is spent while one of
them works is its own. What their HTTP costs counts as the walk's.
"""

import json
import resource
import time
from collections.abc import Sequence
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from fastapi import FastAPI
from sqlalchemy import text

from evaluation.benches.load.metered_services import (
    CpuMeter,
    MeteredPlanner,
    MeteredRetrieval,
    MeteredScorer,
)
from evaluation.benches.load.storm import Alert, alert_body
from evaluation.measures.capacity import Costs
from services.contracts.gateway import Accepted
from services.contracts.planner import PlannerClient
from services.contracts.retrieval import RetrievalClient
from services.contracts.scorer import ScorerClient
from services.deployment.embedded import SERVING_THREADS, Embedded
from services.gateway.work import create_walk, register_learning, register_tasks
from services.kit.errors import FlowXpertError
from services.kit.http.client import ServiceClient
from services.kit.http.server import ServerThread
from services.kit.queue.workforce import OutboxWorker, Workforce
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.ports import Collection
from services.planner.app import create_app as create_planner
from services.retrieval.app import create_app as create_retrieval
from services.scorer.app import create_app as create_scorer

_COLLECTIONS: tuple[Collection, ...] = ("chunks", "nodes")
_SETTLE_S = 300.0
_WARM_UP = 5
_VIEWS = 20
_STOP_WITHIN_S = 5.0


class NotSettledError(FlowXpertError):
    """The tickets were not walked in time."""


def measure_costs(documents: Path, tickets: int) -> Costs:
    """Ingest the documents, take `tickets` in about them, walk them, look at some.

    Raises:
        NotSettledError: The tickets were not walked in time.
    """
    with TemporaryDirectory(prefix="flowxpert-capacity-") as folder, ExitStack() as closing:
        bench = _Bench(Path(folder), closing)
        read = bench.read(documents)
        titles = bench.titles()
        for fault in range(tickets, tickets + _WARM_UP):
            bench.post(fault, titles, "warm-up")
        bench.walk_all()
        before = bench.database_bytes()
        bench.meter.spent.clear()
        for fault in range(tickets):
            bench.post(fault, titles, "intake")
        for fault in range(tickets):
            bench.post(fault, titles, "repeat")
        bench.walk_all()
        ticket_bytes = (bench.database_bytes() - before) / tickets
        bench.look()
        served = sum(bench.meter.ms(name) for name in _SERVED)
        return Costs(
            intake=bench.meter.ms("intake") / tickets,
            repeat=bench.meter.ms("repeat") / tickets,
            view=bench.meter.ms("view") / _VIEWS,
            walk=(bench.meter.ms("walk") - served) / tickets,
            **{name: bench.meter.ms(name) / tickets for name in _SERVED},
            **read,
            ticket_bytes=ticket_bytes,
            process_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        )


_SERVED = ("retrieval", "planner", "scorer")


class _Bench:
    """The platform in this process, its services behind HTTP, and a meter."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self.meter = CpuMeter()
        self._folder, self._closing = folder, closing
        self._platform = closing.enter_context(Embedded(_settings(folder)))
        self._platform.embedder.embed(["warm"])
        self._gateway = _connection(self._serve(self._platform.app))

    def read(self, documents: Path) -> dict[str, float]:
        """Costs of the documents."""
        empty = self.database_bytes()
        with self.meter.on("document"):
            job = self._platform.ingestion.ingest_here(documents)
        return {
            "document": self.meter.ms("document") / job.total,
            "document_bytes": (self.database_bytes() - empty) / job.total,
            "vectors": sum(map(self._platform.vectors.count, _COLLECTIONS)) / job.total,
        }

    def titles(self) -> list[str]:
        """What tickets can be about."""
        documents = map(self._platform.documents.get, sorted(self._platform.documents.hashes()))
        return [document.for_person().title for document in documents if document is not None]

    def post(self, fault: int, titles: Sequence[str], name: str) -> None:
        """An alert of the fault comes in: its first time, or as a `repeat` its second."""
        is_repeat = name == "repeat"
        alert = Alert(fault, time=int(is_repeat))
        body = json.dumps(alert_body(alert, titles[fault % len(titles)]))
        with self.meter.on(name):
            answered = self._ask("POST", "/workflow", body)
        (ticket,) = Accepted.model_validate_json(answered).tickets
        if ticket.created is is_repeat:
            raise FlowXpertError(f"expected an alert of this kind: {name}; got {ticket}")

    def look(self) -> None:
        """Somebody looks at the list and at a ticket, some times."""
        latest = json.loads(self._ask("GET", f"/v1/tickets?limit={_VIEWS}"))["tickets"]
        for shown in range(_VIEWS):
            ticket = latest[shown % len(latest)]["id"]
            with self.meter.on("view"):
                self._ask("GET", "/")
                self._ask("GET", f"/tickets/{ticket}")

    def walk_all(self) -> None:
        """Begin to work on the queue, and end when nothing waits."""
        self._gateway.close()  # the server would close it meanwhile
        outbox = self._platform.outbox
        with ExitStack() as closing:
            workforce = self._workforce()
            closing.callback(workforce.stop)
            with self.meter.on("walk"):
                workforce.start()
                until = time.monotonic() + _SETTLE_S
                while outbox.counts()["waiting"]:
                    if time.monotonic() > until:
                        raise NotSettledError("the tickets were not walked in time")
                    time.sleep(0.2)

    def database_bytes(self) -> float:
        """What the database holds."""
        return _bytes_of(self._platform.database)

    def _workforce(self) -> Workforce:
        platform = self._platform
        settings, meter = platform.settings, self.meter
        retrieval = MeteredRetrieval(platform.retrieval, meter)
        planner = MeteredPlanner(platform.planner, meter)
        scorer = MeteredScorer(platform.scorer, meter)
        walk = create_walk(
            platform.gateway.settings,
            database=platform.database,
            outbox=platform.outbox,
            retrieval=RetrievalClient(self._client(create_retrieval(settings, service=retrieval))),
            planner=PlannerClient(self._client(create_planner(settings, service=planner))),
            scorer=ScorerClient(self._client(create_scorer(settings, service=scorer))),
            write_back=platform.gateway.write_back,
            triage=platform.gateway.triage,
        )
        register_tasks(platform.outbox, walk, platform.gateway.write_back)
        register_learning(platform.outbox, platform.gateway.triage, platform.gateway.queries)
        platform.outbox.restart()
        worker = OutboxWorker(platform.outbox, "gateway")
        return Workforce(platform.outbox, [worker], stop_within_s=_STOP_WITHIN_S)

    def _serve(self, app: FastAPI) -> str:
        server = ServerThread(app, host="127.0.0.1", port=0)
        server.start()
        self._closing.callback(server.stop)
        return server.url

    def _client(self, app: FastAPI) -> ServiceClient:
        return self._closing.enter_context(ServiceClient(self._serve(app)))

    def _ask(self, method: str, path: str, body: str | None = None) -> str:
        self._gateway.request(method, path, body, {"Content-Type": "application/json"})
        answer = self._gateway.getresponse()
        answered = answer.read().decode()
        if answer.status >= 400:
            raise FlowXpertError(f"{path}: {answer.status}: {answered[:200]}")
        return answered


def _settings(folder: Path) -> PlatformSettings:
    return PlatformSettings(
        data_dir=folder,
        database_url=None,
        redis_url=None,
        qdrant_url=None,
        neo4j_url=None,
        api_key=None,
        host="127.0.0.1",
        embedding_threads=SERVING_THREADS,
    )


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    return HTTPConnection(parts.hostname or "", parts.port)


def _bytes_of(database: Database) -> float:
    """Pages of an SQLite file that hold something."""
    with database.engine.connect() as connection:
        size, pages, free = (
            float(connection.execute(text(f"PRAGMA {name}")).scalar_one())
            for name in ("page_size", "page_count", "freelist_count")
        )
    return size * (pages - free)
