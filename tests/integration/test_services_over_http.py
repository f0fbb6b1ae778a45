"""Services answer over HTTP as they do in process, and the gateway walks through them."""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from qdrant_client import QdrantClient

from evaluation.benches.load.servers import Valkey, begin
from services.contracts.addresses import AddressSettings
from services.contracts.ingestion import IngestionClient
from services.contracts.planner import PlannerClient, PlanRequest
from services.contracts.retrieval import RetrievalClient, RetrieveRequest
from services.contracts.scorer import ScorerClient, ScoreRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.deployment.process import NoQueueError, ProcessRole, ServiceProcess
from services.deployment.rooms import GATEWAY, INGESTION, PLANNER, RETRIEVAL, SCORER
from services.ingestion.app import create_app as create_ingestion
from services.ingestion.service import IngestionService
from services.kit.access.credentials import MissingCredentialError
from services.kit.errors import NotFoundError
from services.kit.http.client import ServiceClient
from services.kit.http.server import ServerThread
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Span
from services.knowledge.stores.qdrant import QdrantVectorStore
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.planner.service import PlannerService
from services.retrieval.app import create_app as create_retrieval
from services.retrieval.service import RetrievalService
from services.room.stores import MissingServerError
from services.scorer.app import create_app as create_scorer
from services.scorer.service import ScorerService
from tests.ports import free_port

EXAMPLES = Path(__file__).parents[2] / "examples"
KEY = SecretStr("a-key-of-enough-characters")
TICKET = TicketDraft(
    source="generic", external_id="1", title="FanTrayFault on leaf-07", alert_name="FanTrayFault"
)


class World:
    """Every service in process, on small stores that hold the example wiki pages."""

    def __init__(self, folder: Path) -> None:
        database = Database.memory()
        database.migrate(*ROOMS)
        embedder = HashingEmbedder()
        documents, graph = SqlDocumentStore(database), SqlGraphStore(database)
        vectors = QdrantVectorStore(QdrantClient(":memory:"), embedder.dimensions)
        self.ingestion = IngestionService(
            database=database,
            documents=documents,
            vectors=vectors,
            graph=graph,
            embedder=embedder,
            outbox=Outbox(database),
            work_dir=folder,
        )
        self.ingestion.ingest_here(EXAMPLES / "documents" / "wiki")
        self.retrieval = RetrievalService(vectors, graph, documents, embedder)
        self.planner = PlannerService()
        self.scorer = ScorerService(embedder)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return PlatformSettings(data_dir=tmp_path_factory.mktemp("data"), port=0, api_key=KEY)


@pytest.fixture(scope="module")
def addresses(world, settings):
    """Retrieval, scorer and ingestion each on a port; the planner as a process of its own."""
    apps = {
        "retrieval_url": create_retrieval(settings, service=world.retrieval),
        "scorer_url": create_scorer(settings, service=world.scorer),
        "ingestion_url": create_ingestion(
            settings,
            service=world.ingestion,
            syncs=None,
            readings=lambda caller: world.ingestion.readings(caller.name),
            proposals=None,
        ),
    }
    with ExitStack() as stack:
        urls = {}
        for name, app in apps.items():
            server = ServerThread(app, host="127.0.0.1", port=0)
            server.start()
            stack.callback(server.stop)
            urls[name] = server.url
        urls["planner_url"] = stack.enter_context(served_process("planner", settings.data_dir))
        yield AddressSettings(**urls)


class served_process:  # noqa: N801 - a context manager
    """`flowxpert serve SERVICE`, or another command, on a free port; its URL once it is ready."""

    def __init__(
        self, service: str, folder: Path, *options: str, command: str = "serve", **env: str
    ) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", command, service, "--port", str(port), *options],
            cwd=Path(__file__).parents[2],
            env=os.environ
            | {"FLOWXPERT_DATA_DIR": str(folder), "FLOWXPERT_API_KEY": KEY.get_secret_value()}
            | env,
        )

    def __enter__(self) -> str:
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                if httpx.get(f"{self.url}/readyz", timeout=1).is_success:
                    return self.url
            except httpx.TransportError:
                time.sleep(0.1)
        self.__exit__()
        raise AssertionError("the service did not become ready")

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)


def client(url: str) -> ServiceClient:
    return ServiceClient(url, api_key=KEY)


def test_retrieval_answers_as_in_process(world, addresses):
    remote = RetrievalClient(client(addresses.retrieval_url))
    request = RetrieveRequest.of_ticket(ScreenedTicket(TICKET))
    context = remote.retrieve(request)
    assert context == world.retrieval.retrieve(request)
    assert context.nodes[0].node.document_ids == ("fan-failure.md",)


