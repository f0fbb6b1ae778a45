"""Requests made at random from the exported descriptions: no defect, and answers as described.

`FLOWXPERT_TEST_FUZZ_EXAMPLES` says how many requests are drawn for each operation, beside the ones
at the bounds of its schema.
"""

import json
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from services.deployment.embedded import Embedded
from services.ingestion.app import create_app as create_ingestion
from services.kit.settings import PlatformSettings
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.screening.document import hash_of
from services.planner.app import create_app as create_planner
from services.retrieval.app import create_app as create_retrieval
from services.runbook.store.sql_readings import SqlReadingStore
from services.scorer.app import create_app as create_scorer
from tests.readings import reading_of_list

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TEAM = {"name": "fans", "description": "They cool."}
DRAWN = int(os.environ.get("FLOWXPERT_TEST_FUZZ_EXAMPLES", "5"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def described(name: str, *, bounds: bool) -> Any:
    """The exported description; with `bounds` also requests at the bounds of each field."""
    config = {
        "seed": 1,
        "base-url": "http://127.0.0.1",
        "max-stream-events": 1,
        "generation": {"max-examples": DRAWN, "database": "none", "no-shrink": True},
        "phases": {"coverage": {"enabled": bounds, "unexpected-methods": []}},
        "suppress-health-check": ["all"],
    }
    return schemathesis.openapi.from_path(
        ROOT / "proto/openapi" / f"{name}.json", config=schemathesis.Config.from_dict(config)
    )


class Hashing(HashingEmbedder):
    """Needs no thread of its own."""

    def limit_threads(self, threads: int) -> None:
        pass


class Platform:
    """Every app over one set of embedded stores, and the ids of what is in them."""

    def __init__(self, embedded: Embedded) -> None:
        settings, ingestion = embedded.settings, embedded.ingestion
        self.apps: dict[str, FastAPI] = {
            "gateway": embedded.app,
            "ingestion": create_ingestion(
                settings,
                service=ingestion,
                syncs=embedded.syncing,
                readings=lambda caller: ingestion.readings(caller.name),
                proposals=embedded.proposals,
            ),
            "planner": create_planner(settings, service=embedded.planner),
            "retrieval": create_retrieval(settings, service=embedded.retrieval),
            "scorer": create_scorer(settings, service=embedded.scorer),
        }
        ingestion.ingest_here(EXAMPLES / "documents" / "wiki")
        wiki = EXAMPLES / "documents" / "wiki" / "fan-failure.md"
        text = wiki.read_text(encoding="utf-8")
        SqlReadingStore(embedded.database).put(hash_of(text), reading_of_list(text))
        self.client = TestClient(embedded.app, base_url="http://127.0.0.1")
        self.ids = self._collect_ids()

    def _collect_ids(self) -> dict[str, str]:
        ticket = self._walked({"title": "FanTrayFault on leaf-07", "alert_name": "FanTrayFault"})
        page = self.client.get("/v1/readings").json()[0]
        self.client.post("/v1/teams", json=TEAM)
        return {
            "ticket_id": ticket["id"],
            "workflow_id": ticket["workflow"]["id"],
            "document_id": page["documents"][0],
            "text_hash": page["text_hash"],
            "job_id": self.client.get("/v1/ingestions").json()[0]["id"],
            "name": TEAM["name"],
            "source": "generic",
            "path": str(EXAMPLES / "documents" / "notes"),
        }

    def _walked(self, alert: dict[str, str]) -> Any:
        while True:  # the same delivery again is the same ticket
            answer = self.client.post("/workflow", json=alert, params={"wait": 1})
            if answer.status_code == 200:
                return answer.json()["tickets"][0]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setattr("services.room.stores.open_embedder", lambda *_: Hashing())
        environment.setenv("FLOWXPERT_GATEWAY_MAX_WAIT_S", "0.2")
        environment.setenv("FLOWXPERT_GATEWAY_EVENT_POLL_S", "0.02")
        environment.setenv("FLOWXPERT_INGESTION_ALLOWED_ROOTS", json.dumps([str(EXAMPLES)]))
        settings = PlatformSettings(
            _env_file=None,
            data_dir=tmp_path_factory.mktemp("platform"),
        )
        with Embedded(settings) as embedded:
            embedded.start()
            yield Platform(embedded)


@contextmanager
def something_happens(client: TestClient) -> Iterator[None]:
    """Tickets come in, so that whoever watches sees something."""
    over = threading.Event()

    def deliver() -> None:
        while not over.wait(0.05):
            client.post("/workflow", json={"title": f"{uuid4().hex} failed"})

    thread = threading.Thread(target=deliver)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def send(case: Case, platform: Platform, app: FastAPI) -> None:
    """Send it, every other time to something that is there."""
    for place in (case.path_parameters, case.body):
        for name, value in dict(place if isinstance(place, dict) else {}).items():
            if name in platform.ids and zlib.crc32(repr(value).encode("utf-8", "replace")) % 2:
                place[name] = platform.ids[name]
    is_endless = case.operation.path == "/v1/events"
    with something_happens(platform.client) if is_endless else nullcontext():
        answer = case.call(app=app)
    case.validate_response(answer, checks=CHECKS)


@described("gateway", bounds=True).parametrize()
def test_gateway(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["gateway"])


@described("ingestion", bounds=False).parametrize()
def test_ingestion_at_the_gateway(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["gateway"])


@described("ingestion", bounds=True).parametrize()
def test_ingestion(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["ingestion"])


@described("retrieval", bounds=True).parametrize()
def test_retrieval(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["retrieval"])


@described("planner", bounds=False).parametrize()
def test_planner(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["planner"])


@described("scorer", bounds=False).parametrize()
def test_scorer(case: Case, platform: Platform) -> None:
    send(case, platform, platform.apps["scorer"])
