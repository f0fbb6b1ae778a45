"""Every route of every app says what it needs of its caller, in `contracts/needs.py`."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from services.contracts import needs
from services.gateway.app import create_app as create_gateway
from services.gateway.settings import GatewaySettings
from services.ingestion.app import create_app as create_ingestion
from services.ingestion.endpoints import create_router
from services.ingestion.readings.endpoints import create_readings_router
from services.kit.access.needs import OF_EVERY_SERVICE, Need
from services.kit.database import Database
from services.kit.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.planner.app import create_app as create_planner
from services.retrieval.app import create_app as create_retrieval
from services.scorer.app import create_app as create_scorer

ROOT = Path(__file__).parents[2]
NOBODY = None
"""Routes are asked for, and nothing behind them."""


@pytest.fixture(scope="module")
def apps() -> dict[str, FastAPI]:
    settings = PlatformSettings(_env_file=None, api_key=SecretStr("a-key-of-enough-characters"))
    database = Database.memory()
    database.migrate("kit")
    gateway = create_gateway(
        GatewaySettings(_env_file=None),
        settings,
        database=database,
        outbox=Outbox(database),
        retrieval=NOBODY,
        triage=NOBODY,
        routers=[create_router(NOBODY), create_readings_router(NOBODY)],
    )
    return {
        "gateway": gateway,
        "ingestion": create_ingestion(settings, service=NOBODY, readings=NOBODY),
        "planner": create_planner(settings),
        "retrieval": create_retrieval(settings, service=NOBODY),
        "scorer": create_scorer(settings, service=NOBODY),
    }


DECLARED = {
    "gateway": needs.AT_GATEWAY,
    "ingestion": needs.INGESTION,
    "planner": needs.PLANNER,
    "retrieval": needs.RETRIEVAL,
    "scorer": needs.SCORER,
}


def test_the_apps_are_all_there(apps):
    deployables = {path.parent.name for path in (ROOT / "services").glob("*/app.py")} - {"kit"}
    assert apps.keys() == deployables == DECLARED.keys()


@pytest.mark.parametrize("name", DECLARED)
def test_every_route_is_declared_and_nothing_else(apps, name):
    app = apps[name]
    assert app.state.needs.undeclared == [], "say in services/contracts/needs.py what they need"
    described = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    # The description writes `{document_id}` where the route says `{document_id:path}`.
    declared = {each.replace(":path}", "}") for each in DECLARED[name]}
    assert described <= declared
    hidden = {"GET /", "GET /tickets/{ticket_id}", "GET /sources/{document_id}", "GET /ui/{name}"}
    hidden |= {
        "POST /tickets/{ticket_id}/clarifications/{clarification_id}/answers",
        "POST /tickets/{ticket_id}/clarifications/dismissals",
        "POST /tickets/{ticket_id}/retry",
        "POST /tickets/{ticket_id}/triage",
        "POST /tickets/{ticket_id}/team",
    }
    assert declared - described <= hidden


@pytest.mark.parametrize("name", DECLARED)
def test_without_a_key_nothing_answers_but_the_probes(apps, name):
    client = TestClient(apps[name], base_url="http://127.0.0.1", raise_server_exceptions=False)
    for route, need in {**OF_EVERY_SERVICE, **DECLARED[name]}.items():
        method, path = route.split()
        answer = client.request(
            method, path.replace("{", "").replace(":path}", "").replace("}", "")
        )
        expected = {200, 503} if need is Need.OPEN else {401}
        assert answer.status_code in expected, route
        if need is not Need.OPEN:
            assert "www-authenticate" in answer.headers
    assert client.get("/nowhere").status_code == 401
    assert client.options("/workflow").status_code == 401


def test_a_new_route_is_for_admins_until_it_is_declared():
    from fastapi import APIRouter

    from services.kit.app import create_service_app

    router = APIRouter()
    router.add_api_route("/v1/new", lambda: "here")
    settings = PlatformSettings(_env_file=None)
    app = create_service_app("x", title="X", routers=[router], settings=settings, needs={})
    assert app.state.needs.undeclared == ["GET /v1/new"]
    request = {"type": "http", "method": "GET", "path": "/v1/new"}
    assert app.state.needs.of(request) is Need.ADMIN