def test_a_source_comes_over_http_and_a_refusal_keeps_its_class(world, addresses):
    remote = RetrievalClient(client(addresses.retrieval_url))
    span = Span(document_id="fan-failure.md", start_line=13, end_line=15)
    assert remote.source(span) == world.retrieval.source(span)
    with pytest.raises(NotFoundError, match=r"unknown\.md"):
        remote.source(Span(document_id="unknown.md", start_line=1, end_line=1))


def test_planner_and_scorer_answer_as_in_process(world, addresses):
    context = world.retrieval.retrieve(RetrieveRequest.of_ticket(ScreenedTicket(TICKET)))
    plan = PlanRequest(ticket=TICKET, context=context)
    candidates = PlannerClient(client(addresses.planner_url)).plan(plan).candidates
    assert candidates == world.planner.plan(plan).candidates
    score = ScoreRequest(ticket=TICKET, context=context, candidates=candidates)
    remote = ScorerClient(client(addresses.scorer_url)).score(score)
    assert remote == world.scorer.score(score)


def test_ingestion_tells_its_documents_over_http(world, addresses):
    remote = IngestionClient(client(addresses.ingestion_url))
    assert remote.documents() == world.ingestion.documents()


def test_a_caller_without_the_key_is_refused(addresses):
    with pytest.raises(MissingCredentialError):
        PlannerClient(ServiceClient(addresses.planner_url)).plan(
            PlanRequest.model_validate({"ticket": TICKET, "context": {}})
        )


def test_the_gateway_walks_through_other_processes(settings, addresses, tmp_path):
    alert = json.loads((EXAMPLES / "alerts" / "alertmanager" / "fan-tray.json").read_text())
    broker = Valkey(tmp_path)
    with ExitStack() as stack:
        begin([broker], stack)
        apart = settings.model_copy(
            update={
                "database_url": SecretStr(f"sqlite:///{tmp_path / 'tickets.db'}"),
                "redis_url": SecretStr(broker.url),
            }
        )
        serving = stack.enter_context(ServiceProcess(GATEWAY, apart, addresses))
        server = ServerThread(serving.app, host="127.0.0.1", port=0)
        serving.start()
        stack.callback(server.stop)
        server.start()
        gateway = stack.enter_context(client(server.url))
        accepted = gateway.post("/workflow/alertmanager", alert, wait=30)
        documents = gateway.get("/v1/documents")
    assert accepted["status"] == "planned"
    cited = {
        c["document_id"] for s in accepted["workflow"]["workflow"]["steps"] for c in s["citations"]
    }
    assert "fan-failure.md" in cited
    assert "fan-failure.md" in {document["id"] for document in documents}


def test_a_gateway_that_only_serves_leaves_its_walks_to_workers(addresses, tmp_path):
    alert = json.loads((EXAMPLES / "alerts" / "alertmanager" / "fan-tray.json").read_text())
    broker = Valkey(tmp_path)
    with ExitStack() as stack:
        begin([broker], stack)
        env = {f"FLOWXPERT_{name.upper()}": url for name, url in addresses if name.endswith("_url")}
        env["FLOWXPERT_DATABASE_URL"] = f"sqlite:///{tmp_path / 'tickets.db'}"
        env["FLOWXPERT_REDIS_URL"] = broker.url
        url = stack.enter_context(served_process("gateway", tmp_path, "--no-work", **env))
        gateway = stack.enter_context(client(url))
        waiting = gateway.post("/workflow/alertmanager", alert, wait=1)["tickets"][0]
        assert waiting["status"] == "received"
        worker_url = stack.enter_context(served_process("gateway", tmp_path, command="work", **env))
        until = time.monotonic() + 60
        worker = stack.enter_context(client(worker_url))
        done = 'flowxpert_queue_tasks_total{outcome="done",task="gateway.walk_ticket"} 1.0'
        while done not in worker.get_text("/metrics"):
            assert time.monotonic() < until, "nobody walked the ticket"
            time.sleep(0.1)
        assert gateway.get(waiting["status_url"])["status"] == "planned"
        assert done not in gateway.get_text("/metrics")
        with pytest.raises(NotFoundError):
            worker.get("/v1/tickets")


@pytest.mark.parametrize("service", [RETRIEVAL, PLANNER, SCORER], ids=lambda room: room.name)
def test_a_service_without_a_queue_has_no_workers(service, tmp_path):
    with pytest.raises(NoQueueError, match="flowxpert serve"):
        ServiceProcess(service, PlatformSettings(data_dir=tmp_path, port=0), role=ProcessRole.WORK)


@pytest.mark.parametrize("service", [GATEWAY, INGESTION, RETRIEVAL], ids=lambda room: room.name)
def test_a_service_that_shares_a_store_asks_for_its_server(service, tmp_path):
    with pytest.raises(MissingServerError, match="set FLOWXPERT_"):
        ServiceProcess(service, PlatformSettings(data_dir=tmp_path, port=0))
